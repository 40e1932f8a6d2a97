// Models in ONNX's own format, from files or memory: the library dimple_onnx_proto.
#pragma once

#include <filesystem>
#include <string_view>

#include "clients/onnx/model.h"

namespace dimple::onnx {

// Throw ModelError. External data is read from the model's folder, and from nowhere else.
Model readModel(const std::filesystem::path& path);
Model parseModel(std::string_view bytes, const std::filesystem::path& folder);

}  // namespace dimple::onnx
