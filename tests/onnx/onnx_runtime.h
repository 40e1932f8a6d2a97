// ONNX Runtime's CPU provider as a judge, where DIMPLE_ONNX_RUNTIME names a folder with the npm package
// onnxruntime-node.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tests/onnx/model_builder.h"

namespace dimple::testing {

// Where the package is. Null: it is not there, which is said.
const char* runtimeFolder();

// The first output of a model, given by its bytes. Nothing: the package is not there, which is said. Fails the test if
// it does not run.
std::optional<onnx::HostTensor> runtimeResult(const std::string& model,
                                              const std::map<std::string, onnx::HostTensor>& inputs);

}  // namespace dimple::testing
