#include "core/schema/element_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace dimple {
namespace {

template <class T>
std::string toChars(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

template <class T>
T load(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Parses as Wide and stores as Narrow, whose range it must not leave.
template <class Narrow, class Wide>
std::optional<DML_SCALAR_UNION> parseInteger(std::string_view text) {
  const auto value = parseNumber<Wide>(text);
  if (!value || *value < Wide{std::numeric_limits<Narrow>::min()} || *value > Wide{std::numeric_limits<Narrow>::max()})
    return {};
  const auto narrow = static_cast<Narrow>(*value);
  DML_SCALAR_UNION element{};
  std::memcpy(element.Bytes, &narrow, sizeof narrow);
  return element;
}

}  // namespace

uint16_t halfBits(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);
  constexpr int kMinExponent = -14;
  int exponent = kMinExponent;
  if (magnitude >= std::ldexp(1.0, kMinExponent)) {
    std::frexp(magnitude, &exponent);
    --exponent;
  }
  // The significand in units of the last place, at most 2048: a carry moves into the exponent by itself.
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent - kMinExponent) << 10) + units));
}

float halfValue(uint16_t bits) {
  const uint32_t exponent = (bits >> 10) & 31;
  const uint32_t significand = bits & 1023;
  float magnitude;
  if (exponent == 31)
    magnitude = significand ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(significand), -24);
  else
    magnitude = std::ldexp(static_cast<float>(significand + 1024), static_cast<int>(exponent) - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

template <class T>
std::optional<T> parseNumber(std::string_view text) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return {};
  return value;
}
template std::optional<int32_t> parseNumber(std::string_view);
template std::optional<uint32_t> parseNumber(std::string_view);
template std::optional<int64_t> parseNumber(std::string_view);
template std::optional<uint64_t> parseNumber(std::string_view);
template std::optional<float> parseNumber(std::string_view);
template std::optional<double> parseNumber(std::string_view);

std::string numberText(float value) { return std::isnan(value) ? "nan" : toChars(value); }
std::string numberText(double value) { return std::isnan(value) ? "nan" : toChars(value); }

std::optional<DML_SCALAR_UNION> parseElement(DataType type, std::string_view text) {
  DML_SCALAR_UNION element{};
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      if (const auto value = parseNumber<double>(text)) {
        element.UInt16 = halfBits(*value);
        return element;
      }
      return {};
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      if (const auto value = parseNumber<float>(text)) {
        element.Float32 = *value;
        return element;
      }
      return {};
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      if (const auto value = parseNumber<double>(text)) {
        element.Float64 = *value;
        return element;
      }
      return {};
    case DML_TENSOR_DATA_TYPE_INT4:
    case DML_TENSOR_DATA_TYPE_INT8:
      return parseInteger<int8_t, int64_t>(text);
    case DML_TENSOR_DATA_TYPE_INT16:
      return parseInteger<int16_t, int64_t>(text);
    case DML_TENSOR_DATA_TYPE_INT32:
      return parseInteger<int32_t, int64_t>(text);
    case DML_TENSOR_DATA_TYPE_INT64:
      return parseInteger<int64_t, int64_t>(text);
    case DML_TENSOR_DATA_TYPE_UINT4:
    case DML_TENSOR_DATA_TYPE_UINT8:
      return parseInteger<uint8_t, uint64_t>(text);
    case DML_TENSOR_DATA_TYPE_UINT16:
      return parseInteger<uint16_t, uint64_t>(text);
    case DML_TENSOR_DATA_TYPE_UINT32:
      return parseInteger<uint32_t, uint64_t>(text);
    default:
      return parseInteger<uint64_t, uint64_t>(text);
  }
}

std::string elementText(DataType type, const void* bytes) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      return numberText(halfValue(load<uint16_t>(bytes)));
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      return numberText(load<float>(bytes));
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      return numberText(load<double>(bytes));
    case DML_TENSOR_DATA_TYPE_INT8:
      return toChars(static_cast<int>(load<int8_t>(bytes)));
    case DML_TENSOR_DATA_TYPE_INT16:
      return toChars(load<int16_t>(bytes));
    case DML_TENSOR_DATA_TYPE_INT32:
      return toChars(load<int32_t>(bytes));
    case DML_TENSOR_DATA_TYPE_INT64:
      return toChars(load<int64_t>(bytes));
    case DML_TENSOR_DATA_TYPE_UINT8:
      return toChars(static_cast<unsigned>(load<uint8_t>(bytes)));
    case DML_TENSOR_DATA_TYPE_UINT16:
      return toChars(load<uint16_t>(bytes));
    case DML_TENSOR_DATA_TYPE_UINT32:
      return toChars(load<uint32_t>(bytes));
    default:
      return toChars(load<uint64_t>(bytes));
  }
}

}  // namespace dimple
