// Reading operator descriptions: every one begins with pointers, to its tensors for the most part.
#pragma once

#include <cstring>
#include <stdexcept>

#include "tests/conformance/oracle/oracle.h"

namespace oracle {

template <class Target>
const Target* pointerField(const DML_OPERATOR_DESC& desc, size_t i) {
  const Target* pointer;
  std::memcpy(&pointer, static_cast<const std::byte*>(desc.Desc) + i * sizeof(void*), sizeof pointer);
  return pointer;
}

inline const std::byte* fieldsAfterPointers(const DML_OPERATOR_DESC& desc, size_t count) {
  return static_cast<const std::byte*>(desc.Desc) + count * sizeof(void*);
}

inline const DML_BUFFER_TENSOR_DESC& bufferOf(const DML_TENSOR_DESC* tensor) {
  if (tensor == nullptr || tensor->Type != DML_TENSOR_TYPE_BUFFER || tensor->Desc == nullptr) {
    throw std::invalid_argument("A tensor that is needed is not described.");
  }
  return *static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc);
}

inline std::vector<uint32_t> sizesOf(const DML_BUFFER_TENSOR_DESC& tensor) {
  return {tensor.Sizes, tensor.Sizes + tensor.DimensionCount};
}

inline void requireInputs(std::span<const Array> inputs, size_t count) {
  if (inputs.size() != count) {
    throw std::invalid_argument("The operator takes " + std::to_string(count) + " inputs.");
  }
  for (const Array& input : inputs) {
    if (input.absent()) throw std::invalid_argument("An input that is needed is absent.");
  }
}

}  // namespace oracle
