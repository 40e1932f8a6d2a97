// Programs that run models in ONNX Runtime with this project's execution provider.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clients/onnx/session.h"
#include "clients/onnxruntime/runtime.h"

namespace dimple::testing {

// An object of ONNX Runtime.
template <class T>
class Owned {
 public:
  using Release = void(ORT_API_CALL*)(T*);
  explicit Owned(Release release) : release_(release) {}
  Owned(Owned&& other) noexcept : release_(other.release_), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (object_) release_(object_);
  }
  T* get() const { return object_; }
  T** put() { return &object_; }

 private:
  Release release_;
  T* object_ = nullptr;
};

using Inputs = std::map<std::string, onnx::HostTensor>;

// Who runs a session's nodes.
enum class Engine {
  Dimple,     // this project's provider
  Processor,  // ONNX Runtime's own, which is what nodes fall back to
  WebGpu,     // ONNX Runtime's provider, in libraries that have it compiled in
};

struct HostOptions {
  std::vector<std::pair<std::string, std::string>> provider = {};  // options of this project's provider
  std::vector<std::pair<std::string, std::string>> config = {};    // entries of the session's configuration
  Engine engine = Engine::Dimple;
  bool fallback = false;     // to ONNX Runtime's processor
  bool optimize = true;      // rewrites by ONNX Runtime
  std::string profile = {};  // what the name of ONNX Runtime's own profile begins with; empty: it makes none
};

// What ONNX Runtime answers but success. One that says that a node is not taken is a onnx::ModelError.
struct HostError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class HostSession;

// An environment with the provider registered. One at a time.
class Host {
 public:
  // The runtime of DIMPLE_ONNXRUNTIME, a path.
  Host();
  ~Host();
  Host(const Host&) = delete;

  OrtEnv& env() const { return *env_.get(); }
  const OrtEpDevice& device() const { return *device_; }
  // The device's memory, and what allocates there.
  const OrtMemoryInfo& memory() const;
  OrtAllocator& allocator(OrtDeviceMemoryType type = OrtDeviceMemoryType_DEFAULT) const;

  // A tensor in the device's memory. Its elements are undefined.
  Owned<OrtValue> makeOnDevice(onnx::Type type, const onnx::Sizes& sizes) const;
  // Likewise in memory of the host that the device copies from and to.
  Owned<OrtValue> makeForCopies(onnx::Type type, const onnx::Sizes& sizes) const;
  // On a stream, or waited for.
  void copy(const OrtValue& from, OrtValue& to, OrtSyncStream* stream = nullptr) const;
  // Between host and device.
  Owned<OrtValue> upload(const onnx::HostTensor& tensor) const;
  onnx::HostTensor download(const OrtValue& value) const;

  HostSession open(const std::string& model, const HostOptions& options = {}) const;

 private:
  Owned<OrtValue> make(OrtAllocator& allocator, onnx::Type type, const onnx::Sizes& sizes) const;

  Owned<OrtEnv> env_;
  const OrtEpDevice* device_ = nullptr;
};

class HostSession {
 public:
  HostSession(const Host& host, const std::string& model, const HostOptions& options);

  // Any thread may call it.
  std::vector<onnx::NamedTensor> run(const Inputs& inputs) const;
  OrtSession& session() const { return *session_.get(); }
  std::vector<std::string> outputs() const;
  // The operators that this project's provider runs, and those that others do, sorted.
  std::vector<std::string> taken() const { return operators(true); }
  std::vector<std::string> left() const { return operators(false); }

 private:
  std::vector<std::string> operators(bool ours) const;

  Owned<OrtSession> session_;
};

// Throws HostError, or ModelError, for what is no success, and releases it.
void checkHost(OrtStatus* status);

// What a call answers but success; empty: it succeeds.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Why no session can be made of a model; empty: it can.
std::string refusalOf(const Host& host, const std::string& model, const HostOptions& options = {});

// `memory` keeps the values.
Owned<OrtValue> valueOf(const onnx::HostTensor& tensor, std::vector<std::byte>& memory);

}  // namespace dimple::testing
