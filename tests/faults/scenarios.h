// What programs do with Dimple, up to the first call that fails.
#pragma once

#include <dimple.h>
#include <wrl/client.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dimple::testing {

using Microsoft::WRL::ComPtr;

struct SessionOptions {
  bool validation = false;
  std::string cachePath;  // of compiled pipelines
  DimpleBackend backend = DIMPLE_BACKEND_VULKAN;
};

// A device for one run of a scenario.
class Session {
 public:
  // `begin` is called where calls begin to count.
  Session(SessionOptions options, std::function<void()> begin)
      : options_(std::move(options)), begin_(std::move(begin)) {}
  Session(const Session&) = delete;

  void begin() { begin_(); }
  HRESULT open();
  // Releases what it holds.
  void close();
  const SessionOptions& options() const { return options_; }
  IDimpleContext& context() { return *context_.Get(); }
  IDMLDevice1& device() { return *device_.Get(); }
  // Why the device was removed; S_OK: it was not; no value: there was none. Of a device that a scenario made itself, it
  // says so before that is gone.
  std::optional<HRESULT> removedReason() const;
  void setRemovedReason(HRESULT reason) { removedReason_ = reason; }
  // What the failed call said, before a scenario makes another one.
  void keepText() { text_ = dimpleGetLastMessage(); }
  const std::string& text() const { return text_; }
  // A call of the driver that failed was the program's own, of which Dimple knows nothing.
  void setOwnCall() { ownCall_ = true; }
  bool ownCall() const { return ownCall_; }
  // Whether the context, if there is one, still does what it is asked to.
  HRESULT useAgain();
  // What the validation layers and Dimple said beside refusals.
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  static void STDMETHODCALLTYPE receive(void* self, DimpleMessageSeverity severity, HRESULT, const char* text);

  const SessionOptions options_;
  const std::function<void()> begin_;
  std::string text_;
  bool ownCall_ = false;
  std::vector<std::string> messages_;
  std::optional<HRESULT> removedReason_;
  ComPtr<IDimpleContext> context_;
  ComPtr<IDMLDevice1> device_;
};

// A scenario's own finding: everything answered S_OK, and the numbers are wrong.
constexpr HRESULT kWrongNumbers = E_UNEXPECTED;

struct Scenario {
  std::string_view name;
  HRESULT (*run)(Session& session);
};
std::span<const Scenario> scenarios();

}  // namespace dimple::testing
