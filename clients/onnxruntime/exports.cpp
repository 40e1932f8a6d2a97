// What ONNX Runtime looks up in the library.
#include "clients/onnxruntime/factory.h"

extern "C" {

// Called by ONNX Runtime when the library is registered. The refusal of a runtime that is too old reaches the caller.
__attribute__((visibility("default"))) OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base,
                                                                    const OrtLogger*, OrtEpFactory** factories,
                                                                    size_t most, size_t* count) noexcept {
  *count = 0;
  try {
    dimple::ort::setRuntime(*base);
  } catch (const std::exception& error) {
    // Every interface begins with this function.
    return base->GetApi(1)->CreateStatus(ORT_FAIL, error.what());
  }
  return dimple::ort::guarded([&] {
    if (most == 0)
      throw dimple::ort::StatusError(ORT_INVALID_ARGUMENT, "max_factories has value (0), expected at least 1.");
    factories[0] = new dimple::ort::Factory();
    *count = 1;
  });
}

__attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) noexcept {
  delete static_cast<dimple::ort::Factory*>(factory);
  return nullptr;
}

}  // extern "C"
