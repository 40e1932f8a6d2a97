// What libonnx's protocol buffers say, as descriptions and tensors. `folder` is where external data may lie; empty:
// nowhere. Throws ModelError.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>

#include "clients/onnx/graph_model.h"

namespace dimple::onnx {

// The description owns what it says. What cannot be read in an attribute, or in a subgraph, is no error until it is
// asked for.
ModelDescription describe(const ::onnx::ModelProto& proto, const std::filesystem::path& folder);
HostTensor readTensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder);

}  // namespace dimple::onnx
