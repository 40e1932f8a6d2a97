// Products and convolutions, and the operators of each channel that follow them.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace dimple {

bool isPacked(const Tensor& tensor);

// An operator whose results are sums of products with weights, plus a bias.
struct Linear {
  uint32_t channel;         // the dimension of the results that the bias goes along
  uint32_t weightsChannel;  // the same of the weights
};
constexpr uint32_t kWeightsInput = 1;
constexpr uint32_t kBiasInput = 2;

std::optional<Linear> linearOf(const Operation& op);

// An operator that computes each element from the one at the same place and from parameters.
struct Affine {
  uint32_t input = 0;                // the tensor of elements
  std::vector<uint32_t> parameters;  // the others
  bool scales = true;                // elements are multiplied, besides what is added
};

std::optional<Affine> affineOf(const Operation& op, uint32_t input);

// Whether an operator that makes tensors like those it reads sees what is made: as it is, or packed, as rows of other
// sizes.
bool readsAsMade(const Tensor& made, const Operation& op, uint32_t input);

// The dimension of the parameters along which they belong to the channels of the results; no value if they vary in
// another one, too, or the operator sees other tensors than what is made.
std::optional<uint32_t> channelOf(const Tensor& made, const Linear& linear, const Operation& op, const Affine& affine);

// The same type, sizes and strides, with the size that they imply.
Tensor asGiven(const Tensor& tensor);

// The number that a constant is for a reader of all its elements, as chains have it (chainNumber); no value if it is no
// constant, or several numbers.
std::optional<uint32_t> numberOf(const Place& from, const Tensor& tensor);

// A node of one zero, that many parameters may be.
Node& addZero(Graph& graph);

// The only reader of what a node makes; null: there are others.
Node* onlyReader(const Node& node);

}  // namespace dimple
