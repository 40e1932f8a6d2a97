#include "core/schema/element_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace dimple {
namespace {

template <class T>
std::string toChars(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

// Calls `visit` with a value of the type that holds an element; of FLOAT16, its bits.
template <class Visit>
auto asHeld(DataType type, Visit visit) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT32) return visit(float{});
  if (type == DML_TENSOR_DATA_TYPE_FLOAT64) return visit(double{});
  const bool hasSign = isSigned(type) && !isFloat(type);
  switch (bitWidth(type)) {
    case 4:
    case 8:
      return hasSign ? visit(int8_t{}) : visit(uint8_t{});
    case 16:
      return hasSign ? visit(int16_t{}) : visit(uint16_t{});
    case 32:
      return hasSign ? visit(int32_t{}) : visit(uint32_t{});
    default:
      return hasSign ? visit(int64_t{}) : visit(uint64_t{});
  }
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
  return asHeld(type, [&]<class T>(T held) -> std::optional<DML_SCALAR_UNION> {
    if (type == DML_TENSOR_DATA_TYPE_FLOAT16) {
      const auto value = parseNumber<double>(text);
      if (!value) return {};
      held = static_cast<T>(halfBits(*value));
    } else {
      // Whole numbers are read in 64 bits, and must not leave the range of their own.
      using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
      const auto value = parseNumber<Wide>(text);
      if (!value) return {};
      if constexpr (!std::is_floating_point_v<T>)
        if (!std::in_range<T>(*value)) return {};
      held = static_cast<T>(*value);
    }
    DML_SCALAR_UNION element{};
    std::memcpy(element.Bytes, &held, sizeof held);
    return element;
  });
}

std::string elementText(DataType type, const void* bytes) {
  return asHeld(type, [&]<class T>(T held) -> std::string {
    std::memcpy(&held, bytes, sizeof held);
    if (type == DML_TENSOR_DATA_TYPE_FLOAT16) return numberText(halfValue(static_cast<uint16_t>(held)));
    if constexpr (std::is_floating_point_v<T>)
      return numberText(held);
    else
      return std::to_string(held);
  });
}

}  // namespace dimple
