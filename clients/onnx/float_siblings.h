// Products of the same rows with different weights of floats.
#pragma once

#include <string>
#include <vector>

#include "clients/onnx/control_flow.h"

namespace dimple::onnx {

// MatMul and Gemm nodes of the same rows become one and a Split of its results, with the biases that Add nodes add to
// them, as joinSiblings() does it with weights of few bits.
void joinFloatSiblings(std::vector<Node>& nodes, Initializers& initializers, const std::vector<std::string>& outputs,
                       JoinedTensors& joined);

}  // namespace dimple::onnx
