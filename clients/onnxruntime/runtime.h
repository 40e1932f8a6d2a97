// ONNX Runtime's C interface as this provider uses it.
#pragma once

#include <onnxruntime_c_api.h>  // and onnxruntime_ep_c_api.h, which has no guard

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace dimple::ort {

// The oldest interface with all that is called here; ONNX Runtime 1.N has interface N.
inline constexpr uint32_t kLeastApiVersion = 24;

struct Runtime {
  const OrtApi* api = nullptr;
  const OrtEpApi* ep = nullptr;
  uint32_t apiVersion = 0;  // of both
};
// Of the process, since ONNX Runtime passes it to no callback. Null pointers before setRuntime().
const Runtime& runtime();
void setRuntime(const OrtApiBase& base);

// What a callback answers ONNX Runtime.
struct StatusError : std::runtime_error {
  StatusError(OrtErrorCode errorCode, const std::string& text) : std::runtime_error(text), code(errorCode) {}
  OrtErrorCode code;
};

// Throws StatusError for a status that is no success, and releases it.
void check(OrtStatus* status);

// The status for the exception that is being handled. Null if there is no memory even for that.
OrtStatus* statusOfException() noexcept;

using Pairs = std::unique_ptr<OrtKeyValuePairs, void(ORT_API_CALL*)(OrtKeyValuePairs*)>;

// No exception may reach ONNX Runtime.
template <class F>
OrtStatus* guarded(F&& f) noexcept {
  try {
    f();
    return nullptr;
  } catch (...) {
    return statusOfException();
  }
}

// What a pair of functions lists: how many there are, and all of them.
template <class T, class Count, class Get, class From>
std::vector<T> listOf(Count count, Get get, From* from) {
  size_t size = 0;
  check(count(from, &size));
  std::vector<T> all(size);
  if (size) check(get(from, all.data(), size));
  return all;
}

}  // namespace dimple::ort
