// Convolutions of FLOAT32 in large tiles, which read filters that lie side by side and gather windows as they lie.
#pragma once

#include <span>

#include "core/ops/convolution_window.h"
#include "core/ops/product_kernels.h"

namespace dimple {

// Why no such tiles compute a convolution: null if they do.
const char* refusesTurnedWindows(const Request& request);

// Why filters that such a convolution reads are not copied for it.
const char* refusesTurnedFilters(const Tensor& filters, const Product& product);

// Copies the filters for them, where they compute it.
Result<bool> turnFilters(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part);

// Their kernels.
std::span<const ProductKernel> turnedWindowKernels();

}  // namespace dimple
