// What the window of a convolution reaches, and backward windows as forward ones.
#pragma once

#include <vector>

#include "core/ops/product.h"

namespace dimple {

// Leaves out of a dimension the places and elements of the window that meet nothing. False if offsets do not fit into
// 32 bits.
bool leaveOutUnreached(ConvolutionWindow::Dimension& s, bool backward);

// Whether a filter's elements lie side by side in the order of the depth.
bool isPacked(const ConvolutionWindow& window, uint32_t channels);

struct ConvolutionPart {
  Product product;
  ConvolutionWindow window;
};

// The forward convolutions that a backward one is: places of the output as far apart as the input's elements lie there
// meet the same elements of the window. None if they do not pay, or if it is a forward one.
std::vector<ConvolutionPart> forwardParts(const Product& product, const ConvolutionWindow& window);

}  // namespace dimple
