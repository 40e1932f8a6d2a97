// What an HRESULT of Direct3D 12 means to the caller.
#pragma once

#include <string>
#include <string_view>

#include "backend_d3d12/d3d12.h"
#include "core/result.h"

namespace dimple::d3d12 {

// "CreateCommittedResource failed with E_OUTOFMEMORY (8007000E)."
Error fault(std::string_view call, HRESULT result);

// What a method or a function of Direct3D answered. It is true, or has an error, like a Status. Every call that answers
// an HRESULT is wrapped in one, so that none is overlooked.
class [[nodiscard]] Outcome {
 public:
  // `call`: a literal.
  Outcome(const char* call, HRESULT result) : call_(call), result_(result) {}

  explicit operator bool() const { return SUCCEEDED(result_); }
  // Lack of memory or a lost device, which any call may meet; other failures are about what was asked.
  bool isAccident() const;
  Error error() const { return fault(call_, result_); }
  // The same of a call that says what it was about: " of 16 bytes".
  Error error(std::string_view about) const { return fault(std::string(call_).append(about), result_); }

 private:
  const char* call_;
  HRESULT result_;
};

// An error where the device was removed, whatever the reason.
Status checkRemoved(ID3D12Device& device);

}  // namespace dimple::d3d12
