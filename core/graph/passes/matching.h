// How passes find nodes that belong together, and put one in their place.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace dimple {

DML_OPERATOR_TYPE typeOf(const Node& node);

// Whether a node adds two tensors and does nothing else.
bool isSum(const Node& node);

// The number of floats that an input is.
std::optional<float> floatAt(const Node& node, uint32_t input);
// Whether an input is `expected`, or, of a number that FLOAT16 does not hold, what it rounds to or a neighbour of that.
bool isNumber(const Node& node, uint32_t input, double expected);

// Whether a node does nothing but cast elements, which stay where they are, from one type to another.
bool isCast(const Node& node, DataType from, DataType to);
// What is read or made by an operator in the place of a CAST's tensor `cast`, with its own strides.
Tensor ofTypeOf(Tensor tensor, const Tensor& cast);

// Whether two inputs read the same elements.
bool readSame(const Node& a, uint32_t inputOfA, const Node& b, uint32_t inputOfB);

// How many inputs of nodes read a node's first output; 0 if it is an output of the graph, too.
size_t readersOf(const Node& node);

// The node of a type, without a fused activation, that makes what an input reads from its start, at every execution;
// null: something else does.
Node* producerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type);
// The same, if nothing else reads it, and the input sees elements as they are made.
Node* onlyProducerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type);

// The only input that reads what a node makes, and sees it as it is made. Null: there is none such.
struct Reader {
  Node* node = nullptr;
  uint32_t input = 0;
};
Reader readerOf(const Node& node);

// An input of a node, as an input of what replaces it; without a node an optional one that is absent.
using Taken = std::pair<const Node*, uint32_t>;
std::vector<Tensor> tensorsOf(const std::vector<Taken>& inputs);

// Puts an operation that makes what the last of some nodes makes in the place of all of them. They come in an order in
// which each comes after those that it takes from, and nothing else reads what the others make.
void replaceNodes(Graph& graph, const std::vector<Node*>& nodes, Operation op, const std::vector<Taken>& inputs);

}  // namespace dimple
