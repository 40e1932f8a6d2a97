// A program that runs a model in ONNX Runtime with the provider, and knows nothing of this project: it may meet drivers
// whose calls fail, and what it loads is gone when it is unloaded.
//
//   provider_worker LIBRARY MODEL TIMES
//
// Each time it loads the provider LIBRARY into the ONNX Runtime that DIMPLE_ONNXRUNTIME names, opens MODEL, whose input
// "x" has two elements, gives it 1 and 2 twice, and unloads everything. It prints what "y" is, and in the middle and at
// the end how many KiB and how many files the process holds. An error is printed, and ends it with status 1. Before
// it tries again: after an error of a run the session that it has ("again: " and what "y" is then, or why there is
// none), and then a new one ("anew: ").
#include <dlfcn.h>
#include <malloc.h>
#include <onnxruntime_c_api.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

const OrtApi* api = nullptr;

void check(OrtStatus* status) {
  if (!status) return;
  const std::string text = api->GetErrorMessage(status);
  api->ReleaseStatus(status);
  throw std::runtime_error(text);
}

template <class T>
using Owned = std::unique_ptr<T, void(ORT_API_CALL*)(T*)>;

// What `make` makes.
template <class T, class Make>
Owned<T> own(void(ORT_API_CALL* release)(T*), Make make) {
  T* object = nullptr;
  check(make(&object));
  return {object, release};
}

void loadRuntime() {
  const char* path = std::getenv("DIMPLE_ONNXRUNTIME");
  void* library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) throw std::runtime_error("DIMPLE_ONNXRUNTIME names no library.");
  const OrtApiBase& base = *reinterpret_cast<decltype(&OrtGetApiBase)>(dlsym(library, "OrtGetApiBase"))();
  api = base.GetApi(24);
  if (!api) throw std::runtime_error("ONNX Runtime is too old.");
}

Owned<OrtEnv> makeEnvironment() {
  OrtKeyValuePairs* made = nullptr;
  api->CreateKeyValuePairs(&made);
  const Owned<OrtKeyValuePairs> pairs(made, api->ReleaseKeyValuePairs);
  api->AddKeyValuePair(made, "ep_factory.DimpleExecutionProvider.cpu_drivers", "1");
  OrtEnvCreationOptions options{};
  options.version = 24;
  options.logging_severity_level = ORT_LOGGING_LEVEL_FATAL;
  options.log_id = "worker";
  options.config_entries = made;
  return own(api->ReleaseEnv, [&](OrtEnv** env) { return api->CreateEnvWithOptions(&options, env); });
}

// The provider, as long as the object lives.
class Registration {
 public:
  Registration(OrtEnv& env, const char* library) : env_(env) {
    check(api->RegisterExecutionProviderLibrary(&env_, "dimple", library));
  }
  ~Registration() {
    if (OrtStatus* status = api->UnregisterExecutionProviderLibrary(&env_, "dimple")) {
      std::printf("It is not unloaded: %s\n", api->GetErrorMessage(status));
      api->ReleaseStatus(status);
    }
  }
  Registration(const Registration&) = delete;

  const OrtEpDevice& device() const {
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    check(api->GetEpDevices(&env_, &devices, &count));
    for (size_t i = 0; i < count; ++i)
      if (std::strcmp(api->EpDevice_EpName(devices[i]), "DimpleExecutionProvider") == 0) return *devices[i];
    throw std::runtime_error("The provider has no device.");
  }

 private:
  OrtEnv& env_;
};

Owned<OrtSession> openSession(OrtEnv& env, const OrtEpDevice& device, const char* model) {
  const auto settings =
      own(api->ReleaseSessionOptions, [](OrtSessionOptions** made) { return api->CreateSessionOptions(made); });
  const OrtEpDevice* const devices[] = {&device};
  const char* const key = "pipeline_cache";
  const char* const value = "none";
  check(api->SessionOptionsAppendExecutionProvider_V2(settings.get(), &env, devices, 1, &key, &value, 1));
  check(api->AddSessionConfigEntry(settings.get(), "session.disable_cpu_ep_fallback", "1"));
  return own(api->ReleaseSession,
             [&](OrtSession** made) { return api->CreateSession(&env, model, settings.get(), made); });
}

// Where "y" has two elements.
std::string run(OrtSession& session) {
  const auto memory = own(api->ReleaseMemoryInfo, [](OrtMemoryInfo** made) {
    return api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, made);
  });
  float numbers[] = {1, 2};
  const int64_t size = 2;
  const auto x = own(api->ReleaseValue, [&](OrtValue** made) {
    return api->CreateTensorWithDataAsOrtValue(memory.get(), numbers, sizeof numbers, &size, 1,
                                               ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, made);
  });
  const char* const input = "x";
  const char* const output = "y";
  const OrtValue* const given = x.get();
  const auto y = own(api->ReleaseValue,
                     [&](OrtValue** made) { return api->Run(&session, nullptr, &input, &given, 1, &output, 1, made); });
  void* data = nullptr;
  check(api->GetTensorMutableData(y.get(), &data));
  char text[64];
  std::snprintf(text, sizeof text, "y: %g %g", static_cast<float*>(data)[0], static_cast<float*>(data)[1]);
  return text;
}

template <class Run>
void tryAgain(const char* word, Run runSession) {
  try {
    std::printf("%s: %s\n", word, runSession().c_str());
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", word, error.what());
  }
}

void loadAndRun(const char* library, const char* model, bool print) {
  const Owned<OrtEnv> env = makeEnvironment();
  const Registration provider(*env, library);
  const auto open = [&] { return openSession(*env, provider.device(), model); };
  std::unique_ptr<Owned<OrtSession>> session;
  try {
    session = std::make_unique<Owned<OrtSession>>(open());
    run(**session);
    const std::string result = run(**session);
    if (print) std::printf("%s\n", result.c_str());
  } catch (...) {
    if (session) tryAgain("again", [&] { return run(**session); });
    session.reset();
    tryAgain("anew", [&] { return run(*open()); });
    throw;
  }
}

size_t residentKiB() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) >> 10;
}

long openFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  try {
    loadRuntime();
    const int times = std::atoi(arguments[3]);
    for (int i = 1; i <= times; ++i) {
      loadAndRun(arguments[1], arguments[2], i == times);
      if (i == times / 2 || i == times) std::printf("KiB: %zu\nfiles: %ld\n", residentKiB(), openFiles());
    }
    if (dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD)) std::printf("The provider is still loaded.\n");
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
  return 0;
}
