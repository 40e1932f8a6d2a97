// What ONNX Runtime makes execution providers with.
#pragma once

#include "clients/onnxruntime/memory.h"

namespace dimple::ort {

struct Factory : OrtEpFactory {
  Factory();
  ~Factory();

  Adapters adapters;
  DataTransfer transfer{adapters};
  // Of adapters that ONNX Runtime did not find itself.
  std::vector<OrtHardwareDevice*> hardware;
};

}  // namespace dimple::ort
