// How long models take in ONNX Runtime with this project's provider, and with its WebGPU provider where the runtime has
// that one. Inputs and outputs stay on the device between runs.
//
//   DIMPLE_ONNXRUNTIME=LIBRARY onnxruntime_provider_bench FOLDER [RUNS [Dimple|WebGPU]]
//
// FOLDER is one that write_models made: FOLDER/NAME/model.onnx and an array INPUT.npy for each input. Where a provider
// is named only that one runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "clients/files/npy.h"
#include "clients/onnx/failure.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

namespace fs = std::filesystem;

const OrtApi& api() { return *ort::runtime().api; }

std::string readFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

onnx::Type typeOf(DML_TENSOR_DATA_TYPE type) {
  if (type == DML_TENSOR_DATA_TYPE_FLOAT64) return onnx::Type::Double;
  for (const onnx::Type known : {onnx::Type::Float, onnx::Type::Float16, onnx::Type::Int64, onnx::Type::Int32,
                                 onnx::Type::UInt8, onnx::Type::Int8})
    if (onnx::traits(known).device == type) return known;
  throw std::runtime_error("An array has a type that no model takes.");
}

Inputs readInputs(const fs::path& folder) {
  Inputs inputs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".npy") continue;
    const tool::NpyArray array = tool::readNpy(entry.path());
    onnx::HostTensor tensor(typeOf(array.type), {array.sizes.begin(), array.sizes.end()});
    std::ranges::copy(array.bytes, tensor.bytes.begin());
    inputs[entry.path().stem().string()] = std::move(tensor);
  }
  return inputs;
}

using Clock = std::chrono::steady_clock;
double milliseconds(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

constexpr std::chrono::milliseconds kWarmUp(500);

struct Times {
  double session = 0, first = 0, steady = 0;  // milliseconds
};

class Bench {
 public:
  Bench(const Host& host, const std::string& model, Engine engine)
      : start_(Clock::now()),
        session_(host.open(model, {.provider = {}, .engine = engine, .fallback = true})),
        binding_(api().ReleaseIoBinding),
        last_(api().ReleaseIoBinding),
        memory_(api().ReleaseMemoryInfo),
        deviceMemory_(&host.memory()) {
    times_.session = milliseconds(Clock::now() - start_);
    ort::check(api().CreateIoBinding(&session_.session(), binding_.put()));
    ort::check(api().CreateIoBinding(&session_.session(), last_.put()));
    if (engine != Engine::WebGpu) return;
    ort::check(api().CreateMemoryInfo("WebGPU_Buffer", OrtDeviceAllocator, 0, OrtMemTypeDefault, memory_.put()));
    deviceMemory_ = memory_.get();
  }

  Times time(const Inputs& inputs, int runs) {
    Owned<OrtMemoryInfo> cpu(api().ReleaseMemoryInfo);
    ort::check(api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, cpu.put()));
    bind(*binding_.get(), inputs, *deviceMemory_);
    bind(*last_.get(), inputs, *cpu.get());
    auto start = Clock::now();
    run(1);
    times_.first = milliseconds(Clock::now() - start);
    // An idle device runs at a sixth of its clock, and takes a while to raise it.
    for (const auto end = Clock::now() + kWarmUp; Clock::now() < end;) run(3);
    start = Clock::now();
    run(runs);
    times_.steady = milliseconds(Clock::now() - start) / runs;
    return times_;
  }

 private:
  void bind(OrtIoBinding& binding, const Inputs& inputs, const OrtMemoryInfo& memory) {
    std::vector<std::vector<std::byte>> memories(inputs.size());
    size_t index = 0;
    for (const auto& [name, tensor] : inputs) {
      const Owned<OrtValue> value = valueOf(tensor, memories[index++]);
      ort::check(api().BindInput(&binding, name.c_str(), value.get()));
    }
    for (const std::string& name : session_.outputs())
      ort::check(api().BindOutputToDevice(&binding, name.c_str(), &memory));
    ort::check(api().SynchronizeBoundInputs(&binding));
  }

  // Outputs in host memory make the last one wait for the device, whatever the provider.
  void run(int runs) {
    for (int i = 1; i < runs; ++i) ort::check(api().RunWithBinding(&session_.session(), nullptr, binding_.get()));
    ort::check(api().RunWithBinding(&session_.session(), nullptr, last_.get()));
  }

  const Clock::time_point start_;
  const HostSession session_;
  Owned<OrtIoBinding> binding_, last_;
  Owned<OrtMemoryInfo> memory_;  // of WebGPU
  const OrtMemoryInfo* deviceMemory_;
  Times times_;
};

void timeModel(const Host& host, const fs::path& folder, int runs, std::string_view only) {
  const std::string model = readFile(folder / "model.onnx");
  const Inputs inputs = readInputs(folder);
  for (const auto& [engine, name] : {std::pair(Engine::Dimple, "Dimple"), std::pair(Engine::WebGpu, "WebGPU")}) {
    if (!only.empty() && only != name) continue;
    try {
      const Times times = Bench(host, model, engine).time(inputs, runs);
      std::printf("%-12s %-7s session %8.1f ms, first run %8.1f ms, run %8.3f ms\n", folder.filename().c_str(), name,
                  times.session, times.first, times.steady);
    } catch (const std::exception& error) {
      std::printf("%-12s %-7s %s\n", folder.filename().c_str(), name, error.what());
    }
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace dimple::testing

int main(int count, char** arguments) {
  using namespace dimple::testing;
  if (count < 2) {
    std::fputs("usage: onnxruntime_provider_bench FOLDER [RUNS [Dimple|WebGPU]]\n", stderr);
    return 2;
  }
  try {
    const Host host;
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(arguments[1]))
      if (entry.is_directory()) folders.push_back(entry.path());
    std::ranges::sort(folders);
    for (const auto& folder : folders)
      timeModel(host, folder, count > 2 ? std::atoi(arguments[2]) : 50, count > 3 ? arguments[3] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
