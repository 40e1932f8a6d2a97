// Runs a decoder of words with the sizes of a large model, and weights of random bits, through clients/onnx: a prompt,
// then a word at a time behind a cache that stays where it is.
//
//   language_bench [NAME=NUMBER].. [type=float|float16]
//
// Names are layers, heads, keyHeads, channels, inner, words, capacity, batch, prompt, context (the words before the
// last step) and steps. Without arguments it is a model of eight billion weights in FLOAT16. It prints what the memory
// holds, the time of each run beside that of copies and of a product of FLOAT16 on the same device, and the kernels
// that the time goes to. Its phases are told on stderr.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <dimple.h>
#include <wrl/client.h>

#include "clients/onnx/constants.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/text.h"
#include "tests/driver.h"
#include "tests/onnx/language_model.h"

namespace dimple::testing {
namespace {

using onnx::cat;
using onnx::HostTensor;

struct BenchSizes {
  LanguageSizes model{32, 32, 8, 128, 14336, 128256, 1024, 1, onnx::Type::Float16};
  int64_t prompt = 512;
  int64_t context = 1024;
  int64_t steps = 64;
};

BenchSizes sizesOf(int argc, char** argv) {
  BenchSizes sizes;
  const std::map<std::string_view, int64_t*> names{
      {"layers", &sizes.model.layers},     {"heads", &sizes.model.heads}, {"keyHeads", &sizes.model.keyHeads},
      {"channels", &sizes.model.channels}, {"inner", &sizes.model.inner}, {"words", &sizes.model.words},
      {"capacity", &sizes.model.capacity}, {"batch", &sizes.model.batch}, {"prompt", &sizes.prompt},
      {"context", &sizes.context},         {"steps", &sizes.steps}};
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
  if (std::max(sizes.prompt, sizes.context) > sizes.model.capacity || sizes.steps > sizes.context)
    throw std::runtime_error(cat("The capacity is ", sizes.model.capacity, ", expected at least ",
                                 std::max({sizes.prompt, sizes.context, sizes.steps}),
                                 " words of the prompt and of the context, in which the steps lie."));
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
  // The logits are made elsewhere from now on, so that a run is recorded anew.
  void moveLogits() { ranges_["logits"] = {onnx::createBuffer(context_, onnx::deviceSize(logits_)), 0}; }
  void wait() { static_cast<void>(onnx::download(context_, ranges_.at("logits"), onnx::Type::Float, {1})); }
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

double middleOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double giga(uint64_t count) { return static_cast<double>(count) / 1e9; }

// The time of each kernel since the last call, and how often it ran.
using Kernels = std::map<std::string, std::pair<double, int>>;

Kernels readKernels(IDimpleContext& context) {
  Kernels kernels;
  const auto report = [](void* to, const char* kernel, double nanoseconds) {
    auto& [sum, count] = (*static_cast<Kernels*>(to))[kernel];
    sum += nanoseconds;
    ++count;
  };
  if (FAILED(context.ReadProfile(report, &kernels))) throw onnx::DeviceError(dimpleGetLastMessage());
  return kernels;
}

// The sum of all, in milliseconds.
double printKernels(const Kernels& kernels, const char* of) {
  std::vector<std::pair<double, std::string>> sorted;
  double all = 0, copies = 0;
  int count = 0;
  for (const auto& [name, sum] : kernels) {
    sorted.emplace_back(sum.first, cat(name, " x ", sum.second));
    all += sum.first;
    count += sum.second;
    if (name.find("copy") != std::string::npos) copies += sum.first;
  }
  std::sort(sorted.rbegin(), sorted.rend());
  std::printf("kernels of %s: %d in %.3f ms, copies %.1f %%\n", of, count, all / 1e6, all > 0 ? 100 * copies / all : 0);
  for (const auto& [nanoseconds, name] : sorted) std::printf("  %8.3f ms  %s\n", nanoseconds / 1e6, name.c_str());
  std::fflush(stdout);
  return all / 1e6;
}

// Of a run with one input x and one output y.
class PlainCaller final : public onnx::Caller {
 public:
  PlainCaller(IDimpleContext& context, const HostTensor& x) : context_(context) {
    ranges_["x"] = {onnx::createBuffer(context, onnx::deviceSize({x.type, x.sizes})), 0};
    onnx::upload(context, ranges_["x"], x);
  }
  onnx::SharedTensor read(const std::string&) override { return nullptr; }
  onnx::BufferRange input(const std::string& name) override { return ranges_.at(name); }
  onnx::BufferRange output(const std::string& name, const onnx::TensorInfo& info) override {
    onnx::BufferRange& range = ranges_[name];
    if (!range.buffer) range = {onnx::createBuffer(context_, onnx::deviceSize(info)), 0};
    return range;
  }
  void constantOutput(const std::string&, const onnx::SharedTensor&) override {}
  bool isTimed() const override { return true; }
  void wait() { static_cast<void>(onnx::download(context_, ranges_.at("y"), onnx::Type::Float, {1})); }

 private:
  IDimpleContext& context_;
  std::map<std::string, onnx::BufferRange> ranges_;
};

class LanguageBench {
 public:
  explicit LanguageBench(const BenchSizes& sizes) : sizes_(sizes) {}

  void run() {
    tell("making weights");
    model_.emplace(largeLanguageModel(sizes_.model));
    if (FAILED(dimpleCreateContext(nullptr, IID_PPV_ARGS(&context_))) ||
        FAILED(context_->GetDevice(IID_PPV_ARGS(&device_))))
      throw onnx::DeviceError(dimpleGetLastMessage());
    uploadWeights();
    caller_.emplace(*context_.Get(), sizes_.model);
    std::printf("cache %.3f GB\n", giga(caller_->cacheBytes));
    std::fflush(stdout);
    measureCopy();
    measureProduct();
    runPrompt();
    runSteps();
  }

 private:
  void tell(const std::string& phase) const {
    std::fprintf(stderr, "[%6.1f s] %s\n", (now() - begin_) / 1000, phase.c_str());
  }

  void uploadWeights() {
    for (const onnx::Node& node : model_->nodes())
      if (node.opType == "MatMulNBits") {
        for (size_t i = 1; i < node.inputs.size(); ++i) {
          const HostTensor& tensor = *model_->initializers().at(node.inputs[i]);
          weightBytes_ += tensor.bytes.size();
          if (i == 1) weights_ += 2 * tensor.bytes.size();
        }
      }
    constants_.emplace(*context_.Get(), *device_.Get(), *model_, onnx::SessionOptions{});
    constants_->prepare();
    tell("uploading weights");
    const double first = now();
    std::vector<std::string> large;
    uint64_t all = 0;
    for (const auto& [name, constant] : constants_->all())
      if (onnx::elementCount(constant.info.sizes) > onnx::kMaxFoldedElements) {
        large.push_back(name);
        all += onnx::deviceSize(constant.info);
      }
    for (const std::string& name : large) constants_->buffer(name);
    std::printf("weights %.3f GB, %.3f of them in products, uploaded in %.1f s\n", giga(all), giga(weightBytes_),
                (now() - first) / 1000);
    std::fflush(stdout);
  }

  // The time of a model's kernels, with one input x and one output y, in milliseconds.
  double timeKernels(const onnx::Model& model, const HostTensor& x) {
    PlainCaller caller(*context_.Get(), x);
    onnx::Program program(*context_.Get(), *device_.Get(), model, {}, {{"x", {x.type, x.sizes}}});
    setProfiling(true);
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
      program.run(caller);
      caller.wait();
      double all = 0;
      for (const auto& [name, sum] : readKernels(*context_.Get())) all += sum.first;
      if (i > 1) times.push_back(all / 1e6);
    }
    setProfiling(false);
    return middleOf(times);
  }

  // Of memory that no cache holds.
  void measureCopy() {
    tell("copying");
    const HostTensor nothing(onnx::Type::Float, {sizes_.model.layers > 1 ? int64_t{1} << 27 : int64_t{1} << 22});
    ModelMaker maker;
    maker.input("x", onnx::Type::Float, nothing.sizes);
    maker.node("Identity", {"x"}, {"y"});
    maker.output("y");
    copySpeed_ = 2 * giga(nothing.bytes.size()) / timeKernels(maker.model(), nothing) * 1000;
    std::printf("copies read and write %.0f GB/s\n", copySpeed_);
    std::fflush(stdout);
  }

  // The product of the prompt's rows with a gate's weights in FLOAT16.
  void measureProduct() {
    tell("multiplying");
    const int64_t depth = sizes_.model.width(), columns = sizes_.model.inner;
    ModelMaker maker;
    maker.input("x", onnx::Type::Float16, {sizes_.prompt, depth});
    maker.node("MatMul", {"x", "w"}, {"y"});
    maker.output("y");
    onnx::ModelDescription description = onnx::describe(maker.proto(), {});
    description.graph.initializers["w"] =
        std::make_shared<const HostTensor>(onnx::Type::Float16, onnx::Sizes{depth, columns});
    const double taken =
        timeKernels(onnx::Model(std::move(description)), HostTensor(onnx::Type::Float16, {sizes_.prompt, depth}));
    productSpeed_ = 2e-9 * static_cast<double>(sizes_.prompt * depth * columns) / taken;
    std::printf("product of %lld x %lld x %lld FLOAT16: %.3f ms, %.1f TFLOP/s\n", static_cast<long long>(sizes_.prompt),
                static_cast<long long>(depth), static_cast<long long>(columns), taken, productSpeed_);
    std::fflush(stdout);
  }

  void setProfiling(bool enabled) {
    if (FAILED(context_->SetProfiling(enabled ? TRUE : FALSE))) throw onnx::DeviceError(dimpleGetLastMessage());
  }

  // Milliseconds until the logits are made, and those that inputs and logits take between host and device.
  struct Taken {
    double run = 0, inputs = 0, logits = 0;
  };

  Taken timeRun(std::unique_ptr<onnx::Program>& program) {
    const double first = now();
    const onnx::InputInfos infos = caller_->give(languageInputs(sizes_.model, words_, past_));
    const double given = now();
    if (!program || !program->fits(infos, *caller_))
      program = std::make_unique<onnx::Program>(*context_.Get(), *device_.Get(), *model_, onnx::SessionOptions{}, infos,
                                                &*constants_);
    program->run(*caller_);
    past_ += static_cast<int64_t>(words_.size()) / sizes_.model.batch;
    caller_->wait();
    const double done = now();
    const HostTensor logits = caller_->result();
    const Taken taken{done - given, given - first, now() - done};
    words_ = likeliest(logits);
    return taken;
  }

  Taken timePrompt() {
    words_ = promptOf(sizes_.model, sizes_.prompt);
    past_ = 0;
    return timeRun(prompt_);
  }

  void runPrompt() {
    tell("prompt");
    std::printf("prompt of %lld words, first run: %.2f s\n", static_cast<long long>(sizes_.prompt),
                timePrompt().run / 1000);
    std::fflush(stdout);
    std::vector<double> times, logits;
    for (int i = 0; i < 5; ++i) {
      const Taken taken = timePrompt();
      times.push_back(taken.run);
      logits.push_back(taken.logits);
    }
    const double operations = 2 * static_cast<double>(weights_) * static_cast<double>(sizes_.prompt);
    std::printf("prompt again: %.2f ms, and %.2f to download its logits; memory of its program %.3f GB\n",
                middleOf(times), middleOf(logits), giga(prompt_->deviceBytes()));
    setProfiling(true);
    caller_->timed = true;
    timePrompt();
    const double kernels = printKernels(readKernels(*context_.Get()), "a prompt");
    caller_->timed = false;
    setProfiling(false);
    std::printf("products of a prompt take %.3f TFLOP, which is %.1f TFLOP/s or %.0f %% of the product's speed\n",
                operations / 1e12, operations / kernels / 1e9, 100 * operations / kernels / 1e9 / productSpeed_);
    std::fflush(stdout);
  }

  void runSteps() {
    tell("steps");
    // Words between the prompt and the steps are zeros.
    past_ = sizes_.context - sizes_.steps;
    std::printf("step, first run: %.2f s\n", timeRun(step_).run / 1000);
    std::fflush(stdout);
    std::vector<double> times, whole;
    while (past_ + 1 < sizes_.context) {
      const Taken taken = timeRun(step_);
      times.push_back(taken.run);
      whole.push_back(taken.run + taken.inputs + taken.logits);
    }
    if (times.empty()) return;
    const uint64_t words = static_cast<uint64_t>(sizes_.context);
    const uint64_t cache = caller_->cacheBytes / static_cast<uint64_t>(sizes_.model.capacity) * words;
    std::printf("step at %llu words: %.3f ms, %.3f with inputs and logits; memory of its program %.3f GB\n",
                static_cast<unsigned long long>(words), middleOf(times), middleOf(whole), giga(step_->deviceBytes()));
    measureRecording();
    setProfiling(true);
    caller_->timed = true;
    past_ = sizes_.context - 1;
    timeRun(step_);
    const double kernels = printKernels(readKernels(*context_.Get()), "a step");
    const auto printShare = [&](const char* of, double milliseconds) {
      const double speed = giga(weightBytes_ + cache) / milliseconds * 1000;
      std::printf("%s: %.3f ms, weights and cache of %.3f GB at %.0f GB/s, %.0f %% of a copy's speed\n", of,
                  milliseconds, giga(weightBytes_ + cache), speed, 100 * speed / copySpeed_);
    };
    printShare("a step's kernels", kernels);
    printShare("a step", middleOf(times));
  }

  // What the host takes to bind, record and submit a step: into lists and heaps that are made for it, and into those of
  // another step, since a program keeps some; and to submit it again.
  void measureRecording() {
    std::vector<double> made, recorded, again;
    for (int i = 0; i < 12; ++i) {
      caller_->moveLogits();
      for (std::vector<double>* times : {i < 3 ? &made : &recorded, &again}) {
        const double first = now();
        step_->run(*caller_);
        times->push_back(now() - first);
        caller_->wait();
      }
    }
    std::printf(
        "host: %.3f ms to bind, record and submit a step first, %.3f with other buffers, %.3f to submit it again\n",
        middleOf(made), middleOf(recorded), middleOf(again));
    std::fflush(stdout);
  }

  const BenchSizes sizes_;
  const double begin_ = now();
  Microsoft::WRL::ComPtr<IDimpleContext> context_;
  Microsoft::WRL::ComPtr<IDMLDevice> device_;
  std::optional<onnx::Model> model_;
  std::optional<onnx::Constants> constants_;
  std::optional<BenchCaller> caller_;
  std::unique_ptr<onnx::Program> prompt_, step_;
  std::vector<int64_t> words_;
  int64_t past_ = 0;
  uint64_t weights_ = 0;      // of products
  uint64_t weightBytes_ = 0;  // that a step reads
  double copySpeed_ = 0;      // GB/s, read and written
  double productSpeed_ = 0;   // TFLOP/s
};

}  // namespace
}  // namespace dimple::testing

int main(int argc, char** argv) {
  dimple::testing::chooseDriver();
  try {
    dimple::testing::LanguageBench(dimple::testing::sizesOf(argc, argv)).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "language_bench: %s\n", error.what());
    return 1;
  }
}
