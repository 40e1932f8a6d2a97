#include "clients/onnxruntime/runtime.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <string_view>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::ort {

using onnx::cat;

namespace {

Runtime theRuntime;

// N of "1.N.2"; interfaces of other major versions are unknown.
uint32_t apiVersionOf(std::string_view version) {
  uint32_t minor = 0;
  if (version.starts_with("1.")) std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor;
}

}  // namespace

const Runtime& runtime() { return theRuntime; }

void setRuntime(const OrtApiBase& base) {
  const char* version = base.GetVersionString();
  const uint32_t there = apiVersionOf(version);
  if (there < kLeastApiVersion)
    throw StatusError(ORT_FAIL, cat("Dimple's execution provider needs ONNX Runtime 1.", kLeastApiVersion,
                                    " or newer, and this is ", version, "."));
  const uint32_t known = std::min<uint32_t>(there, ORT_API_VERSION);
  const OrtApi* api = base.GetApi(known);
  if (!api) throw StatusError(ORT_FAIL, cat("ONNX Runtime ", version, " does not have the interface of its version."));
  theRuntime = {api, api->GetEpApi(), known};
}

void check(OrtStatus* status) {
  if (!status) return;
  const OrtApi& api = *runtime().api;
  const StatusError error(api.GetErrorCode(status), api.GetErrorMessage(status));
  api.ReleaseStatus(status);
  throw error;
}

OrtStatus* statusOfException() noexcept {
  const OrtApi& api = *runtime().api;
  try {
    throw;
  } catch (const StatusError& error) {
    return api.CreateStatus(error.code, error.what());
  } catch (const onnx::ModelError& error) {
    return api.CreateStatus(ORT_NOT_IMPLEMENTED, error.what());
  } catch (const onnx::DeviceError& error) {
    return api.CreateStatus(ORT_EP_FAIL, error.what());
  } catch (const std::bad_alloc&) {
    return api.CreateStatus(ORT_EP_FAIL, "Dimple's execution provider has no memory.");
  } catch (const std::exception& error) {
    return api.CreateStatus(ORT_EP_FAIL, error.what());
  } catch (...) {
    return api.CreateStatus(ORT_EP_FAIL, "Dimple's execution provider failed.");
  }
}

}  // namespace dimple::ort
