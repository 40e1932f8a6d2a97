// Convolutions whose channels lie side by side, in copies of their input and filters.
#pragma once

#include "core/ops/convolution_window.h"

namespace dimple {

// Makes a convolution read copies of its input and filters in which channels lie side by side, the input's with zeros
// around each picture, where that pays; of integers B's zero point in the place of zeros. False: it is as before.
Result<bool> copyChannelsLast(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part,
                              const Quantization* integers = nullptr);

// The same of FLOAT16 with few channels: zeros make more of them, and a line of the window counts as one element whose
// channels are those of all its places.
Result<bool> padChannels(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part);

// Copies only filters, into the order in which matrices of them are read, where windows of 3 x 3 are read from patches
// of an input whose channels lie side by side.
Result<bool> readPatches(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part);

// Copies only filters that DML owns, where windows of few places are gathered as they lie. False: it is as before.
Result<bool> orderFilters(PlanBuilder& builder, size_t filterInput, ConvolutionPart& part);

}  // namespace dimple
