// How passes find nodes that belong together, and replace them by one.
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

// The number that an input of floats is.
std::optional<float> floatAt(const Node& node, uint32_t input);
// Whether an input is `expected`, or, of a number that FLOAT16 does not hold, what it rounds to or a neighbour of that.
bool isNumber(const Node& node, uint32_t input, double expected);

// Whether a node makes each element where the one lies that it makes it of, if only its type differs.
bool keepsPlaces(const Node& node);
// Whether a node does nothing but cast elements from one type to another.
bool isCast(const Node& node, DataType from, DataType to);

// CLIP1 of floats without ScaleBias as the CLIP, which operators may fuse; others as they are.
Operation asClip(const Operation& op);

bool isByte(DataType type);
// Of INT8 and UINT8 as of other integers, with a scale and a zero point.
bool quantizes(const Node& node);
bool dequantizes(const Node& node);

// What is read or made by an operator in the place of a CAST's tensor `cast`, with its own strides.
Tensor ofTypeOf(Tensor tensor, const Tensor& cast);

// Whether two inputs read the same elements.
bool readSame(const Node& a, uint32_t inputOfA, const Node& b, uint32_t inputOfB);

// The number of inputs of nodes that read a node's first output; 0 if it is also an output of the graph.
size_t readersOf(const Node& node);

// The node of a type, without a fused activation, that makes what an input reads from its start, at every execution;
// null: something else does.
Node* producerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type);
// The same, if nothing else reads it and the input sees the elements as they are made.
Node* onlyProducerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type);

// The only input that reads a node's result, and sees it as it is made. Null if there is none.
struct Reader {
  Node* node = nullptr;
  uint32_t input = 0;
};
Reader readerOf(const Node& node);

// An input of a node, as an input of what replaces it; without a node an optional one that is absent.
using Taken = std::pair<const Node*, uint32_t>;
std::vector<Tensor> tensorsOf(const std::vector<Taken>& inputs);

// Replaces some nodes by an operation that gives the result of the last one. The nodes are in an order in which each
// comes after those whose results it reads, and nothing else reads the results of the others.
void replaceNodes(Graph& graph, const std::vector<Node*>& nodes, Operation op, const std::vector<Taken>& inputs);

}  // namespace dimple
