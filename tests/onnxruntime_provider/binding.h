#pragma once

#include <vector>

#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {

// What a run is given, and where its results are to be.
class Binding {
 public:
  Binding(const Host& host, const HostSession& session)
      : host_(host), session_(session), binding_(api().ReleaseIoBinding) {
    checkHost(api().CreateIoBinding(&session.session(), binding_.put()));
  }

  void input(const char* name, const OrtValue& value) { checkHost(api().BindInput(binding_.get(), name, &value)); }
  void output(const char* name, const OrtValue& value) { checkHost(api().BindOutput(binding_.get(), name, &value)); }
  // In memory of the device that the run allocates.
  void output(const char* name) { checkHost(api().BindOutputToDevice(binding_.get(), name, &host_.memory())); }
  void run() const { checkHost(api().RunWithBinding(&session_.session(), nullptr, binding_.get())); }

  std::vector<Owned<OrtValue>> results() const {
    OrtAllocator* allocator = nullptr;
    checkHost(api().GetAllocatorWithDefaultOptions(&allocator));
    OrtValue** values = nullptr;
    size_t count = 0;
    checkHost(api().GetBoundOutputValues(binding_.get(), allocator, &values, &count));
    std::vector<Owned<OrtValue>> all;
    for (size_t i = 0; i < count; ++i) {
      all.emplace_back(api().ReleaseValue);
      *all.back().put() = values[i];
    }
    if (values) checkHost(api().AllocatorFree(allocator, values));
    return all;
  }

 private:
  static const OrtApi& api() { return *ort::runtime().api; }

  const Host& host_;
  const HostSession& session_;
  Owned<OrtIoBinding> binding_;
};

}  // namespace dimple::testing
