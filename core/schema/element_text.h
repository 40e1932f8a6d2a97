// Single elements of every data type as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/data_type.h"

namespace dimple {

// Bits of the FLOAT16 nearest to a value, ties to even.
uint16_t halfBits(double value);
float halfValue(uint16_t bits);

// The whole of `text` as an integer or a floating-point number ("nan", "inf" and "-inf" included). No value if it is
// malformed or outside the range of T: int32_t, uint32_t, int64_t, uint64_t, float, double.
template <class T>
std::optional<T> parseNumber(std::string_view text);

// The shortest decimal that reads back exactly.
std::string numberText(float value);
std::string numberText(double value);

// An element of `type`. UNKNOWN and 4-bit types are taken as UINT64, bytes that the type does not use are 0.
std::optional<DML_SCALAR_UNION> parseElement(DataType type, std::string_view text);

// Reads back through parseElement. `bytes` holds one element, at any alignment.
std::string elementText(DataType type, const void* bytes);

}  // namespace dimple
