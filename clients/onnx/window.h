// The sliding windows of convolutions and pooling.
#pragma once

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {

struct Window {
  std::vector<UINT> sizes, strides, dilations, start, end;

  size_t rank() const { return sizes.size(); }
  // From the first element of a window to behind its last.
  int64_t reach(size_t axis) const { return (int64_t{sizes[axis]} - 1) * dilations[axis] + 1; }
  // A dimension of size 1 in front.
  void addLeadingAxis();
};

// Reads strides, dilations, pads and auto_pad for an input of two and `sizes.size()` dimensions. Throws ModelError.
Window readWindow(const NodeContext& node, const Sizes& inputSizes, const Sizes& windowSizes);

// How many places a window has along an axis. With `ceil` a window that has its first element in the input or before it
// may reach over the end.
int64_t windowCount(const Window& window, const Sizes& inputSizes, size_t axis, bool ceil);

}  // namespace dimple::onnx
