#include "tests/onnxruntime_provider/host.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "clients/onnx/failure.h"
#include "clients/onnxruntime/elements.h"
#include "clients/onnxruntime/graph_reader.h"
#include "clients/onnxruntime/provider.h"
#include "core/text.h"

namespace dimple::testing {
namespace {

constexpr const char* kRegistration = "dimple";

const OrtApi& api() { return *ort::runtime().api; }

// The name of its WebGPU provider in ONNX Runtime.
constexpr const char* kWebGpu = "WebGPU";

void check(OrtStatus* status) { checkHost(status); }

const OrtApiBase& loadRuntime() {
  const char* path = std::getenv("DIMPLE_ONNXRUNTIME");
  if (!path || !*path) throw HostError("DIMPLE_ONNXRUNTIME names no library.");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw HostError(dlerror());
  const auto get = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  if (!get) throw HostError(cat(path, " has no function OrtGetApiBase."));
  return *get();
}

void load() {
  static const OrtApiBase& base = loadRuntime();
  if (!ort::runtime().api) ort::setRuntime(base);
}

}  // namespace

void checkHost(OrtStatus* status) {
  if (!status) return;
  const OrtErrorCode code = api().GetErrorCode(status);
  const std::string text = api().GetErrorMessage(status);
  api().ReleaseStatus(status);
  if (code == ORT_NOT_IMPLEMENTED || text.find("fallback to CPU EP has been explicitly disabled") != text.npos)
    throw onnx::ModelError(text);
  throw HostError(text);
}

Host::Host()
    : env_([] {
        load();
        return api().ReleaseEnv;
      }()) {
  OrtKeyValuePairs* pairs = nullptr;
  api().CreateKeyValuePairs(&pairs);
  api().AddKeyValuePair(pairs, "ep_factory.DimpleExecutionProvider.cpu_drivers", "1");
  OrtEnvCreationOptions options{};
  options.version = ort::kLeastApiVersion;
  options.logging_severity_level = ORT_LOGGING_LEVEL_FATAL;
  options.log_id = "tests";
  options.config_entries = pairs;
  OrtStatus* status = api().CreateEnvWithOptions(&options, env_.put());
  api().ReleaseKeyValuePairs(pairs);
  check(status);
  check(api().RegisterExecutionProviderLibrary(env_.get(), kRegistration, DIMPLE_ONNXRUNTIME_PROVIDER));
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  check(api().GetEpDevices(env_.get(), &devices, &count));
  const auto ours = std::find_if(devices, devices + count, [](const OrtEpDevice* device) {
    return std::strcmp(api().EpDevice_EpName(device), ort::kProviderName) == 0;
  });
  if (ours == devices + count) throw HostError("The provider has no device.");
  device_ = *ours;
}

Host::~Host() {
  if (OrtStatus* status = api().UnregisterExecutionProviderLibrary(env_.get(), kRegistration))
    api().ReleaseStatus(status);
}

const OrtMemoryInfo& Host::memory() const { return *api().EpDevice_MemoryInfo(device_, OrtDeviceMemoryType_DEFAULT); }

OrtAllocator& Host::allocator(OrtDeviceMemoryType type) const {
  const OrtMemoryInfo* info = api().EpDevice_MemoryInfo(device_, type);
  if (!info) throw HostError("The device has no such memory.");
  OrtAllocator* allocator = nullptr;
  check(api().GetSharedAllocator(env_.get(), info, &allocator));
  if (!allocator) throw HostError("There is no allocator for the device.");
  return *allocator;
}

Owned<OrtValue> Host::make(OrtAllocator& allocator, onnx::Type type, const onnx::Sizes& sizes) const {
  Owned<OrtValue> value(api().ReleaseValue);
  check(api().CreateTensorAsOrtValue(&allocator, sizes.data(), sizes.size(),
                                     static_cast<ONNXTensorElementDataType>(type), value.put()));
  return value;
}

Owned<OrtValue> Host::makeOnDevice(onnx::Type type, const onnx::Sizes& sizes) const {
  return make(allocator(), type, sizes);
}

Owned<OrtValue> Host::makeForCopies(onnx::Type type, const onnx::Sizes& sizes) const {
  return make(allocator(OrtDeviceMemoryType_HOST_ACCESSIBLE), type, sizes);
}

void Host::copy(const OrtValue& from, OrtValue& to, OrtSyncStream* stream) const {
  const OrtValue* const source = &from;
  OrtValue* const target = &to;
  check(api().CopyTensors(env_.get(), &source, &target, stream, 1));
}

Owned<OrtValue> Host::upload(const onnx::HostTensor& tensor) const {
  std::vector<std::byte> bytes;
  const Owned<OrtValue> source = valueOf(tensor, bytes);
  Owned<OrtValue> target = makeOnDevice(tensor.type, tensor.sizes);
  copy(*source.get(), *target.get());
  return target;
}

onnx::HostTensor Host::download(const OrtValue& value) const {
  std::vector<std::byte> bytes;
  const onnx::TensorInfo info = ort::describeTensor(value);
  const Owned<OrtValue> target = valueOf({info.type, info.sizes}, bytes);
  copy(value, *target.get());
  return *ort::readTensor(*target.get());
}

HostSession Host::open(const std::string& model, const HostOptions& options) const {
  return HostSession(*this, model, options);
}

namespace {

void appendEngine(const Host& host, const HostOptions& options, OrtSessionOptions& settings) {
  if (options.engine == Engine::Processor) return;
  if (options.engine == Engine::WebGpu) {
    check(api().SessionOptionsAppendExecutionProvider(&settings, kWebGpu, nullptr, nullptr, 0));
    return;
  }
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options.provider) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const OrtEpDevice* const devices[] = {&host.device()};
  check(api().SessionOptionsAppendExecutionProvider_V2(&settings, &host.env(), devices, 1, keys.data(), values.data(),
                                                       keys.size()));
}

}  // namespace

HostSession::HostSession(const Host& host, const std::string& model, const HostOptions& options)
    : session_(api().ReleaseSession) {
  Owned<OrtSessionOptions> settings(api().ReleaseSessionOptions);
  check(api().CreateSessionOptions(settings.put()));
  appendEngine(host, options, *settings.get());
  if (!options.fallback && options.engine != Engine::Processor)
    check(api().AddSessionConfigEntry(settings.get(), "session.disable_cpu_ep_fallback", "1"));
  check(api().AddSessionConfigEntry(settings.get(), "session.record_ep_graph_assignment_info", "1"));
  // Else sums of 8-bit products saturate on processors without instructions for them.
  check(api().AddSessionConfigEntry(settings.get(), "session.x64quantprecision", "1"));
  for (const auto& [key, value] : options.config)
    check(api().AddSessionConfigEntry(settings.get(), key.c_str(), value.c_str()));
  if (!options.profile.empty()) check(api().EnableProfiling(settings.get(), options.profile.c_str()));
  if (!options.optimize) check(api().SetSessionGraphOptimizationLevel(settings.get(), ORT_DISABLE_ALL));
  check(api().CreateSessionFromArray(&host.env(), model.data(), model.size(), settings.get(), session_.put()));
}

std::string refusalOf(const Host& host, const std::string& model, const HostOptions& options) {
  try {
    static_cast<void>(host.open(model, options));
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

Owned<OrtValue> valueOf(const onnx::HostTensor& tensor, std::vector<std::byte>& memory) {
  Owned<OrtMemoryInfo> info(api().ReleaseMemoryInfo);
  check(api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, info.put()));
  memory = ort::memoryBytes(tensor);
  Owned<OrtValue> value(api().ReleaseValue);
  check(api().CreateTensorWithDataAsOrtValue(info.get(), memory.data(), memory.size(), tensor.sizes.data(),
                                             tensor.sizes.size(), static_cast<ONNXTensorElementDataType>(tensor.type),
                                             value.put()));
  return value;
}

std::vector<std::string> HostSession::outputs() const {
  OrtAllocator* allocator = nullptr;
  check(api().GetAllocatorWithDefaultOptions(&allocator));
  size_t count = 0;
  check(api().SessionGetOutputCount(session_.get(), &count));
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    check(api().SessionGetOutputName(session_.get(), i, allocator, &name));
    names.emplace_back(name);
    check(api().AllocatorFree(allocator, name));
  }
  return names;
}

std::vector<onnx::NamedTensor> HostSession::run(const Inputs& inputs) const {
  std::vector<std::vector<std::byte>> memories(inputs.size());
  std::vector<Owned<OrtValue>> values;
  std::vector<const char*> inputNames, wanted;
  std::vector<const OrtValue*> given;
  for (const auto& [name, tensor] : inputs) {
    values.push_back(valueOf(tensor, memories[values.size()]));
    inputNames.push_back(name.c_str());
    given.push_back(values.back().get());
  }
  const std::vector<std::string> names = outputs();
  for (const std::string& name : names) wanted.push_back(name.c_str());
  std::vector<OrtValue*> made(names.size());
  check(api().Run(session_.get(), nullptr, inputNames.data(), given.data(), given.size(), wanted.data(), names.size(),
                  made.data()));
  std::vector<onnx::NamedTensor> results;
  for (size_t i = 0; i < names.size(); ++i) {
    Owned<OrtValue> value(api().ReleaseValue);
    *value.put() = made[i];
    results.push_back({names[i], *ort::readTensor(*value.get())});
  }
  return results;
}

std::vector<std::string> HostSession::operators(bool ours) const {
  const OrtEpAssignedSubgraph* const* graphs = nullptr;
  size_t count = 0;
  check(api().Session_GetEpGraphAssignmentInfo(session_.get(), &graphs, &count));
  std::vector<std::string> operators;
  for (size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    check(api().EpAssignedSubgraph_GetEpName(graphs[i], &name));
    if ((std::strcmp(name, ort::kProviderName) == 0) != ours) continue;
    const OrtEpAssignedNode* const* nodes = nullptr;
    size_t nodeCount = 0;
    check(api().EpAssignedSubgraph_GetNodes(graphs[i], &nodes, &nodeCount));
    for (size_t n = 0; n < nodeCount; ++n) {
      const char* type = nullptr;
      check(api().EpAssignedNode_GetOperatorType(nodes[n], &type));
      operators.emplace_back(type);
    }
  }
  std::ranges::sort(operators);
  return operators;
}

}  // namespace dimple::testing
