// How this library reports failures.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

namespace dimple::onnx {

// Names of a model may hold any byte; one of 0 would end the sentence.
inline std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; }, '?');
  return text;
}

// The model, or what it is given, is wrong, or needs what is not mapped. One sentence, or one a line.
struct ModelError : std::runtime_error {
  explicit ModelError(std::string text) : std::runtime_error(printable(std::move(text))) {}
};

// The model is right, but running it failed.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dimple::onnx
