#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/oracle.h"
#include "tests/conformance/oracle/walk.h"

namespace oracle {
namespace {

struct Precision {
  int fractionBits;
  int smallestExponent;  // of normal numbers
};

Precision precisionOf(DML_TENSOR_DATA_TYPE type) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      return {10, -14};
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      return {23, -126};
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      return {52, -1022};
    default:
      throw std::invalid_argument("Only floating-point types have a precision.");
  }
}

// 2 to the power of -1074 to 1023, made of its bits: rounding to FLOAT16 is a good part of what the oracle does.
double powerOfTwo(int exponent) {
  const uint64_t bits =
      exponent < -1022 ? uint64_t{1} << (exponent + 1074) : static_cast<uint64_t>(exponent + 1023) << 52;
  return std::bit_cast<double>(bits);
}

// The exponent of a finite number; of all subnormal ones -1023.
int exponentOf(double value) { return static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7FF) - 1023; }

Steps stepsOf(const DML_BUFFER_TENSOR_DESC& desc) {
  const std::span<const uint32_t> sizes(desc.Sizes, desc.DimensionCount);
  if (desc.Strides == nullptr) return packedSteps(sizes);
  Steps steps{};
  for (size_t d = 0; d < sizes.size(); ++d) steps[d] = desc.Strides[d];
  return steps;
}

void requireRoom(const DML_BUFFER_TENSOR_DESC& desc, const Steps& steps, size_t bytes) {
  uint64_t last = 0;
  for (size_t d = 0; d < desc.DimensionCount; ++d)
    last += (desc.Sizes[d] - uint64_t{1}) * static_cast<uint64_t>(steps[d]);
  if (((last + 1) * elementBits(desc.DataType) + 7) / 8 > bytes) {
    throw std::invalid_argument("The memory given is smaller than the tensor it is to hold.");
  }
}

void requireRank(const DML_BUFFER_TENSOR_DESC& desc) {
  if (desc.DimensionCount == 0 || desc.DimensionCount > kMaxRank || desc.Sizes == nullptr) {
    throw std::invalid_argument("A tensor has 1 to 8 dimensions.");
  }
}

template <class Element>
Element load(const std::byte* at) {
  Element element;
  std::memcpy(&element, at, sizeof element);
  return element;
}

template <class Element>
void store(std::byte* at, Element element) {
  std::memcpy(at, &element, sizeof element);
}

template <class Element, class Convert, class Target>
void gather(const DML_BUFFER_TENSOR_DESC& desc, const Steps& steps, const std::byte* from, std::vector<Target>& to,
            Convert convert) {
  size_t next = 0;
  walk<1>({desc.Sizes, desc.DimensionCount}, {steps}, [&](const std::array<int64_t, 1>& at) {
    to[next++] = convert(load<Element>(from + static_cast<size_t>(at[0]) * sizeof(Element)));
  });
}

template <class Element, class Convert, class Source>
void scatter(const DML_BUFFER_TENSOR_DESC& desc, const Steps& steps, const std::vector<Source>& from, std::byte* to,
             Convert convert) {
  size_t next = 0;
  walk<1>({desc.Sizes, desc.DimensionCount}, {steps}, [&](const std::array<int64_t, 1>& at) {
    store<Element>(to + static_cast<size_t>(at[0]) * sizeof(Element), convert(from[next++]));
  });
}

// Two elements a byte, the even one in the low bits.
void gatherNibbles(const DML_BUFFER_TENSOR_DESC& desc, const Steps& steps, const std::byte* from,
                   std::vector<int64_t>& to) {
  size_t next = 0;
  walk<1>({desc.Sizes, desc.DimensionCount}, {steps}, [&](const std::array<int64_t, 1>& at) {
    to[next++] = wrapTo(desc.DataType, static_cast<int64_t>(from[at[0] / 2] >> (at[0] % 2 * 4)));
  });
}

void scatterNibbles(const DML_BUFFER_TENSOR_DESC& desc, const Steps& steps, const std::vector<int64_t>& from,
                    std::byte* to) {
  size_t next = 0;
  walk<1>({desc.Sizes, desc.DimensionCount}, {steps}, [&](const std::array<int64_t, 1>& at) {
    const auto shift = at[0] % 2 * 4;
    std::byte& byte = to[at[0] / 2];
    byte = (byte & ~(std::byte{15} << shift)) | (static_cast<std::byte>(from[next++] & 15) << shift);
  });
}

}  // namespace

size_t elementBits(DML_TENSOR_DATA_TYPE type) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT64:
    case DML_TENSOR_DATA_TYPE_UINT64:
    case DML_TENSOR_DATA_TYPE_INT64:
      return 64;
    case DML_TENSOR_DATA_TYPE_FLOAT32:
    case DML_TENSOR_DATA_TYPE_UINT32:
    case DML_TENSOR_DATA_TYPE_INT32:
      return 32;
    case DML_TENSOR_DATA_TYPE_FLOAT16:
    case DML_TENSOR_DATA_TYPE_UINT16:
    case DML_TENSOR_DATA_TYPE_INT16:
      return 16;
    case DML_TENSOR_DATA_TYPE_UINT8:
    case DML_TENSOR_DATA_TYPE_INT8:
      return 8;
    case DML_TENSOR_DATA_TYPE_UINT4:
    case DML_TENSOR_DATA_TYPE_INT4:
      return 4;
    default:
      throw std::invalid_argument("The oracle does not know this data type.");
  }
}

size_t elementBytes(DML_TENSOR_DATA_TYPE type) {
  const size_t bits = elementBits(type);
  if (bits < 8) throw std::invalid_argument("Elements of 4 bits have no size in bytes.");
  return bits / 8;
}

bool isReal(DML_TENSOR_DATA_TYPE type) {
  elementBits(type);
  return type == DML_TENSOR_DATA_TYPE_FLOAT16 || type == DML_TENSOR_DATA_TYPE_FLOAT32 ||
         type == DML_TENSOR_DATA_TYPE_FLOAT64;
}

bool isSigned(DML_TENSOR_DATA_TYPE type) {
  return isReal(type) || type == DML_TENSOR_DATA_TYPE_INT8 || type == DML_TENSOR_DATA_TYPE_INT16 ||
         type == DML_TENSOR_DATA_TYPE_INT32 || type == DML_TENSOR_DATA_TYPE_INT64 || type == DML_TENSOR_DATA_TYPE_INT4;
}

Array makeArray(DML_TENSOR_DATA_TYPE type, std::vector<uint32_t> sizes) {
  Array array;
  array.type = type;
  array.sizes = std::move(sizes);
  const size_t count = countOf(array.sizes);
  if (isReal(type)) {
    array.real.resize(count);
  } else {
    array.whole.resize(count);
  }
  return array;
}

Array read(const DML_BUFFER_TENSOR_DESC& desc, std::span<const std::byte> memory) {
  requireRank(desc);
  Array array = makeArray(desc.DataType, {desc.Sizes, desc.Sizes + desc.DimensionCount});
  const Steps steps = stepsOf(desc);
  requireRoom(desc, steps, memory.size());
  const std::byte* from = memory.data();
  if (elementBits(desc.DataType) == 4) {
    gatherNibbles(desc, steps, from, array.whole);
    return array;
  }
  const auto widen = [](auto element) { return static_cast<int64_t>(element); };
  switch (desc.DataType) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      gather<uint16_t>(desc, steps, from, array.real, doubleFromHalf);
      break;
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      gather<float>(desc, steps, from, array.real, [](float element) { return static_cast<double>(element); });
      break;
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      gather<double>(desc, steps, from, array.real, [](double element) { return element; });
      break;
    case DML_TENSOR_DATA_TYPE_INT8:
      gather<int8_t>(desc, steps, from, array.whole, widen);
      break;
    case DML_TENSOR_DATA_TYPE_UINT8:
      gather<uint8_t>(desc, steps, from, array.whole, widen);
      break;
    case DML_TENSOR_DATA_TYPE_INT16:
      gather<int16_t>(desc, steps, from, array.whole, widen);
      break;
    case DML_TENSOR_DATA_TYPE_UINT16:
      gather<uint16_t>(desc, steps, from, array.whole, widen);
      break;
    case DML_TENSOR_DATA_TYPE_INT32:
      gather<int32_t>(desc, steps, from, array.whole, widen);
      break;
    case DML_TENSOR_DATA_TYPE_UINT32:
      gather<uint32_t>(desc, steps, from, array.whole, widen);
      break;
    default:
      gather<int64_t>(desc, steps, from, array.whole, widen);
      break;
  }
  return array;
}

void write(const DML_BUFFER_TENSOR_DESC& desc, const Array& array, std::span<std::byte> memory) {
  requireRank(desc);
  if (array.type != desc.DataType || array.count() != countOf({desc.Sizes, desc.DimensionCount})) {
    throw std::invalid_argument("The array and the tensor it is to be written to differ in type or size.");
  }
  const Steps steps = stepsOf(desc);
  requireRoom(desc, steps, memory.size());
  std::byte* to = memory.data();
  if (elementBits(desc.DataType) == 4) return scatterNibbles(desc, steps, array.whole, to);
  switch (elementBytes(desc.DataType) | (isReal(desc.DataType) ? 16u : 0u)) {
    case 16 | 2:
      scatter<uint16_t>(desc, steps, array.real, to, halfFromDouble);
      break;
    case 16 | 4:
      scatter<float>(desc, steps, array.real, to, [](double element) { return static_cast<float>(element); });
      break;
    case 16 | 8:
      scatter<double>(desc, steps, array.real, to, [](double element) { return element; });
      break;
    case 1:
      scatter<uint8_t>(desc, steps, array.whole, to, [](int64_t element) { return static_cast<uint8_t>(element); });
      break;
    case 2:
      scatter<uint16_t>(desc, steps, array.whole, to, [](int64_t element) { return static_cast<uint16_t>(element); });
      break;
    case 4:
      scatter<uint32_t>(desc, steps, array.whole, to, [](int64_t element) { return static_cast<uint32_t>(element); });
      break;
    default:
      scatter<int64_t>(desc, steps, array.whole, to, [](int64_t element) { return element; });
      break;
  }
}

double spacing(DML_TENSOR_DATA_TYPE type, double value) {
  const Precision precision = precisionOf(type);
  int exponent = precision.smallestExponent;
  if (value != 0 && std::isfinite(value)) exponent = std::max(exponent, exponentOf(value));
  return powerOfTwo(exponent - precision.fractionBits);
}

double smallestNormal(DML_TENSOR_DATA_TYPE type) { return powerOfTwo(precisionOf(type).smallestExponent); }

uint16_t halfFromDouble(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7E00);
  const double magnitude = std::fabs(value);
  if (magnitude >= 65536.0) return static_cast<uint16_t>(sign | 0x7C00);
  const int exponent = magnitude < 0x1p-14 ? -14 : exponentOf(magnitude);
  // Multiplying by a power of two is exact, so that the one rounding is nearbyint's, which takes ties to even.
  const auto units = static_cast<uint32_t>(std::nearbyint(magnitude * powerOfTwo(10 - exponent)));
  // A fraction that rounds up to the next power of two carries into the exponent by itself, up to infinity. The
  // smallest binade shares its spacing with subnormal numbers: there the leading bit of `units` is the exponent.
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent + 14) << 10) + units));
}

double doubleFromHalf(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = fraction * 0x1p-24;
  } else {
    magnitude = (1024 + fraction) * powerOfTwo(exponent - 25);
  }
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

double roundTo(DML_TENSOR_DATA_TYPE type, double value) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      return doubleFromHalf(halfFromDouble(value));
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      return static_cast<double>(static_cast<float>(value));
    default:
      return value;
  }
}

int64_t wrapTo(DML_TENSOR_DATA_TYPE type, int64_t value) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_INT8:
      return static_cast<int8_t>(value);
    case DML_TENSOR_DATA_TYPE_UINT8:
      return static_cast<uint8_t>(value);
    case DML_TENSOR_DATA_TYPE_INT16:
      return static_cast<int16_t>(value);
    case DML_TENSOR_DATA_TYPE_UINT16:
      return static_cast<uint16_t>(value);
    case DML_TENSOR_DATA_TYPE_INT32:
      return static_cast<int32_t>(value);
    case DML_TENSOR_DATA_TYPE_UINT32:
      return static_cast<uint32_t>(value);
    case DML_TENSOR_DATA_TYPE_INT4:
      return (value & 15) - (value & 8) * 2;
    case DML_TENSOR_DATA_TYPE_UINT4:
      return value & 15;
    default:
      return value;
  }
}

int64_t truncateTo(DML_TENSOR_DATA_TYPE type, double value) {
  if (std::isnan(value)) return 0;
  const int bits = static_cast<int>(elementBits(type));
  const int valueBits = isSigned(type) ? bits - 1 : bits;
  const double past = powerOfTwo(valueBits);
  const double least = isSigned(type) ? -past : 0.0;
  const double whole = std::trunc(value);
  if (whole >= past) return static_cast<int64_t>(~uint64_t{0} >> (64 - valueBits));
  if (whole <= least) return isSigned(type) ? -static_cast<int64_t>(~uint64_t{0} >> (64 - valueBits)) - 1 : 0;
  return valueBits == 64 ? static_cast<int64_t>(static_cast<uint64_t>(whole)) : static_cast<int64_t>(whole);
}

}  // namespace oracle
