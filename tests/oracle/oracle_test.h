// What the oracle's own tests share.
#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "tests/conformance/oracle/oracle.h"

namespace oracle_test {

inline constexpr auto kF16 = DML_TENSOR_DATA_TYPE_FLOAT16;
inline constexpr auto kF32 = DML_TENSOR_DATA_TYPE_FLOAT32;
inline constexpr auto kF64 = DML_TENSOR_DATA_TYPE_FLOAT64;
inline constexpr auto kI8 = DML_TENSOR_DATA_TYPE_INT8;
inline constexpr auto kU8 = DML_TENSOR_DATA_TYPE_UINT8;
inline constexpr auto kI16 = DML_TENSOR_DATA_TYPE_INT16;
inline constexpr auto kU16 = DML_TENSOR_DATA_TYPE_UINT16;
inline constexpr auto kI32 = DML_TENSOR_DATA_TYPE_INT32;
inline constexpr auto kU32 = DML_TENSOR_DATA_TYPE_UINT32;
inline constexpr auto kI64 = DML_TENSOR_DATA_TYPE_INT64;
inline constexpr auto kU64 = DML_TENSOR_DATA_TYPE_UINT64;
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr int64_t kLeast64 = std::numeric_limits<int64_t>::min();

// A packed buffer tensor and its description, which points into it.
struct Described {
  std::vector<uint32_t> sizes;
  std::vector<uint32_t> strides = {};
  DML_BUFFER_TENSOR_DESC buffer = {};
  DML_TENSOR_DESC tensor = {};

  Described(DML_TENSOR_DATA_TYPE type, std::vector<uint32_t> tensorSizes, std::vector<uint32_t> tensorStrides = {})
      : sizes(std::move(tensorSizes)), strides(std::move(tensorStrides)) {
    buffer.DataType = type;
    buffer.DimensionCount = static_cast<UINT>(sizes.size());
    buffer.Sizes = sizes.data();
    buffer.Strides = strides.empty() ? nullptr : strides.data();
    tensor = {DML_TENSOR_TYPE_BUFFER, &buffer};
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
};

inline oracle::Array reals(DML_TENSOR_DATA_TYPE type, std::vector<uint32_t> sizes, std::vector<double> values) {
  oracle::Array array;
  array.type = type;
  array.sizes = std::move(sizes);
  array.real = std::move(values);
  return array;
}

inline oracle::Array wholes(DML_TENSOR_DATA_TYPE type, std::vector<uint32_t> sizes, std::vector<int64_t> values) {
  oracle::Array array;
  array.type = type;
  array.sizes = std::move(sizes);
  array.whole = std::move(values);
  return array;
}

inline oracle::Result evaluateOne(DML_OPERATOR_TYPE type, const void* desc,
                                  std::initializer_list<oracle::Array> inputs) {
  const DML_OPERATOR_DESC operatorDesc{type, desc};
  return oracle::evaluate(operatorDesc, std::span<const oracle::Array>(inputs.begin(), inputs.size())).at(0);
}

// Elements that equal in bits but for NaNs.
inline bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool equal = a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]);
    if (!equal && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

// Whether a result of one floating-point element may be this.
inline bool accepts(const oracle::Result& expected, double actual) {
  oracle::Array array = expected.value;
  array.real = {actual};
  return compare(expected, array).ok;
}

}  // namespace oracle_test
