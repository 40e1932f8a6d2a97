// Attention.
#include "tools/onnx/map_helpers.h"

namespace dimple::onnx {

std::span<const Mapping> attentionMappings() { return {}; }

}  // namespace dimple::onnx
