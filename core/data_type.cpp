#include "core/data_type.h"

#include <array>
#include <bit>

namespace dimple {
namespace {

struct TypeFacts {
  std::string_view name;
  std::string_view shortName;
  uint32_t bits;
};

// Indexed by DML_TENSOR_DATA_TYPE.
constexpr std::array<TypeFacts, 14> kRows{{
    {"UNKNOWN", "", 0},
    {"FLOAT32", "f32", 32},
    {"FLOAT16", "f16", 16},
    {"UINT32", "u32", 32},
    {"UINT16", "u16", 16},
    {"UINT8", "u8", 8},
    {"INT32", "i32", 32},
    {"INT16", "i16", 16},
    {"INT8", "i8", 8},
    {"FLOAT64", "f64", 64},
    {"UINT64", "u64", 64},
    {"INT64", "i64", 64},
    {"UINT4", "u4", 4},
    {"INT4", "i4", 4},
}};
static_assert(DML_TENSOR_DATA_TYPE_INT4 == kRows.size() - 1);

const TypeFacts& row(DataType type) {
  const auto index = static_cast<uint32_t>(type);
  static constexpr TypeFacts kNone{"", "", 0};
  return index < kRows.size() ? kRows[index] : kNone;
}

}  // namespace

uint32_t bitWidth(DataType type) { return row(type).bits; }
std::string_view dataTypeName(DataType type) { return row(type).name; }
std::string_view shortTypeName(DataType type) { return row(type).shortName; }

uint32_t typeWord(DataType type) {
  return static_cast<uint32_t>(std::countr_zero(bitWidth(type))) | (isSigned(type) ? 8u : 0u) |
         (isFloat(type) ? 16u : 0u);
}

}  // namespace dimple
