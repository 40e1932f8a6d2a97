#include "core/ops/families.h"
namespace dimple {
std::span<const OpSchema> movementSchemas() { return {}; }
}  // namespace dimple
