// How this library reports failures.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "clients/printable.h"

namespace dimple::onnx {

// The model or its input is wrong, or needs an operator that is not mapped. The text is one sentence, or one per line.
struct ModelError : std::runtime_error {
  explicit ModelError(std::string text) : std::runtime_error(printable(std::move(text))) {}
};

// The model is right, but running it failed.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dimple::onnx
