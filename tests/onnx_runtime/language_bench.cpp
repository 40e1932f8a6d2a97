// Runs a decoder of words with the sizes of a large model, and weights of random bits, through clients/onnx: a prompt,
// then a word at a time behind a cache that stays where it is.
//
//   language_bench [NAME=NUMBER].. [type=float|float16]
//
// Names are layers, heads, keyHeads, channels, inner, words, capacity, batch, prompt and steps. Without arguments it is
// a model of eight billion weights in FLOAT16. It prints the time of each run, what the memory holds, and the kernels
// that a step's time goes to.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <dimple.h>
#include <wrl/client.h>

#include "clients/onnx/constants.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"
#include "tests/driver.h"
#include "tests/onnx/language_model.h"

namespace dimple::testing {
namespace {

using onnx::cat;
using onnx::HostTensor;

struct BenchSizes {
  LanguageSizes model{32, 32, 8, 128, 14336, 128256, 1024, 1, onnx::Type::Float16};
  int64_t prompt = 128;
  int64_t steps = 64;
};

BenchSizes sizesOf(int argc, char** argv) {
  BenchSizes sizes;
  const std::map<std::string_view, int64_t*> names{
      {"layers", &sizes.model.layers},     {"heads", &sizes.model.heads},
      {"keyHeads", &sizes.model.keyHeads}, {"channels", &sizes.model.channels},
      {"inner", &sizes.model.inner},       {"words", &sizes.model.words},
      {"capacity", &sizes.model.capacity}, {"batch", &sizes.model.batch},
      {"prompt", &sizes.prompt},           {"steps", &sizes.steps}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const std::string value(equals == std::string_view::npos ? "" : argument.substr(equals + 1));
    if (name == "type" && (value == "float" || value == "float16"))
      sizes.model.type = value == "float" ? onnx::Type::Float : onnx::Type::Float16;
    else if (const auto found = names.find(name); found != names.end() && std::atoll(value.c_str()) > 0)
      *found->second = std::atoll(value.c_str());
    else
      throw std::runtime_error(cat("An argument is ", argument, ", expected a name, =, and a number above 0."));
  }
  if (sizes.prompt + sizes.steps > sizes.model.capacity)
    throw std::runtime_error(cat("The capacity is ", sizes.model.capacity, ", expected at least ",
                                 sizes.prompt + sizes.steps, " words of the prompt and the steps."));
  return sizes;
}

// Inputs come from the host; each past lies where its present is made.
class BenchCaller final : public onnx::Caller {
 public:
  BenchCaller(IDimpleContext& context, const LanguageSizes& sizes) : context_(context) {
    const HostTensor empty(sizes.type, sizes.cache());
    for (const auto& [past, present] : cachesOf(sizes)) {
      const onnx::BufferRange range{onnx::createBuffer(context, empty.bytes.size()), 0};
      onnx::upload(context, range, empty);
      ranges_[past] = ranges_[present] = range;
      infos_[past] = {empty.type, empty.sizes};
      cacheBytes += empty.bytes.size();
    }
  }

  onnx::InputInfos give(std::map<std::string, HostTensor> inputs) {
    inputs_ = std::move(inputs);
    onnx::InputInfos infos = infos_;
    for (const auto& [name, tensor] : inputs_) {
      infos[name] = {tensor.type, tensor.sizes};
      onnx::BufferRange& range = ranges_[name];
      if (!range.buffer || dimpleGetDesc(range.buffer.Get()).Width != onnx::deviceSize(infos[name]))
        range = {onnx::createBuffer(context_, onnx::deviceSize(infos[name])), 0};
      onnx::upload(context_, range, tensor);
    }
    return infos;
  }
  HostTensor result() { return onnx::download(context_, ranges_.at("logits"), logits_.type, logits_.sizes); }

  onnx::SharedTensor read(const std::string& input) override {
    return std::make_shared<const HostTensor>(inputs_.at(input));
  }
  onnx::BufferRange input(const std::string& name) override { return ranges_.at(name); }
  onnx::BufferRange output(const std::string& name, const onnx::TensorInfo& info) override {
    if (name == "logits" && logits_ != info) {
      logits_ = info;
      ranges_[name] = {onnx::createBuffer(context_, onnx::deviceSize(info)), 0};
    }
    return ranges_.at(name);
  }
  void constantOutput(const std::string&, const onnx::SharedTensor&) override {}
  bool isTimed() const override { return timed; }

  uint64_t cacheBytes = 0;
  bool timed = false;

 private:
  IDimpleContext& context_;
  std::map<std::string, HostTensor> inputs_;
  std::map<std::string, onnx::BufferRange> ranges_;
  onnx::InputInfos infos_;
  onnx::TensorInfo logits_;
};

double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The time of each kernel of the last run.
void printKernels(IDimpleContext& context) {
  std::map<std::string, std::pair<double, int>> kernels;
  const auto report = [](void* to, const char* kernel, double nanoseconds) {
    auto& [sum, count] = (*static_cast<std::map<std::string, std::pair<double, int>>*>(to))[kernel];
    sum += nanoseconds;
    ++count;
  };
  if (FAILED(context.ReadProfile(report, &kernels))) throw onnx::DeviceError(dimpleGetLastMessage());
  std::vector<std::pair<double, std::string>> sorted;
  double all = 0, copies = 0;
  for (const auto& [name, sum] : kernels) {
    sorted.emplace_back(sum.first, cat(name, " x ", sum.second));
    all += sum.first;
    if (name.find("copy") != std::string::npos) copies += sum.first;
  }
  std::sort(sorted.rbegin(), sorted.rend());
  std::printf("kernels of a step: %.3f ms, copies %.1f %%\n", all / 1e6, all > 0 ? 100 * copies / all : 0);
  for (const auto& [nanoseconds, name] : sorted) std::printf("  %8.3f ms  %s\n", nanoseconds / 1e6, name.c_str());
}

int runBench(const BenchSizes& sizes) {
  const double begin = now();
  onnx::Model model = languageModel(sizes.model).model();
  uint64_t weights = 0;
  for (const auto& [name, tensor] : model.initializers()) weights += tensor->bytes.size();
  std::printf("weights %.3f GB, made in %.1f s\n", static_cast<double>(weights) / 1e9, (now() - begin) / 1000);
  std::fflush(stdout);
  Microsoft::WRL::ComPtr<IDimpleContext> context;
  Microsoft::WRL::ComPtr<IDMLDevice> device;
  if (FAILED(dimpleCreateContext(nullptr, IID_PPV_ARGS(&context))) || FAILED(context->GetDevice(IID_PPV_ARGS(&device))))
    throw onnx::DeviceError(dimpleGetLastMessage());
  onnx::Constants constants(*context.Get(), *device.Get(), model, {});
  constants.prepare();
  BenchCaller caller(*context.Get(), sizes.model);
  std::printf("cache %.3f GB\n", static_cast<double>(caller.cacheBytes) / 1e9);

  std::vector<int64_t> words = promptOf(sizes.model, sizes.prompt);
  int64_t past = 0;
  // Milliseconds, with the logits on the host.
  const auto run = [&](std::unique_ptr<onnx::Program>& program) {
    const double first = now();
    const onnx::InputInfos infos = caller.give(languageInputs(sizes.model, words, past));
    if (!program || !program->fits(infos, caller))
      program = std::make_unique<onnx::Program>(*context.Get(), *device.Get(), model, onnx::SessionOptions{}, infos,
                                                &constants);
    program->run(caller);
    past += static_cast<int64_t>(words.size()) / sizes.model.batch;
    const HostTensor logits = caller.result();
    const double taken = now() - first;
    words = likeliest(logits);
    return taken;
  };
  std::unique_ptr<onnx::Program> prompt, step;
  std::printf("prompt of %lld words, first run: %.1f s\n", static_cast<long long>(sizes.prompt), run(prompt) / 1000);
  words = promptOf(sizes.model, sizes.prompt);
  past = 0;
  const double again = run(prompt);
  std::printf("prompt again: %.2f ms; memory of its program %.3f GB\n", again,
              static_cast<double>(prompt->deviceBytes()) / 1e9);
  std::printf("step, first run: %.1f s\n", run(step) / 1000);
  std::fflush(stdout);
  std::vector<double> times;
  for (int64_t i = 1; i + 1 < sizes.steps; ++i) times.push_back(run(step));
  std::sort(times.begin(), times.end());
  if (times.empty()) return 0;
  const double median = times[times.size() / 2];
  std::printf(
      "step: %.3f ms at least, %.3f in the middle, %.3f at most; weights and cache at %.0f GB/s; "
      "memory of its program %.3f GB\n",
      times.front(), median, times.back(), static_cast<double>(weights + caller.cacheBytes) / median / 1e6,
      static_cast<double>(step->deviceBytes()) / 1e9);
  if (FAILED(context->SetProfiling(TRUE))) return 0;
  caller.timed = true;
  run(step);
  printKernels(*context.Get());
  return 0;
}

}  // namespace
}  // namespace dimple::testing

int main(int argc, char** argv) {
  dimple::testing::chooseDriver();
  try {
    return dimple::testing::runBench(dimple::testing::sizesOf(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "language_bench: %s\n", error.what());
    return 1;
  }
}
