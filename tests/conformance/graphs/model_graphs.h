// Graphs in the shapes of known networks, of case lines.
#pragma once

#include <cstdint>
#include <string>

#include "tests/conformance/graphs/random_graph.h"

namespace dimple::testing {

// `image`: rows and columns; `divisor`: of all channels; `filled`: inputs of the graph hold numbers, else nothing, for
// those who only plan.
TestGraph squeezeNet(uint32_t image, uint32_t divisor, bool filled);
// `blocks`: of each stage at most.
TestGraph resNet50(uint32_t image, uint32_t divisor, uint32_t blocks, bool filled,
                   DataType type = DML_TENSOR_DATA_TYPE_FLOAT32);
// The same whose tensors are quantized to UINT8 between nodes, by numbers for which small sums are exact.
TestGraph quantizedResNet50(uint32_t image, uint32_t divisor, uint32_t blocks, bool filled);
// An encoder of so many layers, whose positions are computed in the graph.
TestGraph transformer(uint32_t layers, uint32_t tokens, uint32_t width, uint32_t heads, bool filled);
// A layer of one whose layer normalizations, GELU and attention are spelled out in other operators.
TestGraph spelledEncoder(uint32_t tokens, uint32_t width, uint32_t heads, DataType type);

}  // namespace dimple::testing
