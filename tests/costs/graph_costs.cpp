// What compiling and recording graphs costs: docs/graphs.md quotes it. Not a test: nothing here is timed in those.
//
//   graph_costs [--device]
//
// Without a device the plans alone, of graphs of 100 to 30,000 nodes; with it also pipelines, and recording.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <stdexcept>

#include "core/text.h"
#include "tests/conformance/graphs/decoder_graph.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/graphs/model_graphs.h"
#include "tests/conformance/options_text.h"

namespace dimple::testing {
namespace {

// Of a processor, on which other programs may run, too.
double millisecondsOf(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) * 1000 / CLOCKS_PER_SEC;
}

// As a caller waits for it, with what other threads do of it.
double millisecondsUntil(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// The least of several.
double leastOf(int times, const std::function<void()>& work) {
  double least = millisecondsOf(work);
  while (--times > 0) least = std::min(least, millisecondsOf(work));
  return least;
}

void report(const char* name, const TestGraph& graph) {
  const Caps caps = [] {
    Caps all;
    all.features = ~uint32_t{0};
    return all;
  }();
  size_t dispatches = 0;
  const auto plan = [&](std::string_view without) {
    const auto planned = planTestGraph(graph, {caps, optionsWithout(without)});
    if (!planned) std::printf("%s: %s\n", name, planned.error().text.c_str());
    dispatches = planned ? planned->plan.execution.size() : 0;
  };
  const int times = graph.nodes.size() < 2000 ? 5 : 2;
  const double none = leastOf(times, [&] { plan("passes"); });
  const double all = leastOf(times, [&] { plan(""); });
  const auto nodes = static_cast<double>(graph.nodes.size());
  std::printf("| %s | %zu | %zu | %.1f | %.1f | %.2f |\n", name, graph.nodes.size(), dispatches, none, all,
              all * 1e6 / (nodes * std::log2(nodes)));
}

// Throws a sentence.
void require(const std::string& error) {
  if (!error.empty()) throw std::runtime_error(error);
}
void require(Gpu& gpu, HRESULT result) {
  if (FAILED(result)) throw std::runtime_error(gpu.refusalText(result));
}

void reportDevice(Gpu& gpu, const char* name, const TestGraph& graph) {
  std::string error;
  const auto operators = createOperators(gpu, graph, error);
  require(error);
  ComPtr<IDMLCompiledOperator> compiled;
  const auto compile = [&] {
    compiled = compileGraph(gpu, graph, operators, error);
    require(error);
  };
  const double first = millisecondsUntil(compile);
  const double warm = leastOf(5, compile);
  const auto properties = dimpleGetBindingProperties(compiled.Get());
  IDimpleContext& context = gpu.context();
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<IDMLCommandRecorder> recorder;
  require(gpu, context.CreateDescriptorHeap(properties.RequiredDescriptorCount, &heap));
  require(gpu, context.CreateCommandList(&list));
  require(gpu, gpu.device().CreateCommandRecorder(IID_PPV_ARGS(&recorder)));
  ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
  list->SetDescriptorHeaps(1, heaps);
  const DML_BINDING_TABLE_DESC desc{compiled.Get(), dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()),
                                    properties.RequiredDescriptorCount};
  ComPtr<IDMLBindingTable> table;
  require(gpu, gpu.device().CreateBindingTable(&desc, IID_PPV_ARGS(&table)));
  const auto buffer = [&](UINT64 bytes) {
    ComPtr<ID3D12Resource> made;
    require(gpu, context.CreateBuffer(std::max<UINT64>(4, bytes), &made));
    return made;
  };
  UINT64 largest = 4;
  for (const TestGraph::Node& node : graph.nodes)
    for (const auto* tensors : {&node.test->inputs, &node.test->outputs})
      for (const auto* tensor : *tensors) largest = std::max(largest, tensor ? tensor->TotalTensorSizeInBytes : 0);
  const auto data = buffer(largest), output = buffer(largest), temporary = buffer(properties.TemporaryResourceSize),
             persistent = buffer(properties.PersistentResourceSize);
  const DML_BUFFER_BINDING input{data.Get(), 0, largest}, result{output.Get(), 0, largest},
      scratch{temporary.Get(), 0, std::max<UINT64>(4, properties.TemporaryResourceSize)},
      kept{persistent.Get(), 0, std::max<UINT64>(4, properties.PersistentResourceSize)};
  std::vector<DML_BINDING_DESC> inputs;
  for (const TestGraph::Input& given : graph.inputs)
    inputs.push_back(given.owned ? DML_BINDING_DESC{} : DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &input});
  const DML_BINDING_DESC resultDesc{DML_BINDING_TYPE_BUFFER, &result}, scratchDesc{DML_BINDING_TYPE_BUFFER, &scratch},
      keptDesc{DML_BINDING_TYPE_BUFFER, &kept};
  const std::vector<DML_BINDING_DESC> results(graph.outputs.size(), resultDesc);
  const double bind = millisecondsOf([&] {
    table->BindInputs(static_cast<UINT>(inputs.size()), inputs.data());
    table->BindOutputs(static_cast<UINT>(results.size()), results.data());
    if (properties.TemporaryResourceSize) table->BindTemporaryResource(&scratchDesc);
    if (properties.PersistentResourceSize) table->BindPersistentResource(&keptDesc);
  });
  constexpr int kTimes = 20;
  const double record = millisecondsOf([&] {
    for (int i = 0; i < kTimes; ++i) recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
  });
  require(gpu, gpu.device().GetDeviceRemovedReason());
  require(gpu, list->Close());
  Caps all;
  all.features = ~uint32_t{0};
  const auto planned = planTestGraph(graph, all);
  const double dispatches = static_cast<double>(planned ? planned->plan.execution.size() : 1);
  std::printf("| %s | %zu | %.0f | %.1f | %.1f | %.2f | %.2f |\n", name, graph.nodes.size(), dispatches, first, warm,
              bind * 1000 / dispatches, record * 1000 / kTimes / dispatches);
}

// What stays of graphs that are compiled and released, in memory of the program (Linux).
void reportCycles(Gpu& gpu, const TestGraph& graph) {
  const auto residentKilobytes = [] {
    unsigned long all = 0;
    unsigned long resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%lu %lu", &all, &resident) != 2) resident = 0;
      std::fclose(file);
    }
    return resident * 4;
  };
  const auto cycles = [&](int count) {
    for (int i = 0; i < count; ++i) {
      std::string error;
      const auto operators = createOperators(gpu, graph, error);
      const auto compiled = compileGraph(gpu, graph, operators, error);
      require(error);
    }
  };
  cycles(100);
  std::printf("\nkilobytes resident after 1,000 graphs of %zu nodes were compiled and released, again and again:",
              graph.nodes.size());
  for (int i = 0; i < 4; ++i) {
    cycles(1000);
    std::printf(" %lu", residentKilobytes());
  }
  std::printf("\n");
}

int run(bool device) {
  std::printf(
      "| graph | nodes | dispatches | ms without rewrites | ms | ns / (n log2 n) |\n|---|---|---|---|---|---|\n");
  for (const uint32_t layers : {5u, 48u, 143u, 476u, 1428u})
    report("transformer", transformer(layers, 16, 64, 4, false));
  for (const size_t nodes : {100, 1000, 3000, 10000, 30000}) report("random", makeRandomGraph(1, nodes));
  if (!device) return 0;
  std::string error;
  const auto gpu = Gpu::open({}, error);
  require(gpu ? std::string() : error);
  std::printf(
      "\n| graph | nodes | dispatches | ms to compile first | ms again | us to bind a dispatch | us to record one |\n"
      "|---|---|---|---|---|---|---|\n");
  reportDevice(*gpu, "transformer", transformer(5, 16, 64, 4, false));
  reportDevice(*gpu, "SqueezeNet", squeezeNet(64, 4, false));
  DecoderOptions options{.layers = 32, .heads = 16, .keyHeads = 4, .channels = 64, .lengths = {511}};
  options.width = 1024;
  options.inner = 2816;
  options.capacity = 1024;
  options.filled = false;
  reportDevice(*gpu, "decoder's step", decoder(options));
  reportCycles(*gpu, squeezeNet(64, 4, false));
  return 0;
}

}  // namespace
}  // namespace dimple::testing

int main(int count, char** arguments) {
  try {
    return dimple::testing::run(count > 1 && std::strcmp(arguments[1], "--device") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "graph_costs: %s\n", error.what());
    return 1;
  }
}
