// ONNX Runtime's CPU provider as a reference, where DIMPLE_ONNX_RUNTIME names a folder with the npm package
// onnxruntime-node.
#pragma once

#include <map>
#include <string>

#include "tools/onnx/tensor.h"

namespace dimple::testing {

// False if the variable is not set; says so.
bool hasOnnxRuntime();

// The first output of a model, which is of the given type and sizes. A test fails if it cannot be run.
onnx::HostTensor runOnRuntime(const std::string& model, const std::map<std::string, onnx::HostTensor>& inputs,
                              onnx::Type type, const onnx::Sizes& sizes);

}  // namespace dimple::testing
