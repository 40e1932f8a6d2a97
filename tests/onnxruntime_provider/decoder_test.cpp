// A language model that writes words: a prompt, then a word at a time behind what its cache holds.
#include <doctest.h>

#include <wrl/client.h>

#include "tests/onnx/language_model.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnxruntime_provider/binding.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/transfers.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;

constexpr int64_t kPrompt = 8;
constexpr int64_t kSteps = 32;

struct Step {
  Inputs inputs;  // but for the past
  HostTensor logits;
};

Inputs emptyCaches(const LanguageSizes& sizes) {
  Inputs caches;
  for (const auto& [past, present] : cachesOf(sizes)) caches[past] = HostTensor(sizes.type, sizes.cache());
  return caches;
}

// Moves what a run has made of the caches, in the order of cachesOf() behind the logits, into its next inputs.
void keep(const LanguageSizes& sizes, std::vector<onnx::NamedTensor>& results, Inputs& caches) {
  size_t next = 1;
  for (const auto& [past, present] : cachesOf(sizes)) caches[past] = std::move(results[next++].tensor);
}

// What ONNX Runtime's processor gives; every word is the likeliest behind the last.
std::vector<Step> expectedSteps(const Host& host, const LanguageSizes& sizes, const std::string& model) {
  const HostSession session = host.open(model, {.provider = {}, .engine = Engine::Processor});
  std::vector<Step> steps;
  Inputs caches = emptyCaches(sizes);
  std::vector<int64_t> words = promptOf(sizes, kPrompt);
  for (int64_t i = 0; i <= kSteps; ++i) {
    Step step{languageInputs(sizes, words, i == 0 ? 0 : kPrompt + i - 1), {}};
    Inputs inputs = caches;
    inputs.insert(step.inputs.begin(), step.inputs.end());
    auto results = session.run(inputs);
    step.logits = results[0].tensor;
    words = likeliest(step.logits);
    keep(sizes, results, caches);
    steps.push_back(std::move(step));
  }
  return steps;
}

// Through the provider, with the cache on the device, where each run appends to it.
void checkProvider(const Host& host, const LanguageSizes& sizes, const std::string& model,
                   const std::vector<Step>& steps, Tolerance tolerance) {
  const HostSession session = host.open(model);
  CHECK(session.left().empty());
  std::vector<Owned<OrtValue>> caches;
  for (size_t left = cachesOf(sizes).size(); left-- > 0;)
    caches.push_back(host.upload(HostTensor(sizes.type, sizes.cache())));
  for (size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(i);
    Binding binding(host, session);
    std::vector<std::vector<std::byte>> memory(steps[i].inputs.size());
    std::vector<Owned<OrtValue>> values;
    for (const auto& [name, tensor] : steps[i].inputs) {
      values.push_back(valueOf(tensor, memory[values.size()]));
      binding.input(name.c_str(), *values.back().get());
    }
    const Owned<OrtValue> logits = host.makeOnDevice(sizes.type, steps[i].logits.sizes);
    binding.output("logits", *logits.get());
    size_t next = 0;
    for (const auto& [past, present] : cachesOf(sizes)) {
      binding.input(past.c_str(), *caches[next].get());
      binding.output(present.c_str(), *caches[next++].get());
    }
    takeTransfers();
    takeBufferBytes();
    takeQueueCalls();
    binding.run();
    const Transfers transfers = takeTransfers();
    if (i > 1) {
      // Nothing is planned again, no weight or cache moves, and there is one submission.
      CHECK(takeBufferBytes() == 0);
      // ONNX Runtime copies the number of words in all to the device, where it is read.
      CHECK(transfers.downloads == 1);
      CHECK(transfers.bytes < 100);
      CHECK(takeQueueCalls().executions == 1);
    }
    CHECK(compareTensors(host.download(*logits.get()), steps[i].logits, tolerance) == "");
  }
}

// Counts what is compiled.
class Compilations final : public onnx::GraphObserver {
 public:
  void created(IDMLOperator&, const DML_OPERATOR_DESC& desc) override {
    attentions += desc.Type == DML_OPERATOR_MULTIHEAD_ATTENTION1;
  }
  void compiling(const DML_GRAPH_DESC&, const std::vector<std::string>&) override { ++graphs; }

  size_t graphs = 0;
  int64_t attentions = 0;
};

// Through a session of the client, whose tensors are the host's.
void checkClient(const LanguageSizes& sizes, const onnx::Model& model, const std::vector<Step>& steps,
                 Tolerance tolerance) {
  Microsoft::WRL::ComPtr<IDimpleContext> context;
  REQUIRE(SUCCEEDED(dimpleCreateContext(nullptr, IID_PPV_ARGS(&context))));
  Compilations compilations;
  onnx::Session session(*context.Get(), model, {.observer = &compilations});
  Inputs caches = emptyCaches(sizes);
  for (size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(i);
    Inputs inputs = caches;
    inputs.insert(steps[i].inputs.begin(), steps[i].inputs.end());
    auto results = session.run(inputs);
    CHECK(compareTensors(results[0].tensor, steps[i].logits, tolerance) == "");
    keep(sizes, results, caches);
  }
  // One for the prompt, and one for all steps.
  CHECK(compilations.graphs == 2);
  CHECK(compilations.attentions == 2 * sizes.layers);
}

void compare(const LanguageSizes& sizes, Tolerance tolerance) {
  const Host host;
  const ModelMaker maker = languageModel(sizes);
  const std::string model = maker.bytes();
  const std::vector<Step> steps = expectedSteps(host, sizes, model);
  checkProvider(host, sizes, model, steps, tolerance);
  checkClient(sizes, maker.model(), steps, tolerance);
}

TEST_CASE("provider decoder: a prompt and steps behind a cache") { compare({}, {1e-3, 1e-4}); }
TEST_CASE("provider decoder: two texts") {
  LanguageSizes sizes;
  sizes.batch = 2;
  compare(sizes, {1e-3, 1e-4});
}
TEST_CASE("provider decoder: FLOAT16") {
  LanguageSizes sizes;
  sizes.type = Type::Float16;
  compare(sizes, {5e-2, 5e-2});
}

}  // namespace
}  // namespace dimple::testing
