// The boundary of the API. Every method of an object, and every exported function, that does more than return a member
// runs its body in guarded() or removing(), so that no exception leaves it. Lack of memory becomes E_OUTOFMEMORY, and
// any other exception E_FAIL, with a sentence that needs no memory. tests/boundary finds functions without a guard.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <dimple.h>

#include "core/result.h"

namespace dimple::api {

HRESULT resultOf(ErrorCode code);

// Copies text and a zero into `capacity` bytes, as many whole characters of UTF-8 as fit.
void copyText(char* target, size_t capacity, std::string_view text) noexcept;

// Remembers a refusal for dimpleGetLastMessage.
void setLastMessage(std::string_view text) noexcept;
const char* lastMessage() noexcept;

// Refuses a call when there is no device to report it.
HRESULT refuseEarly(HRESULT code, std::string_view text) noexcept;
HRESULT refuseEarly(const Error& error) noexcept;

// Calls the caller's callback, if there is one, and discards its exceptions.
void callCallback(DimpleMessageCallback callback, void* context, DimpleMessageSeverity severity, HRESULT code,
                  const char* text) noexcept;

// Makes the exception that is being handled a refusal of `method`.
struct CaughtFailure {
  HRESULT code = E_FAIL;
  char text[256] = {};
};
CaughtFailure caughtFailure(const char* method) noexcept;

// Refuses where there is no object: only the thread's last message tells of it.
struct NoObject {
  HRESULT refuse(HRESULT code, const char* text) noexcept { return refuseEarly(code, text); }
};

// Runs a body that returns an HRESULT; `object` refuses what it throws.
template <class Object, class F>
HRESULT guarded(Object&& object, const char* method, F&& body) noexcept {
  try {
    return std::forward<F>(body)();
  } catch (...) {
    const CaughtFailure failure = caughtFailure(method);
    return object.refuse(failure.code, failure.text);
  }
}

// Runs the body of a method that returns nothing. An exception removes `device`, with the code as the reason.
template <class Device, class F>
void removing(Device& device, const char* method, F&& body) noexcept {
  try {
    std::forward<F>(body)();
  } catch (...) {
    const CaughtFailure failure = caughtFailure(method);
    device.removeDevice(failure.code, failure.text);
  }
}

}  // namespace dimple::api
