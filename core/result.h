// How core reports a refusal: a sentence, and the HRESULT class it maps to. No exceptions cross a module.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace dimple {

enum class ErrorCode : uint8_t {
  InvalidArgument,  // E_INVALIDARG
  Unsupported,      // DXGI_ERROR_UNSUPPORTED: valid, but this device or limit does not allow it
  NotImplemented,   // E_NOTIMPL
  OutOfMemory,      // E_OUTOFMEMORY
  DeviceLost,       // DXGI_ERROR_DEVICE_REMOVED
  NotFound,         // DXGI_ERROR_NOT_FOUND
  Internal,         // E_FAIL
};

// A line of the sources. std::source_location needs newer compilers.
struct SourceLine {
  const char* file = "";
  uint32_t line = 0;

  static constexpr SourceLine current(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

struct Error {
  ErrorCode code = ErrorCode::InvalidArgument;
  std::string text;   // one sentence naming the field, the value given and the value expected
  SourceLine rule{};  // the line that refused, so that tests can tell which rules they have met
};

// The refusal of a description.
inline Error invalid(std::string text, SourceLine rule = SourceLine::current()) {
  return {ErrorCode::InvalidArgument, std::move(text), rule};
}

// Whether something worked: true, or an error. It has the same polarity as Result.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return !error_; }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  // Not &, which pointer classes overload.
  T* operator->() { return std::addressof(std::get<0>(state_)); }
  const T* operator->() const { return std::addressof(std::get<0>(state_)); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace dimple

// Returns the error of a Status or a Result that has one. Its value, if it has any, is dropped.
#define TRY(...)                                                               \
  do {                                                                         \
    if (auto&& tried = (__VA_ARGS__); !tried) return std::move(tried).error(); \
  } while (false)
