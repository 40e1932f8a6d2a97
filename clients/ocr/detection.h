// Where there is text: what the detection model takes and what its result means (PP-OCR's differentiable binarization,
// Liao et al., "Real-time Scene Text Detection with Differentiable Binarization", 2020).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "clients/ocr/picture.h"
#include "clients/onnx/tensor.h"

namespace dimple::ocr {

// float [1, 3, H, W], the picture with its longer side brought to 960 pixels, H and W multiples of 32;
// blue, green, red, less the means of a known set of pictures and divided by their deviations.
onnx::HostTensor detectionInput(const Picture& picture);

// Lines of text in a map [1, 1, H, W] of how likely each place is a part of one, from top to bottom and from left to
// right, in the coordinates of a picture of the given size. Throws onnx::ModelError if it is no such map.
std::vector<Box> textBoxes(const onnx::HostTensor& map, uint32_t width, uint32_t height);

// The indices of boxes in the order in which their lines are read: row by row, where boxes that begin at nearly the
// same height are of one row. The corners of the boxes say where a page's top is.
std::vector<size_t> readingOrder(std::span<const Box> boxes);

}  // namespace dimple::ocr
