// Products and convolutions, and the per-channel operators that follow them.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace dimple {

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
  bool scales = true;                // it multiplies elements, and does not only add
};

std::optional<Affine> affineOf(const Operation& op, uint32_t input);

// Whether an operator, whose output has the type and sizes of what it reads, reads a tensor that was made: either with
// the same layout or, if all are packed, with other sizes.
bool readsAsMade(const Tensor& made, const Operation& op, uint32_t input);

// The dimension of the parameters along which they belong to the channels of the results; no value if they vary in
// another one, too, or the operator sees other tensors than what is made.
std::optional<uint32_t> channelOf(const Tensor& made, const Linear& linear, const Operation& op, const Affine& affine);

// The same type, sizes and strides, with the size that they imply.
Tensor asGiven(const Tensor& tensor);

// Whether all elements of a tensor lie at one place.
bool isOneElement(const Tensor& tensor);

// The number that a constant represents for a reader of all its elements, in the form that chains use (chainNumber). No
// value if it is not a constant, or holds several numbers.
std::optional<uint32_t> numberOf(const Place& from, const Tensor& tensor);

// A node with a single zero, which can stand for many parameters.
Node& addZero(Graph& graph);

// The only reader of a node's result; null if there are others.
Node* onlyReader(const Node& node);

}  // namespace dimple
