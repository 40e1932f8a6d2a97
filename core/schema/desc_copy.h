// Owned operator descriptions: copies of a caller's attributes, and descriptions built field by field.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/schema/op_schema.h"

namespace dimple {

// Holds a description and everything it points to. Addresses are stable under moves.
class OwnedDesc {
 public:
  // A zeroed description of an operator.
  explicit OwnedDesc(const OpSchema& schema);

  DML_OPERATOR_DESC desc() const { return {schema_->type, root_}; }
  const OpSchema& schema() const { return *schema_; }

  std::byte* root() { return root_; }
  // The storage of a field, for writing its value.
  template <class T>
  T& field(const Field& f) {
    return *reinterpret_cast<T*>(root_ + f.offset);
  }

  // Storage that lives as long as this object.
  template <class T>
  T* allocate(size_t count) {
    return reinterpret_cast<T*>(allocateBytes(sizeof(T) * count));
  }
  template <class T>
  const T* store(std::span<const T> values) {
    T* copy = allocate<T>(values.size());
    for (size_t i = 0; i < values.size(); ++i) copy[i] = values[i];
    return copy;
  }

  // Fills `target` with a tensor description that this object owns. Empty strides: null Strides (packed).
  // TotalTensorSizeInBytes of 0 stands for the implied size.
  void setTensor(DML_TENSOR_DESC& target, DML_TENSOR_DATA_TYPE type, std::span<const uint32_t> sizes,
                 std::span<const uint32_t> strides = {}, uint64_t totalBytes = 0,
                 DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE, uint32_t alignment = 0);

 private:
  std::byte* allocateBytes(size_t bytes);

  const OpSchema* schema_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* root_ = nullptr;
};

// A deep copy, in one block, of the attributes of a description that has passed validation. Its tensors and fused
// activations are null.
std::shared_ptr<void> copyAttributes(const OpSchema& schema, const void* desc);

}  // namespace dimple
