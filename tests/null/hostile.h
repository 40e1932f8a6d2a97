// Descriptions made of bytes, by the schema, that no check of the caller's has seen.
#pragma once

#include <cstdint>
#include <span>

#include "core/schema/desc_copy.h"

namespace dimple::testing {

// Every pointer is null or readable for as many elements as its count says; everything else may be anything. The bytes
// choose an operator and all its fields, or a written description (tests/core/descriptions.h) and a few changes of it.
// Bytes that are missing count as 0.
OwnedDesc hostileDescription(std::span<const uint8_t> bytes);

}  // namespace dimple::testing
