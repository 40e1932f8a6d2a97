// Memory and semaphores that other programs' Vulkan devices exported, as ONNX Runtime imports it.
#pragma once

#include "clients/onnxruntime/memory.h"

namespace dimple::ort {

// Of one device.
struct Importer : OrtExternalResourceImporterImpl {
  // `memory`: the device's.
  Importer(const OrtEpDevice& epDevice, Adapter& adapter, const OrtMemoryInfo& memory);

  const OrtEpDevice& epDevice;
  Adapter& adapter;
  const OrtMemoryInfo& memory;
};

}  // namespace dimple::ort
