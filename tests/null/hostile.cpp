#include "tests/null/hostile.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "core/schema/desc_text.h"
#include "tests/core/descriptions.h"

namespace dimple::testing {
namespace {

class Maker {
 public:
  Maker(std::span<const uint8_t> bytes, OwnedDesc& owner) : bytes_(bytes), owner_(owner) {}

  void fill(const OpSchema& schema, void* desc, int depth) {
    auto* root = static_cast<std::byte*>(desc);
    // Shared by the tensors of an operator, so that they are often alike.
    rank_ = 1 + below(8);
    for (uint32_t& size : sizes_) size = dimension();
    const auto slot = [&]<class T>(const Field& field, const T& value) {
      std::memcpy(root + field.offset, &value, sizeof value);
    };
    std::vector<UINT> counts(schema.fields.size());
    for (size_t i = 0; i < schema.fields.size(); ++i) {
      const Field& field = schema.fields[i];
      switch (field.type) {
        case FieldType::Tensor:
          slot(field, static_cast<const DML_TENSOR_DESC*>(depth != 0 || chance(16) ? nullptr : tensors(1)));
          break;
        case FieldType::UInt:
          counts[i] = isCount(schema, i) ? count() : number();
          slot(field, counts[i]);
          break;
        case FieldType::Int:
          slot(field, static_cast<INT>(number()));
          break;
        case FieldType::Float:
          slot(field, real());
          break;
        case FieldType::Bool:
          slot(field, static_cast<BOOL>(below(3)));
          break;
        case FieldType::Enum:
          slot(field, chance(16) ? number() : below(static_cast<uint32_t>(field.values->names.size()) + 1));
          break;
        case FieldType::ScaleBias: {
          const DML_SCALE_BIAS value{real(), real()};
          slot(field, chance(2) ? nullptr : owner_.store(std::span(&value, 1)));
          break;
        }
        case FieldType::Scalar: {
          DML_SCALAR_UNION value{};
          for (BYTE& byte : value.Bytes) byte = next();
          slot(field, value);
          break;
        }
        case FieldType::Size2D:
          slot(field, DML_SIZE_2D{number(), number()});
          break;
        case FieldType::TensorArray:
        case FieldType::Operator:
        case FieldType::OperatorArray:
        case FieldType::UIntArray:
        case FieldType::IntArray:
        case FieldType::FloatArray:
          break;
      }
    }
    // What counts say can come before its count.
    for (const Field& field : schema.fields) {
      const UINT length = field.countField < 0 ? 0 : counts[static_cast<size_t>(field.countField)];
      const bool none = length > kMaxElements || chance(32);
      if (field.type == FieldType::TensorArray) slot(field, none ? nullptr : tensors(length));
      if (field.type == FieldType::Operator) slot(field, chance(2) ? nullptr : operators(1, depth + 1));
      if (field.type == FieldType::OperatorArray) slot(field, none ? nullptr : operators(length, depth + 1));
      if (field.type == FieldType::UIntArray)
        slot(field, none ? nullptr : array<UINT>(length, [&] { return number(); }));
      if (field.type == FieldType::IntArray)
        slot(field, none ? nullptr : array<INT>(length, [&] { return static_cast<INT>(number()); }));
      if (field.type == FieldType::FloatArray)
        slot(field, none ? nullptr : array<FLOAT>(length, [&] { return real(); }));
    }
  }

  // Changes a few fields of a description that is valid.
  void edit() {
    const OpSchema& schema = owner_.schema();
    for (uint32_t edits = 1 + below(4); edits != 0; --edits) {
      const size_t index = next() % schema.fields.size();
      const Field& field = schema.fields[index];
      const UINT length =
          field.countField < 0 ? 1 : owner_.field<UINT>(schema.fields[static_cast<size_t>(field.countField)]);
      const auto element = [&]<class T>(const T* values) -> T* {
        return values && length ? const_cast<T*>(values) + next() % length : nullptr;
      };
      switch (field.type) {
        case FieldType::Tensor:
        case FieldType::TensorArray:
          if (auto* tensor = element(owner_.field<const DML_TENSOR_DESC*>(field))) editTensor(*tensor);
          if (field.type == FieldType::Tensor && chance(16)) owner_.field<const DML_TENSOR_DESC*>(field) = nullptr;
          break;
        case FieldType::UInt: {
          UINT& value = owner_.field<UINT>(field);
          // No array grows with its count.
          value = isCount(schema, index) ? std::min(value, number()) : number();
          break;
        }
        case FieldType::Enum:
          owner_.field<uint32_t>(field) = number();
          break;
        case FieldType::Int:
          owner_.field<INT>(field) = static_cast<INT>(number());
          break;
        case FieldType::Float:
          owner_.field<FLOAT>(field) = real();
          break;
        case FieldType::Bool:
          owner_.field<BOOL>(field) = static_cast<BOOL>(below(3));
          break;
        case FieldType::UIntArray:
          if (auto* value = element(owner_.field<const UINT*>(field))) *value = number();
          break;
        case FieldType::IntArray:
          if (auto* value = element(owner_.field<const INT*>(field))) *value = static_cast<INT>(number());
          break;
        case FieldType::FloatArray:
          if (auto* value = element(owner_.field<const FLOAT*>(field))) *value = real();
          break;
        case FieldType::Operator:
          owner_.field<const DML_OPERATOR_DESC*>(field) = operators(1, 1);
          break;
        case FieldType::OperatorArray:
          if (length <= kMaxElements) owner_.field<const DML_OPERATOR_DESC*>(field) = operators(length, 1);
          break;
        case FieldType::Size2D:
          owner_.field<DML_SIZE_2D>(field) = {number(), number()};
          break;
        case FieldType::Scalar:
          owner_.field<DML_SCALAR_UNION>(field).Bytes[next() % 8] = next();
          break;
        case FieldType::ScaleBias:
          owner_.field<const DML_SCALE_BIAS*>(field) = nullptr;
          break;
      }
    }
  }

 private:
  static constexpr UINT kMaxElements = 64;

  uint8_t next() {
    if (at_ == bytes_.size()) return 0;
    return bytes_[at_++];
  }
  uint32_t word() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | next();
    return value;
  }
  uint32_t below(uint32_t n) { return next() % n; }
  // One in n; never where the bytes have ended.
  bool chance(uint32_t n) { return at_ != bytes_.size() && below(n) == n - 1; }
  uint32_t number() {
    const uint8_t kind = next();
    if (kind < 200) return kind % 8;
    if (kind < 220) return sizes_[kind % 8];
    if (kind < 235) return static_cast<uint32_t>(-(kind - 219));
    return word();
  }
  UINT count() { return chance(64) ? word() : chance(3) ? below(12) : rank_ - below(rank_); }
  uint32_t dimension() {
    const uint8_t kind = next();
    return kind < 240 ? 1 + kind % 6 : kind < 250 ? 1u << (kind % 32) : word();
  }
  float real() {
    const uint8_t kind = next();
    if (kind < 200) return static_cast<float>(kind % 16) * 0.5f - 2;
    return std::bit_cast<float>(word());
  }
  static bool isCount(const OpSchema& schema, size_t index) {
    return std::any_of(schema.fields.begin(), schema.fields.end(),
                       [&](const Field& f) { return f.countField == static_cast<int8_t>(index); });
  }
  template <class T, class Element>
  const T* array(UINT length, Element element) {
    T* values = owner_.allocate<T>(length);
    for (UINT i = 0; i < length; ++i) values[i] = element();
    return values;
  }

  DML_TENSOR_DESC* tensors(UINT length) {
    auto* result = owner_.allocate<DML_TENSOR_DESC>(length);
    for (UINT i = 0; i < length; ++i) makeTensor(result[i]);
    return result;
  }

  void makeTensor(DML_TENSOR_DESC& tensor) {
    const uint32_t rank = chance(24) ? below(12) : rank_;
    const uint32_t readable = std::min<uint32_t>(rank, 8);
    std::vector<uint32_t> sizes(sizes_, sizes_ + readable);
    for (uint32_t& size : sizes)
      if (chance(8)) size = dimension();
    std::vector<uint32_t> strides;
    if (chance(4))
      for (uint32_t d = 0; d < readable; ++d) strides.push_back(number());
    const auto type = static_cast<DML_TENSOR_DATA_TYPE>(chance(3) ? below(16) : 1);
    owner_.setTensor(tensor, type, sizes, strides);
    auto& buffer = *const_cast<DML_BUFFER_TENSOR_DESC*>(static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor.Desc));
    buffer.DimensionCount = rank;
    if (chance(16)) buffer.TotalTensorSizeInBytes = uint64_t{word()} << (next() % 40);
    if (chance(16)) buffer.GuaranteedBaseOffsetAlignment = number();
    if (chance(8)) {
      const uint32_t flags = number();
      std::memcpy(&buffer.Flags, &flags, sizeof flags);
    }
    if (chance(64)) buffer.Sizes = nullptr;
    if (chance(64)) tensor.Type = static_cast<DML_TENSOR_TYPE>(below(3));
    if (chance(64)) tensor.Desc = nullptr;
  }

  void editTensor(DML_TENSOR_DESC& tensor) {
    auto& buffer = *const_cast<DML_BUFFER_TENSOR_DESC*>(static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor.Desc));
    std::vector<uint32_t> sizes(buffer.Sizes, buffer.Sizes + buffer.DimensionCount);
    std::vector<uint32_t> strides;
    if (buffer.Strides) strides.assign(buffer.Strides, buffer.Strides + buffer.DimensionCount);
    DML_TENSOR_DATA_TYPE type = buffer.DataType;
    switch (below(5)) {
      case 0:
        type = static_cast<DML_TENSOR_DATA_TYPE>(below(16));
        break;
      case 1:
        strides.resize(sizes.size());
        for (uint32_t& stride : strides) stride = number();
        break;
      case 2:
        sizes.insert(sizes.begin(), 1);
        strides.clear();
        break;
      default:
        if (!sizes.empty()) sizes[next() % sizes.size()] = chance(2) ? dimension() : number();
        break;
    }
    owner_.setTensor(tensor, type, sizes, strides);
  }

  DML_OPERATOR_DESC* operators(UINT length, int depth) {
    auto* result = owner_.allocate<DML_OPERATOR_DESC>(length);
    for (UINT i = 0; i < length; ++i) {
      const OpSchema& schema = *allSchemas()[word() % allSchemas().size()];
      // Deep nesting, as far as the operators have fields for it.
      void* desc = chance(16) ? nullptr : owner_.allocate<std::byte>(schema.descBytes);
      if (desc) {
        std::memset(desc, 0, schema.descBytes);
        if (depth < 40) fill(schema, desc, depth);
      }
      result[i] = {schema.type, desc};
    }
    return result;
  }

  const std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  OwnedDesc& owner_;
  uint32_t rank_ = 1;
  uint32_t sizes_[8]{};
};

}  // namespace

OwnedDesc hostileDescription(std::span<const uint8_t> bytes) {
  const auto takeByte = [&]() -> size_t {
    if (bytes.empty()) return 0;
    const uint8_t byte = bytes.front();
    bytes = bytes.subspan(1);
    return byte;
  };
  if (takeByte() % 2 == 0) {
    static const std::vector<std::string> written = writtenDescriptions();
    const size_t high = takeByte();
    if (auto parsed = parseCase(written[(high << 8 | takeByte()) % written.size()])) {
      Maker(bytes, parsed->desc).edit();
      return std::move(parsed->desc);
    }
  }
  OwnedDesc owner(*allSchemas()[takeByte() % allSchemas().size()]);
  Maker(bytes, owner).fill(owner.schema(), const_cast<void*>(owner.desc().Desc), 0);
  return owner;
}

}  // namespace dimple::testing
