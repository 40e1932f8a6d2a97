#include "clients/onnx/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

constexpr TypeTraits kTypes[] = {
    {Type::Float, "float", 4, DML_TENSOR_DATA_TYPE_FLOAT32, 4},
    {Type::UInt8, "uint8", 1, DML_TENSOR_DATA_TYPE_UINT8, 1},
    {Type::Int8, "int8", 1, DML_TENSOR_DATA_TYPE_INT8, 1},
    {Type::UInt16, "uint16", 2, DML_TENSOR_DATA_TYPE_UINT16, 2},
    {Type::Int16, "int16", 2, DML_TENSOR_DATA_TYPE_INT16, 2},
    {Type::Int32, "int32", 4, DML_TENSOR_DATA_TYPE_INT32, 4},
    {Type::Int64, "int64", 8, DML_TENSOR_DATA_TYPE_INT64, 8},
    {Type::String, "string", 0, DML_TENSOR_DATA_TYPE_UNKNOWN, 0},
    {Type::Bool, "bool", 1, DML_TENSOR_DATA_TYPE_UINT8, 1},
    {Type::Float16, "float16", 2, DML_TENSOR_DATA_TYPE_FLOAT16, 2},
    {Type::Double, "double", 8, DML_TENSOR_DATA_TYPE_FLOAT32, 4},
    {Type::UInt32, "uint32", 4, DML_TENSOR_DATA_TYPE_UINT32, 4},
    {Type::UInt64, "uint64", 8, DML_TENSOR_DATA_TYPE_UINT64, 8},
    {Type::BFloat16, "bfloat16", 0, DML_TENSOR_DATA_TYPE_UNKNOWN, 0},
    {Type::UInt4, "uint4", 1, DML_TENSOR_DATA_TYPE_UINT8, 1},
    {Type::Int4, "int4", 1, DML_TENSOR_DATA_TYPE_INT8, 1},
    {Type::UInt4Pairs, "uint4 in pairs", 0, DML_TENSOR_DATA_TYPE_UINT4, 0},
};

template <class T>
T load(const HostTensor& tensor, size_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(HostTensor& tensor, size_t i, T value) {
  std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

// Conversions outside a type's range are undefined in C++.
int64_t saturate(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

TypeTraits traits(Type type) {
  for (const TypeTraits& known : kTypes)
    if (known.type == type) return known;
  return {type, "", 0, DML_TENSOR_DATA_TYPE_UNKNOWN, 0};
}

std::string typeName(Type type) {
  const std::string_view name = traits(type).name;
  return name.empty() ? cat("type ", static_cast<int32_t>(type)) : std::string(name);
}

bool isFloat(Type type) { return type == Type::Float || type == Type::Float16 || type == Type::Double; }

bool isSigned(Type type) {
  return isFloat(type) || type == Type::Int8 || type == Type::Int16 || type == Type::Int32 || type == Type::Int64 ||
         type == Type::Int4;
}

bool isInteger(Type type) { return !isFloat(type) && type != Type::Bool && traits(type).hostBytes != 0; }

int64_t elementCount(std::span<const int64_t> sizes) {
  constexpr int64_t kMax = int64_t{1} << 40;
  int64_t count = 1;
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > kMax / count)
      throw ModelError(cat("A tensor has sizes ", listText(sizes), ", expected at most ", kMax, " elements."));
    count *= size;
  }
  return count;
}

size_t normalizeAxis(int64_t axis, size_t rank) {
  const auto signedRank = static_cast<int64_t>(rank);
  if (axis < -signedRank || axis >= signedRank)
    throw ModelError(cat("An axis is ", axis, ", expected -", rank, " to ", signedRank - 1, "."));
  return static_cast<size_t>(axis < 0 ? axis + signedRank : axis);
}

Sizes broadcastSizes(const Sizes& a, const Sizes& b) {
  Sizes sizes(std::max(a.size(), b.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t fromA = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t fromB = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (fromA != fromB && fromA != 1 && fromB != 1)
      throw ModelError(cat("Tensors of sizes ", listText(a), " and ", listText(b), " cannot be broadcast together."));
    sizes[sizes.size() - 1 - i] = fromA == 1 ? fromB : fromA;
  }
  return sizes;
}

HostTensor::HostTensor(Type elementType, Sizes tensorSizes) : type(elementType), sizes(std::move(tensorSizes)) {
  const size_t size = traits(type).hostBytes;
  if (size == 0) throw ModelError(cat("A tensor is of ", typeName(type), ", which is not supported."));
  bytes.resize(static_cast<size_t>(elements()) * size);
}

double HostTensor::real(size_t i) const {
  switch (type) {
    case Type::Float:
      return load<float>(*this, i);
    case Type::Double:
      return load<double>(*this, i);
    case Type::Float16:
      return floatFromHalf(load<uint16_t>(*this, i));
    case Type::UInt64:
      return static_cast<double>(load<uint64_t>(*this, i));
    default:
      return static_cast<double>(integer(i));
  }
}

int64_t HostTensor::integer(size_t i) const {
  switch (type) {
    case Type::UInt8:
    case Type::UInt4:
    case Type::Bool:
      return load<uint8_t>(*this, i);
    case Type::Int8:
    case Type::Int4:
      return load<int8_t>(*this, i);
    case Type::UInt16:
      return load<uint16_t>(*this, i);
    case Type::Int16:
      return load<int16_t>(*this, i);
    case Type::UInt32:
      return load<uint32_t>(*this, i);
    case Type::Int32:
      return load<int32_t>(*this, i);
    case Type::Int64:
    case Type::UInt64:
      return load<int64_t>(*this, i);
    default:
      return saturate(real(i));
  }
}

void HostTensor::setReal(size_t i, double value) {
  switch (type) {
    case Type::Float:
      store(*this, i, static_cast<float>(value));
      break;
    case Type::Double:
      store(*this, i, value);
      break;
    case Type::Float16:
      store(*this, i, halfFromFloat(static_cast<float>(value)));
      break;
    case Type::Bool:
      store(*this, i, static_cast<uint8_t>(value != 0));
      break;
    case Type::UInt64:
      store(*this, i,
            value >= 0x1p63 ? static_cast<uint64_t>(saturate(value - 0x1p63)) + (uint64_t{1} << 63)
                            : static_cast<uint64_t>(saturate(value)));
      break;
    default:
      setInteger(i, saturate(value));
  }
}

void HostTensor::setInteger(size_t i, int64_t value) {
  switch (type) {
    case Type::Bool:
      store(*this, i, static_cast<uint8_t>(value != 0));
      break;
    case Type::UInt8:
    case Type::UInt4:
    case Type::Int8:
    case Type::Int4:
      store(*this, i, static_cast<uint8_t>(value));
      break;
    case Type::UInt16:
    case Type::Int16:
      store(*this, i, static_cast<uint16_t>(value));
      break;
    case Type::UInt32:
    case Type::Int32:
      store(*this, i, static_cast<uint32_t>(value));
      break;
    case Type::UInt64:
    case Type::Int64:
      store(*this, i, value);
      break;
    default:
      setReal(i, static_cast<double>(value));
  }
}

std::vector<int64_t> HostTensor::integers() const {
  std::vector<int64_t> values(static_cast<size_t>(elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = integer(i);
  return values;
}

std::vector<double> HostTensor::reals() const {
  std::vector<double> values(static_cast<size_t>(elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = real(i);
  return values;
}

HostTensor integerTensor(Type type, std::span<const int64_t> values) {
  HostTensor tensor(type, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) tensor.setInteger(i, values[i]);
  return tensor;
}

HostTensor scalarTensor(Type type, double value) {
  HostTensor tensor(type, {});
  tensor.setReal(0, value);
  return tensor;
}

void unpack(std::span<const std::byte> packed, HostTensor& tensor) {
  for (size_t i = 0; i < tensor.bytes.size(); ++i) {
    const auto pair = static_cast<uint8_t>(packed[i / 2]);
    const int nibble = i % 2 ? pair >> 4 : pair & 15;
    tensor.setInteger(i, tensor.type == Type::Int4 && nibble > 7 ? nibble - 16 : nibble);
  }
}

uint64_t deviceSize(const TensorInfo& info) {
  const uint64_t bytes = static_cast<uint64_t>(elementCount(info.sizes)) * traits(info.type).deviceBytes;
  return (bytes + 3) / 4 * 4;
}

std::vector<std::byte> deviceBytes(const HostTensor& tensor) {
  if (sameOnDevice(tensor.type)) return tensor.bytes;
  std::vector<std::byte> bytes(tensor.bytes.size() / 2);
  for (size_t i = 0; i < bytes.size() / 4; ++i) {
    const auto exact = load<double>(tensor, i);
    if (std::isfinite(exact) && std::abs(exact) > static_cast<double>(std::numeric_limits<float>::max()))
      throw ModelError(
          cat("A double is ", exact, ", expected a value in the range of FLOAT32, which DirectML uses instead."));
    const auto value = static_cast<float>(exact);
    std::memcpy(&bytes[4 * i], &value, 4);
  }
  return bytes;
}

HostTensor fromDeviceBytes(Type type, Sizes sizes, std::span<const std::byte> bytes) {
  HostTensor tensor(type, std::move(sizes));
  const auto count = static_cast<size_t>(tensor.elements());
  if (sameOnDevice(type)) {
    std::copy_n(bytes.begin(), tensor.bytes.size(), tensor.bytes.begin());
    return tensor;
  }
  for (size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, &bytes[4 * i], 4);
    store(tensor, i, static_cast<double>(value));
  }
  return tensor;
}

uint16_t halfFromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  // Multiples of 2^-24, the least half above zero.
  if (magnitude < 0x38800000u)
    return static_cast<uint16_t>(sign |
                                 static_cast<uint16_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f)));
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u;
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

float floatFromHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

}  // namespace dimple::onnx
