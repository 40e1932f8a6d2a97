#include "clients/onnxruntime/elements.h"

#include <algorithm>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::ort {

using onnx::cat;
bool isConverted(onnx::Type type) { return isPacked(type) || !onnx::sameOnDevice(type); }

onnx::SharedTensor hostTensor(onnx::Type type, onnx::Sizes sizes, std::span<const std::byte> memory) {
  if (onnx::traits(type).hostBytes == 0)
    throw onnx::ModelError(cat("A tensor is of ", onnx::typeName(type), ", which is not supported."));
  auto tensor = std::make_shared<onnx::HostTensor>(type, std::move(sizes));
  const size_t expected = isPacked(type) ? (tensor->bytes.size() + 1) / 2 : tensor->bytes.size();
  if (memory.size() != expected)
    throw onnx::ModelError(
        cat("A tensor of ", onnx::typeName(type), " has ", memory.size(), " bytes, expected ", expected, "."));
  if (isPacked(type))
    onnx::unpack(memory, *tensor);
  else
    std::ranges::copy(memory, tensor->bytes.begin());
  return tensor;
}

std::vector<std::byte> memoryBytes(const onnx::HostTensor& tensor) {
  if (!isPacked(tensor.type)) return tensor.bytes;
  std::vector<std::byte> packed((tensor.bytes.size() + 1) / 2);
  for (size_t i = 0; i < tensor.bytes.size(); ++i) packed[i / 2] |= (tensor.bytes[i] & std::byte{0xF}) << (i % 2 * 4);
  return packed;
}

}  // namespace dimple::ort
