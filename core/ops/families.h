// The operator families. Each lives in a file of its own beside this one.
#pragma once

#include <span>

#include "core/op_schema.h"

namespace dimple {

std::span<const OpSchema> elementwiseSchemas();
std::span<const OpSchema> movementSchemas();
std::span<const OpSchema> castSchemas();
std::span<const OpSchema> reduceSchemas();

}  // namespace dimple
