// Products of the same rows with different weights.
#pragma once

#include <string>
#include <vector>

#include "clients/onnx/control_flow.h"

namespace dimple::onnx {

// MatMulNBits, MatMul and Gemm nodes of the same rows, such as those of queries, keys and values, become one and a
// Split of its results, if their weights are in `initializers` and nothing else reads these. The weights are returned,
// and leave `initializers`, which get what the new nodes read beside them. `nodes` are in an order in which they can
// run; `outputs` are read by others. (DirectML's graphs do the same, but only for tensors that DML owns.)
JoinedTensors joinSiblings(std::vector<Node>& nodes, Initializers& initializers,
                           const std::vector<std::string>& outputs);

}  // namespace dimple::onnx
