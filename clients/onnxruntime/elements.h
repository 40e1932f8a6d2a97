// Tensors as they lie in ONNX Runtime's memory: 4-bit integers two a byte, and DOUBLE as it is.
#pragma once

#include <span>

#include "clients/onnx/tensor.h"

namespace dimple::ort {

// Whether elements have another form on the device than in ONNX Runtime's memory there.
bool isConverted(onnx::Type type);

// Throws onnx::ModelError for types that there are not here, and for other numbers of bytes than the sizes say.
onnx::SharedTensor hostTensor(onnx::Type type, onnx::Sizes sizes, std::span<const std::byte> memory);
std::vector<std::byte> memoryBytes(const onnx::HostTensor& tensor);

}  // namespace dimple::ort
