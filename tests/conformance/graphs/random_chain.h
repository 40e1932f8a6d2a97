// Graphs of element-wise operators that hand tensors to each other, made from a seed.
#pragma once

#include "tests/conformance/graphs/random_graph.h"

namespace dimple::testing {

// Cases of all element-wise operators that chains may have, one for each operator and each type of its tensors.
struct ChainLine {
  std::string line;
  std::string name;  // "ELEMENT_WISE_ADD f32"
};
const std::vector<ChainLine>& chainLines();

// Of `count` operators on tensors of the same sizes, each of which takes what an earlier one made if its types allow;
// the first is chainLines()[first] with an operator before and one behind it. Some take or make what others move.
TestGraph makeRandomChain(uint64_t seed, size_t count, size_t first);

}  // namespace dimple::testing
