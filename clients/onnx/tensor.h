// Tensors as ONNX has them, in host memory.
#pragma once

#include <dimple.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dimple::onnx {

// The values of TensorProto.DataType.
enum class Type : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16,
  UInt4 = 21,
  Int4 = 22,
  // This project's own: two in a byte on the device. Views of UInt8 are of it, and no tensors of the host.
  UInt4Pairs = 1 << 20,
};

struct TypeTraits {
  Type type;
  std::string_view name;        // as ONNX writes it: "float", "int64"
  size_t hostBytes;             // of an element of a HostTensor; 4-bit integers take a byte each
  DML_TENSOR_DATA_TYPE device;  // UNKNOWN: no tensor of this type can be on a device
  size_t deviceBytes;
};

// Any value is accepted: types that ONNX may add have the name "type N" and no bytes.
TypeTraits traits(Type type);
std::string typeName(Type type);
bool isFloat(Type type);    // FLOAT, FLOAT16, DOUBLE
bool isSigned(Type type);   // of integers and floats
bool isInteger(Type type);  // BOOL is none

using Sizes = std::vector<int64_t>;

// The number of elements. Sizes are not negative; throws ModelError past 2^40.
int64_t elementCount(std::span<const int64_t> sizes);
// The axis of [-rank, rank) as one of [0, rank). Throws ModelError.
size_t normalizeAxis(int64_t axis, size_t rank);
// What shapes that are broadcast together give, by NumPy's rules. Throws ModelError.
Sizes broadcastSizes(const Sizes& a, const Sizes& b);

struct HostTensor {
  Type type = Type::Undefined;
  Sizes sizes;
  std::vector<std::byte> bytes;  // row-major

  HostTensor() = default;
  // Zeros. Throws ModelError if no such tensor can be.
  HostTensor(Type type, Sizes sizes);

  int64_t elements() const { return elementCount(sizes); }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // Element i, whatever the type; integers are exact as int64_t.
  double real(size_t i) const;
  int64_t integer(size_t i) const;
  // Floats round to nearest, integers wrap.
  void setReal(size_t i, double value);
  void setInteger(size_t i, int64_t value);

  std::vector<int64_t> integers() const;
  std::vector<double> reals() const;
};

using SharedTensor = std::shared_ptr<const HostTensor>;

// A tensor without its elements.
struct TensorInfo {
  Type type = Type::Undefined;
  Sizes sizes;

  bool operator==(const TensorInfo&) const = default;
};
// Bytes of a packed tensor on a device, a multiple of four.
uint64_t deviceSize(const TensorInfo& info);

// A tensor of one axis, or a scalar.
HostTensor integerTensor(Type type, std::span<const int64_t> values);
HostTensor scalarTensor(Type type, double value);

// Whether ONNX stores two elements in a byte, the first in its low half.
inline bool isPacked(Type type) { return type == Type::Int4 || type == Type::UInt4; }
// Sets all elements of a tensor of such a type, whose stored bytes `packed` are or begin with.
void unpack(std::span<const std::byte> packed, HostTensor& tensor);

// DOUBLE is FLOAT32 on a device; all others have the same bytes.
inline bool sameOnDevice(Type type) { return type != Type::Double; }
std::vector<std::byte> deviceBytes(const HostTensor& tensor);
HostTensor fromDeviceBytes(Type type, Sizes sizes, std::span<const std::byte> bytes);

uint16_t halfFromFloat(float value);  // to nearest, ties to even
float floatFromHalf(uint16_t half);

}  // namespace dimple::onnx
