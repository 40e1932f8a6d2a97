// Calls of the library that fail.
#pragma once

#include <dimple.h>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::ort {

inline void checkDevice(HRESULT result, const char* what) {
  if (FAILED(result)) throw onnx::DeviceError(onnx::cat(what, ": ", dimpleGetLastMessage()));
}

}  // namespace dimple::ort
