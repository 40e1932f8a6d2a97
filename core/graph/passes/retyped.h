// Operators between nodes that convert what they read from one type, and what they make to it.
#pragma once

#include <functional>

#include "core/graph/graph.h"

namespace dimple {

struct Target;

// What a pass takes for a conversion that an operator of another type does not need.
struct Conversions {
  DataType wide;    // that the operator has
  DataType narrow;  // that it gets
  // Whether a node converts elements from `narrow` to `wide`, or back.
  std::function<bool(const Node&)> widens, narrows;
};

// CASTs from FLOAT16 to FLOAT32, and back.
Conversions halfCasts();

// Whether an operator's results are elements that it reads, or say where they are, chosen by place or order, whatever
// its attributes are.
bool choosesElements(DML_OPERATOR_TYPE type);

// Lets an operator read and make tensors of `narrow`, if conversions make all tensors of `wide` that it reads, and
// alone read all that it makes. They are taken out with it, as far as nothing else reads them. Says whether it did.
bool retype(Graph& graph, Node& node, const Conversions& conversions, const Target& target);

}  // namespace dimple
