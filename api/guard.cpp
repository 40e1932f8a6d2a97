#include "api/guard.h"

#include <cstdio>
#include <new>
#include <stdexcept>

namespace dimple::api {
namespace {

// Bytes, not a string: they take no memory, and MinGW-w64 ends a thread's variables after it has freed their memory.
thread_local char lastMessageText[2048];

}  // namespace

HRESULT resultOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return E_INVALIDARG;
    case ErrorCode::Unsupported:
      return DXGI_ERROR_UNSUPPORTED;
    case ErrorCode::NotImplemented:
      return E_NOTIMPL;
    case ErrorCode::OutOfMemory:
      return E_OUTOFMEMORY;
    case ErrorCode::DeviceLost:
      return DXGI_ERROR_DEVICE_REMOVED;
    case ErrorCode::NotFound:
      return DXGI_ERROR_NOT_FOUND;
    case ErrorCode::Internal:
      return E_FAIL;
  }
  return E_FAIL;
}

void copyText(char* target, size_t capacity, std::string_view text) noexcept {
  size_t length = text.copy(target, capacity - 1);
  // Whole characters of UTF-8: none begins with the bits 10.
  while (length < text.size() && length > 0 && (text[length] & 0xc0) == 0x80) --length;
  target[length] = 0;
}

void setLastMessage(std::string_view text) noexcept { copyText(lastMessageText, sizeof lastMessageText, text); }
const char* lastMessage() noexcept { return lastMessageText; }

HRESULT refuseEarly(HRESULT code, std::string_view text) noexcept {
  setLastMessage(text);
  return code;
}
HRESULT refuseEarly(const Error& error) noexcept { return refuseEarly(resultOf(error.code), error.text); }

void callCallback(DimpleMessageCallback callback, void* context, DimpleMessageSeverity severity, HRESULT code,
                  const char* text) noexcept {
  if (!callback) return;
  try {
    callback(context, severity, code, text);
  } catch (...) {
    // It is the callback's own, not the refused call's.
  }
}

CaughtFailure caughtFailure(const char* method) noexcept {
  CaughtFailure failure;
  const auto say = [&](HRESULT code, const char* format, const char* detail) {
    failure.code = code;
    char text[512];
    std::snprintf(text, sizeof text, format, method, detail);
    copyText(failure.text, sizeof failure.text, text);
  };
  constexpr const char* kNoMemory = "%s ran out of the process's memory.";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    say(E_OUTOFMEMORY, kNoMemory, "");
  } catch (const std::length_error&) {  // a container of more elements than there can be
    say(E_OUTOFMEMORY, kNoMemory, "");
  } catch (const std::exception& e) {
    say(E_FAIL, "%s failed with an exception: %s.", e.what());
  } catch (...) {
    say(E_FAIL, "%s failed with an exception.", "");
  }
  return failure;
}

}  // namespace dimple::api
