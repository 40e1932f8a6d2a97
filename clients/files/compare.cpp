#include "clients/files/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/schema/element_text.h"

namespace dimple::tool {
namespace {

// An element as a number on a scale where neighbours are 1 apart and both zeros are the same.
struct Scaled {
  uint64_t place = 0;  // from the smallest value of 64 bits on
  double value = 0;    // of a floating-point type
};

constexpr uint64_t kSign = uint64_t{1} << 63;

template <class Bits>
uint64_t placeOfFloat(Bits bits) {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const uint64_t magnitude = static_cast<Bits>(bits & static_cast<Bits>(~sign));
  return bits & sign ? kSign - magnitude : kSign + magnitude;
}

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
Scaled loadInteger(const std::byte* bytes) {
  const T value = load<T>(bytes);
  if constexpr (std::is_signed_v<T>) return {static_cast<uint64_t>(int64_t{value}) ^ kSign, 0};
  return {static_cast<uint64_t>(value), 0};
}

Scaled loadElement(DataType type, const std::byte* bytes) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16: {
      const auto bits = load<uint16_t>(bytes);
      return {placeOfFloat(bits), static_cast<double>(halfValue(bits))};
    }
    case DML_TENSOR_DATA_TYPE_FLOAT32: {
      const auto bits = load<uint32_t>(bytes);
      return {placeOfFloat(bits), static_cast<double>(std::bit_cast<float>(bits))};
    }
    case DML_TENSOR_DATA_TYPE_FLOAT64: {
      const auto bits = load<uint64_t>(bytes);
      return {placeOfFloat(bits), std::bit_cast<double>(bits)};
    }
    case DML_TENSOR_DATA_TYPE_INT8:
      return loadInteger<int8_t>(bytes);
    case DML_TENSOR_DATA_TYPE_INT16:
      return loadInteger<int16_t>(bytes);
    case DML_TENSOR_DATA_TYPE_INT32:
      return loadInteger<int32_t>(bytes);
    case DML_TENSOR_DATA_TYPE_INT64:
      return loadInteger<int64_t>(bytes);
    case DML_TENSOR_DATA_TYPE_UINT8:
      return loadInteger<uint8_t>(bytes);
    case DML_TENSOR_DATA_TYPE_UINT16:
      return loadInteger<uint16_t>(bytes);
    case DML_TENSOR_DATA_TYPE_UINT32:
      return loadInteger<uint32_t>(bytes);
    default:
      return loadInteger<uint64_t>(bytes);
  }
}

struct ElementDifference {
  double ulp = 0;
  double absolute = 0;
};

ElementDifference subtract(DataType type, const Scaled& a, const Scaled& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(a.value) != std::isnan(b.value)) return {kInfinity, kInfinity};
  const auto ulp = static_cast<double>(a.place > b.place ? a.place - b.place : b.place - a.place);
  return {ulp, isFloat(type) ? std::fabs(a.value - b.value) : ulp};
}

}  // namespace

Difference compareTensors(const DML_BUFFER_TENSOR_DESC& tensor, const std::byte* first, const std::byte* second) {
  const size_t width = byteWidth(tensor.DataType);
  const UINT rank = tensor.DimensionCount;
  std::vector<uint64_t> strides(rank);
  Difference result;
  result.elements = 1;
  for (UINT d = rank; d-- > 0;) {
    strides[d] = tensor.Strides ? tensor.Strides[d] : result.elements;
    result.elements *= tensor.Sizes[d];
  }
  std::vector<uint32_t> at(rank);
  uint64_t offset = 0;
  for (size_t i = 0; i < result.elements; ++i) {
    const std::byte* a = first + offset * width;
    const std::byte* b = second + offset * width;
    if (std::memcmp(a, b, width) != 0) {
      const Scaled left = loadElement(tensor.DataType, a);
      const Scaled right = loadElement(tensor.DataType, b);
      if (!std::isnan(left.value) || !std::isnan(right.value)) {
        const ElementDifference difference = subtract(tensor.DataType, left, right);
        result.absolute = std::max(result.absolute, difference.absolute);
        if (result.differing++ == 0 || difference.ulp > result.ulp) {
          result.ulp = difference.ulp;
          result.coordinates = at;
          result.first = elementText(tensor.DataType, a);
          result.second = elementText(tensor.DataType, b);
        }
      }
    }
    for (UINT d = rank; d-- > 0;) {
      offset += strides[d];
      if (++at[d] < tensor.Sizes[d]) break;
      offset -= strides[d] * tensor.Sizes[d];
      at[d] = 0;
    }
  }
  return result;
}

}  // namespace dimple::tool
