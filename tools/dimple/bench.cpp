// dimple bench: what operators move in memory a second, beside a plain copy in the same run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstdio>
#include <memory>
#include <numeric>

#include "core/desc_text.h"
#include "core/text.h"
#include "tools/dimple/command.h"
#include "tools/dimple/failure.h"
#include "tools/dimple/json_file.h"
#include "tools/dimple/model.h"
#include "tools/dimple/profile.h"
#include "tools/dimple/progress.h"
#include "tools/dimple/runner.h"
#include "tools/dimple/table.h"

namespace dimple::tool {
namespace {

struct BenchOptions {
  DeviceOptions device;
  uint32_t rows = 4096;
  uint32_t columns = 4096;
  uint32_t iterations = 10;
  double require = 0;
  bool memoryOnly = false;
  bool asJson = false;
};

struct BenchCase {
  std::string name;
  OwnedDesc desc;
  uint64_t bytes = 0;       // read and written
  uint64_t operations = 0;  // multiplications and additions; 0: memory is what counts
  uint32_t indexEnd = 0;    // input 1 holds indices below this; 0: there are none
  CompiledOperator op;
  std::vector<double> nanoseconds;  // one an iteration
  std::string kernels;

  double median() const {
    auto sorted = nanoseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  double bytesPerSecond() const { return static_cast<double>(bytes) / (median() * 1e-9); }
  double operationsPerSecond() const { return static_cast<double>(operations) / (median() * 1e-9); }
};

// Bytes of the elements that a tensor addresses: those along a stride of 0 are one.
uint64_t touchedBytes(const DML_BUFFER_TENSOR_DESC& tensor) {
  uint64_t elements = 1;
  for (UINT d = 0; d < tensor.DimensionCount; ++d)
    if (!tensor.Strides || tensor.Strides[d]) elements *= tensor.Sizes[d];
  return elements * byteWidth(tensor.DataType);
}

BenchCase makeCase(std::string name, const std::string& line, uint64_t indexEnd = 0) {
  auto parsed = parseCase(line);
  if (!parsed) throw RunError(parsed.error().text);
  BenchCase result{std::move(name), std::move(parsed->desc), 0, 0, static_cast<uint32_t>(indexEnd), {}, {}, {}};
  for (const BindPoint& point : bindPoints(result.desc))
    if (point.tensors.front()) result.bytes += touchedBytes(*point.tensors.front());
  return result;
}

// Sums of products at sizes of their own.
std::vector<BenchCase> makeProducts() {
  std::vector<BenchCase> cases;
  const auto add = [&](std::string name, const std::string& line, uint64_t products) {
    cases.push_back(makeCase(std::move(name), line));
    cases.back().operations = 2 * products;
  };
  const auto gemm = [&](std::string_view type, uint64_t m, uint64_t n, uint64_t k) {
    add(cat("GEMM ", m, "x", n, "x", k, " ", type),
        cat("GEMM Alpha=1 ATensor=", type, "[1,1,", m, ",", k, "] BTensor=", type, "[1,1,", k, ",", n,
            "] OutputTensor=", type, "[1,1,", m, ",", n, "]"),
        m * n * k);
  };
  // From a square picture to one of the same size.
  const auto convolution = [&](std::string_view type, uint64_t batch, uint64_t from, uint64_t to, uint64_t side,
                               uint64_t window) {
    const uint64_t padding = window / 2;
    add(cat("convolution ", window, "x", window, " ", batch, "x", from, "x", side, "x", side, " to ", to, " ", type),
        cat("CONVOLUTION InputTensor=", type, "[", batch, ",", from, ",", side, ",", side, "] FilterTensor=", type, "[",
            to, ",", from, ",", window, ",", window, "] OutputTensor=", type, "[", batch, ",", to, ",", side, ",", side,
            "] Mode=CROSS_CORRELATION Direction=FORWARD DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[",
            padding, ",", padding, "] EndPadding=[", padding, ",", padding, "] OutputPadding=[0,0] GroupCount=1"),
        batch * to * side * side * from * window * window);
  };
  for (const std::string_view type : {"f32", "f16"}) {
    gemm(type, 4096, 4096, 4096);
    gemm(type, 1024, 1024, 1024);
    gemm(type, 512, 512, 512);
    gemm(type, 1, 4096, 4096);
  }
  convolution("f32", 1, 64, 64, 56, 3);
  convolution("f32", 16, 64, 64, 56, 3);
  convolution("f16", 16, 256, 256, 14, 3);
  convolution("f16", 16, 256, 64, 56, 1);
  const uint64_t heads = 32, positions = 2048, channels = 128;
  const std::string tokens = cat("f16[1,", positions, ",", heads * channels, "]");
  add(cat("attention ", heads, "x", positions, "x", channels, " f16"),
      cat("MULTIHEAD_ATTENTION QueryTensor=", tokens, " KeyTensor=", tokens, " ValueTensor=", tokens,
          " OutputTensor=", tokens, " Scale=0.0883883 HeadCount=", heads),
      2 * heads * positions * positions * channels);
  return cases;
}

std::vector<BenchCase> makeCases(const BenchOptions& options) {
  const uint64_t r = options.rows;
  const uint64_t c = options.columns;
  const std::string sizes = cat("[", r, ",", c, "]");
  const auto copy = [&](std::string_view type) {
    return cat("ELEMENT_WISE_IDENTITY InputTensor=", type, sizes, " OutputTensor=", type, sizes);
  };
  const auto add = [&](std::string_view type, const std::string& a, const std::string& b, const std::string& out) {
    return cat("ELEMENT_WISE_ADD ATensor=", type, sizes, a, " BTensor=", type, sizes, b, " OutputTensor=", type, sizes,
               out);
  };
  const std::string padded = cat("{", c + 16, ",1}");
  const std::string transposed = cat("{1,", r, "}");
  std::vector<BenchCase> cases;
  cases.push_back(makeCase("copy f32", copy("f32")));
  cases.push_back(makeCase("add f32", add("f32", "", "", "")));
  cases.push_back(makeCase("add f32, B one element", add("f32", "", "{0,0}", "")));
  cases.push_back(makeCase("add f32, B one row", add("f32", "", "{0,1}", "")));
  cases.push_back(makeCase("add f32, B one column", add("f32", "", "{1,0}", "")));
  cases.push_back(makeCase("add f32, padded rows", add("f32", padded, padded, padded)));
  cases.push_back(makeCase("add f32, B transposed", add("f32", "", transposed, "")));
  for (const std::string_view type : {"f16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) {
    cases.push_back(makeCase(cat("copy ", type), copy(type)));
    if (type != "f64") cases.push_back(makeCase(cat("add ", type), add(type, "", "", "")));
  }
  const std::string matrix = cat("f32", sizes);
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(makeCase(cat("transpose ", type), cat("ELEMENT_WISE_IDENTITY InputTensor=", type, sizes, transposed,
                                                          " OutputTensor=", type, sizes)));
  cases.push_back(makeCase("sum of rows",
                           cat("REDUCE Function=SUM InputTensor=", matrix, " OutputTensor=f32[", r, ",1] Axes=[1]")));
  cases.push_back(makeCase("sum of columns",
                           cat("REDUCE Function=SUM InputTensor=", matrix, " OutputTensor=f32[1,", c, "] Axes=[0]")));
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(makeCase(cat("softmax of rows ", type), cat("ACTIVATION_SOFTMAX1 InputTensor=", type, sizes,
                                                                " OutputTensor=", type, sizes, " Axes=[1]")));
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(makeCase(cat("normalization of rows ", type),
                             cat("MEAN_VARIANCE_NORMALIZATION1 InputTensor=", type, sizes, " OutputTensor=", type,
                                 sizes, " Axes=[1] NormalizeVariance=1 Epsilon=1e-5")));
  cases.push_back(makeCase("gather rows",
                           cat("GATHER InputTensor=", matrix, " IndicesTensor=u32[1,", r, "] OutputTensor=", matrix,
                               " Axis=0 IndexDimensions=1"),
                           r));
  cases.push_back(makeCase("scatter rows",
                           cat("SCATTER_ELEMENTS InputTensor=", matrix, " IndicesTensor=u32", sizes,
                               "{1,0} UpdatesTensor=", matrix, " OutputTensor=", matrix, " Axis=0"),
                           r));
  const uint64_t k = std::min<uint64_t>(8, c);
  cases.push_back(makeCase(cat("top ", k, " of rows"),
                           cat("TOP_K1 InputTensor=", matrix, " OutputValueTensor=f32[", r, ",", k,
                               "] OutputIndexTensor=u32[", r, ",", k, "] Axis=1 K=", k, " AxisDirection=DECREASING")));
  return cases;
}

void measure(const Device& device, const BenchOptions& options, std::vector<BenchCase>& cases) {
  UINT64 largest = 0;
  UINT64 temporary = 0;
  uint32_t indexEnd = 0;
  size_t most = 0;
  UINT descriptors = 0;
  std::vector<CompiledOperator*> operators;
  std::vector<std::vector<BoundBuffer>> owned;
  for (BenchCase& item : cases) {
    item.op = compileOperator(device, item.desc.desc(), DML_EXECUTION_FLAG_NONE, item.name);
    operators.push_back(&item.op);
    size_t inputs = 0;
    for (const BindPoint& point : bindPoints(item.desc)) {
      if (point.tensors.front()) largest = std::max(largest, point.tensors.front()->TotalTensorSizeInBytes);
      if (point.role == Role::Input) ++inputs;
    }
    most = std::max(most, bindPoints(item.desc).size());
    indexEnd = std::max(indexEnd, item.indexEnd);
    owned.emplace_back(inputs);
    temporary = std::max(temporary, item.op.properties.TemporaryResourceSize);
    descriptors = std::max(descriptors, item.op.properties.RequiredDescriptorCount);
  }
  // Ones: no operand is a denormal, which some devices compute slowly.
  const std::vector<uint32_t> ones(static_cast<size_t>(largest / 4), std::bit_cast<uint32_t>(1.0f));
  std::vector<Com<ID3D12Resource>> buffers;
  for (size_t i = 0; i < most; ++i) {
    buffers.push_back(createBuffer(device, largest));
    device.check(device.context().Upload(buffers.back().get(), 0, ones.data(), ones.size() * 4),
                 "A buffer cannot be uploaded");
  }
  // Every index once, in no order that a cache likes: a step without a common divisor.
  std::vector<uint32_t> order(indexEnd);
  uint64_t step = uint64_t{indexEnd} * 5 / 8 + 1;
  while (std::gcd(step, uint64_t{indexEnd}) > 1) ++step;
  for (uint64_t i = 0; i < indexEnd; ++i) order[i] = static_cast<uint32_t>(i * step % indexEnd);
  const Com<ID3D12Resource> indices = createBuffer(device, uint64_t{indexEnd} * 4);
  device.check(device.context().Upload(indices.get(), 0, order.data(), order.size() * 4),
               "A buffer cannot be uploaded");
  Runner runner(device, descriptors, temporary);
  runner.initialize(operators, owned);
  device.check(device.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  readProfile(device);

  // Round after round over all cases, so that a device that changes its clock does so for all. The first round warms
  // up.
  Progress progress("measuring", size_t{options.iterations + 1} * cases.size());
  for (uint32_t iteration = 0; iteration <= options.iterations; ++iteration)
    for (BenchCase& item : cases) {
      progress.step(item.name);
      std::vector<BoundBuffer> inputs, outputs;
      for (const BindPoint& point : bindPoints(item.desc)) {
        ID3D12Resource* const buffer = buffers[inputs.size() + outputs.size()].get();
        if (!point.tensors.front())
          (point.role == Role::Input ? inputs : outputs).push_back({});
        else if (point.role != Role::Input)
          outputs.push_back({buffer, 0, largest});
        else if (item.indexEnd && inputs.size() == 1)
          inputs.push_back({indices.get(), 0, uint64_t{indexEnd} * 4});
        else
          inputs.push_back({buffer, 0, largest});
      }
      runner.dispatch(item.op, inputs, outputs);
      runner.flush();
      double sum = 0;
      item.kernels.clear();
      for (const KernelTime& time : readProfile(device)) {
        sum += time.nanoseconds;
        if (item.kernels.find(time.kernel) == item.kernels.npos)
          item.kernels += cat(item.kernels.empty() ? "" : " ", time.kernel);
      }
      if (sum <= 0) throw RunError(cat(item.name, " took no measurable time; choose a larger size."));
      if (iteration) item.nanoseconds.push_back(sum);
    }
}

int bench(const BenchOptions& options) {
  if (!options.rows || !options.columns || !options.iterations)
    throw InputError("Rows, columns and iterations must be at least 1.");
  const Device device(options.device);
  auto cases = makeCases(options);
  if (!options.memoryOnly)
    for (BenchCase& item : makeProducts()) cases.push_back(std::move(item));
  measure(device, options, cases);
  const double copySpeed = cases[0].bytesPerSecond();
  const double share = 100 * cases[1].bytesPerSecond() / copySpeed;
  if (options.asJson) {
    Json rows = Json::array();
    for (const BenchCase& item : cases)
      rows.push_back({{"name", item.name},
                      {"kernels", item.kernels},
                      {"bytes", item.bytes},
                      {"nanoseconds", item.median()},
                      {"bytesPerSecond", item.bytesPerSecond()},
                      {"operationsPerSecond", item.operationsPerSecond()},
                      {"ratioToCopy", item.bytesPerSecond() / copySpeed}});
    std::printf("%s\n", Json{{"backend", backendName(device.backend())},
                             {"device", device.name()},
                             {"sizes", {options.rows, options.columns}},
                             {"cases", rows}}
                            .dump(2)
                            .c_str());
  } else {
    std::printf("Running on '%s' (%s), tensors of %u x %u elements, median of %u\n", device.name().c_str(),
                options.device.backend.c_str(), options.rows, options.columns, options.iterations);
    Table table({"case", "kernel", ">ms", ">GB/s", ">of copy f32", ">GFLOP/s"});
    for (const BenchCase& item : cases)
      table.add({item.name, item.kernels, fixedText(item.median() / 1e6, 3), fixedText(item.bytesPerSecond() / 1e9, 2),
                 fixedText(100 * item.bytesPerSecond() / copySpeed, 1) + " %",
                 item.operations ? fixedText(item.operationsPerSecond() / 1e9, 1) : ""});
    table.print();
    std::printf("A packed FLOAT32 add moves %.1f %% of what a plain copy moves.\n", share);
  }
  if (share < options.require)
    throw RunError(cat("A packed FLOAT32 add moves ", fixedText(share, 1),
                       " % of what a plain copy moves, expected at least ", fixedText(options.require, 1), " %."));
  return 0;
}

}  // namespace

Action setUpBench(CLI::App& options) {
  auto values = std::make_shared<BenchOptions>();
  addDeviceOptions(options, values->device);
  options.add_option("--rows", values->rows, "Rows of the tensors")->capture_default_str();
  options.add_option("--columns", values->columns, "Columns of the tensors")->capture_default_str();
  options.add_option("--iterations", values->iterations, "Measurements of each case")->capture_default_str();
  options.add_option("--require", values->require,
                     "Fail if a packed FLOAT32 add moves less than this percentage of a copy");
  options.add_flag("--memory-only", values->memoryOnly, "Leave out matrix products, convolutions and attention");
  options.add_flag("--json", values->asJson, "Print JSON");
  return [values] { return bench(*values); };
}

}  // namespace dimple::tool
