// dimple bench: what operators move in memory a second, beside a plain copy in the same run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>

#include "clients/dimple/bench_all.h"
#include "clients/dimple/bench_case.h"
#include "clients/dimple/command.h"
#include "clients/dimple/html_report.h"
#include "clients/dimple/json_file.h"
#include "clients/dimple/model.h"
#include "clients/dimple/progress.h"
#include "clients/dimple/repeater.h"
#include "clients/dimple/runner.h"
#include "clients/dimple/suggest.h"
#include "clients/dimple/table.h"
#include "clients/files/failure.h"
#include "core/checked.h"
#include "core/schema/desc_text.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

struct BenchOptions {
  DeviceOptions device;
  uint32_t rows = 4096;
  uint32_t columns = 4096;
  uint32_t iterations = 10;
  uint32_t repeat = 0;
  double require = 0;
  bool memoryOnly = false;
  bool summary = false;
  std::string only;
  bool asJson = false;
  std::string page;  // file; empty: none
};

// Bytes of the elements that a tensor addresses: those along a stride of 0 are one.
uint64_t touchedBytes(const DML_BUFFER_TENSOR_DESC& tensor) {
  uint64_t elements = 1;
  for (UINT d = 0; d < tensor.DimensionCount; ++d)
    if (!tensor.Strides || tensor.Strides[d]) elements *= tensor.Sizes[d];
  return (elements * bitWidth(tensor.DataType) + 7) / 8;
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
  cases.push_back(makeBenchCase("copy f32", copy("f32")));
  cases.push_back(makeBenchCase("add f32", add("f32", "", "", "")));
  cases.push_back(makeBenchCase("add f32, B one element", add("f32", "", "{0,0}", "")));
  cases.push_back(makeBenchCase("add f32, B one row", add("f32", "", "{0,1}", "")));
  cases.push_back(makeBenchCase("add f32, B one column", add("f32", "", "{1,0}", "")));
  cases.push_back(makeBenchCase("add f32, padded rows", add("f32", padded, padded, padded)));
  cases.push_back(makeBenchCase("add f32, B transposed", add("f32", "", transposed, "")));
  for (const std::string_view type : {"f16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) {
    cases.push_back(makeBenchCase(cat("copy ", type), copy(type)));
    if (type != "f64") cases.push_back(makeBenchCase(cat("add ", type), add(type, "", "", "")));
  }
  const std::string matrix = cat("f32", sizes);
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(makeBenchCase(cat("transpose ", type), cat("ELEMENT_WISE_IDENTITY InputTensor=", type, sizes,
                                                               transposed, " OutputTensor=", type, sizes)));
  cases.push_back(makeBenchCase(
      "sum of rows", cat("REDUCE Function=SUM InputTensor=", matrix, " OutputTensor=f32[", r, ",1] Axes=[1]")));
  cases.push_back(makeBenchCase(
      "sum of columns", cat("REDUCE Function=SUM InputTensor=", matrix, " OutputTensor=f32[1,", c, "] Axes=[0]")));
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(makeBenchCase(cat("softmax of rows ", type), cat("ACTIVATION_SOFTMAX1 InputTensor=", type, sizes,
                                                                     " OutputTensor=", type, sizes, " Axes=[1]")));
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(makeBenchCase(cat("normalization of rows ", type),
                                  cat("MEAN_VARIANCE_NORMALIZATION1 InputTensor=", type, sizes, " OutputTensor=", type,
                                      sizes, " Axes=[1] NormalizeVariance=1 Epsilon=1e-5")));
  const std::string image = cat("[1,", r, ",1,", c, "]");
  const std::string channels = cat("[1,", r, ",1,1]");
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(
        makeBenchCase(cat("batch normalization ", type),
                      cat("BATCH_NORMALIZATION InputTensor=", type, image, " MeanTensor=", type, channels,
                          " VarianceTensor=", type, channels, " ScaleTensor=", type, channels, " BiasTensor=", type,
                          channels, " OutputTensor=", type, image, " Spatial=1 Epsilon=1e-5")));
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(makeBenchCase(
        cat("maximum pooling ", type),
        cat("MAX_POOLING InputTensor=", type, "[1,1,", r, ",", c, "] OutputTensor=", type, "[1,1,", (r + 1) / 2, ",",
            (c + 1) / 2, "] Strides=[2,2] WindowSize=[3,3] StartPadding=[1,1] EndPadding=[1,1]")));
  cases.push_back(makeBenchCase("gather rows",
                                cat("GATHER InputTensor=", matrix, " IndicesTensor=u32[1,", r,
                                    "] OutputTensor=", matrix, " Axis=0 IndexDimensions=1"),
                                r));
  cases.push_back(makeBenchCase("scatter rows",
                                cat("SCATTER_ELEMENTS InputTensor=", matrix, " IndicesTensor=u32", sizes,
                                    "{1,0} UpdatesTensor=", matrix, " OutputTensor=", matrix, " Axis=0"),
                                r));
  const uint64_t k = std::min<uint64_t>(8, c);
  cases.push_back(
      makeBenchCase(cat("top ", k, " of rows"),
                    cat("TOP_K1 InputTensor=", matrix, " OutputValueTensor=f32[", r, ",", k, "] OutputIndexTensor=u32[",
                        r, ",", k, "] Axis=1 K=", k, " AxisDirection=DECREASING")));
  return cases;
}

std::string shortText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

// The tensors that a case has, in the order of binding.
std::vector<std::pair<Role, const DML_BUFFER_TENSOR_DESC*>> tensorsOf(const BenchCase& item) {
  std::vector<std::pair<Role, const DML_BUFFER_TENSOR_DESC*>> tensors;
  if (item.graph) {
    for (const auto* tensor : item.graph->inputs()) tensors.emplace_back(Role::Input, tensor);
    tensors.emplace_back(Role::Output, item.graph->output());
    return tensors;
  }
  for (const BindPoint& point : bindPoints(*item.desc)) tensors.emplace_back(point.role, point.tensors.front());
  return tensors;
}

// The buffers that the cases share.
class BenchBuffers {
 public:
  BenchBuffers(const Device& device, std::span<BenchCase* const> cases) : device_(device) {
    std::vector<uint64_t> largest;       // bytes, by the place among a case's tensors
    std::map<Contents, uint64_t> known;  // bytes of the largest
    for (const BenchCase* item : cases) {
      size_t count = 0;
      indexEnd_ = std::max(indexEnd_, item->indexEnd);
      for (const auto& [role, tensor] : tensorsOf(*item)) {
        if (!tensor) continue;
        ++count;
        largest.resize(std::max(largest.size(), count));
        const bool isKnown = item->exact && role == Role::Input;
        uint64_t& bytes = isKnown ? known[{tensor->DataType, item->constant}] : largest[count - 1];
        bytes = std::max(bytes, tensor->TotalTensorSizeInBytes);
      }
    }
    // Ones: no operand is a denormal, which some devices compute slowly.
    for (const uint64_t bytes : largest) {
      const std::vector<uint32_t> ones(static_cast<size_t>(divideUp(std::max<uint64_t>(bytes, 4), 4)),
                                       std::bit_cast<uint32_t>(1.0f));
      ones_.push_back({uploaded(ones.data(), ones.size() * 4), ones.size() * 4});
    }
    for (const auto& [contents, bytes] : known)
      for (size_t input = 0; input < kKnown; ++input) known_[contents].push_back(makeKnown(contents, bytes, input));
    if (indexEnd_ == 0) return;
    // Every index once, in no order that a cache likes: a step without a common divisor.
    std::vector<uint32_t> order(indexEnd_);
    uint64_t step = uint64_t{indexEnd_} * 5 / 8 + 1;
    while (std::gcd(step, uint64_t{indexEnd_}) > 1) ++step;
    for (uint64_t i = 0; i < indexEnd_; ++i) order[i] = static_cast<uint32_t>(i * step % indexEnd_);
    indices_ = uploaded(order.data(), order.size() * 4);
  }

  // Binds a case for its execution.
  void bind(const BenchCase& item, std::vector<BoundBuffer>& inputs, std::vector<BoundBuffer>& outputs) {
    bind(item, false, inputs, outputs);
  }
  // The buffer of its first output.
  ID3D12Resource* output(const BenchCase& item) {
    std::vector<BoundBuffer> inputs, outputs;
    bind(item, false, inputs, outputs);
    return outputs.front().buffer;
  }
  // The inputs of a case's initialization, which DML owns.
  std::vector<BoundBuffer> ownedInputs(const BenchCase& item) {
    std::vector<BoundBuffer> inputs, outputs;
    bind(item, true, inputs, outputs);
    return inputs;
  }

 private:
  void bind(const BenchCase& item, bool initializing, std::vector<BoundBuffer>& inputs,
            std::vector<BoundBuffer>& outputs) {
    size_t present = 0;
    for (const auto& [role, tensor] : tensorsOf(item)) {
      auto& bound = role == Role::Input ? inputs : outputs;
      if (!tensor) {
        bound.push_back({});
        continue;
      }
      auto [buffer, bytes] = std::pair(ones_[present].buffer.get(), ones_[present].bytes);
      if (role == Role::Input && item.exact) {
        buffer = known_[{tensor->DataType, item.constant}].at(present).get();
        bytes = tensor->TotalTensorSizeInBytes;
      } else if (role == Role::Input && item.indexEnd && present == 1) {
        buffer = indices_.get();
        bytes = uint64_t{indexEnd_} * 4;
      }
      const bool owned = tensor->Flags == DML_TENSOR_FLAG_OWNED_BY_DML;
      bound.push_back(owned == initializing ? BoundBuffer{buffer, 0, bytes} : BoundBuffer{});
      ++present;
    }
  }

  static constexpr size_t kKnown = 4;
  using Contents = std::pair<DataType, double>;  // the type, and what all elements hold, or 0

  Com<ID3D12Resource> uploaded(const void* data, size_t bytes) {
    Com<ID3D12Resource> buffer = createBuffer(device_, bytes);
    device_.check(device_.context().Upload(buffer.get(), 0, data, bytes), "A buffer cannot be uploaded");
    return buffer;
  }
  Com<ID3D12Resource> makeKnown(const Contents& contents, uint64_t bytes, size_t input) {
    const auto [type, constant] = contents;
    std::vector<std::byte> values(static_cast<size_t>(bytes));
    const uint32_t width = byteWidth(type);
    for (size_t i = 0; i < values.size() / width; ++i) {
      const double value = constant != 0 ? constant : benchValue(input, i);
      const uint32_t bits = width == 1   ? static_cast<uint32_t>(benchInteger(type, input, i))
                            : width == 2 ? halfBits(value)
                                         : std::bit_cast<uint32_t>(static_cast<float>(value));
      std::memcpy(&values[i * width], &bits, width);
    }
    return uploaded(values.data(), values.size());
  }

  struct Ones {
    Com<ID3D12Resource> buffer;
    uint64_t bytes;
  };
  const Device& device_;
  uint32_t indexEnd_ = 0;
  std::vector<Ones> ones_;
  std::map<Contents, std::vector<Com<ID3D12Resource>>> known_;
  Com<ID3D12Resource> indices_;
};

double valueOf(DataType type, uint32_t bits) {
  if (type == DML_TENSOR_DATA_TYPE_INT32) return std::bit_cast<int32_t>(bits);
  return byteWidth(type) == 2 ? halfValue(static_cast<uint16_t>(bits)) : std::bit_cast<float>(bits);
}

// The largest error of some of the elements that were computed.
double errorOf(const Device& device, const BenchCase& item, ID3D12Resource* output) {
  constexpr uint64_t kChecked = 32;
  const DML_BUFFER_TENSOR_DESC* tensor = nullptr;
  for (const auto& [role, candidate] : tensorsOf(item))
    if (role != Role::Input && candidate && !tensor) tensor = candidate;
  std::vector<std::byte> values(static_cast<size_t>(tensor->TotalTensorSizeInBytes));
  device.check(device.context().Download(output, 0, values.data(), values.size()), "A buffer cannot be downloaded");
  const uint32_t width = byteWidth(tensor->DataType);
  const uint64_t count = touchedBytes(*tensor) / width;
  double largest = 0;
  for (uint64_t i = 0; i < kChecked; ++i) {
    const uint64_t element = i * (count - 1) / (kChecked - 1);
    uint32_t bits = 0;
    std::memcpy(&bits, &values[static_cast<size_t>(element * width)], width);
    const double got = valueOf(tensor->DataType, bits);
    const auto [value, magnitude] = item.exact(element);
    const double error = std::fabs(got - value) / magnitude;
    largest = error <= largest ? largest : error;  // NaN is larger
  }
  return largest;
}

Repeater repeaterOf(Runner& runner, BenchBuffers& buffers, const BenchCase& item) {
  std::vector<BoundBuffer> inputs, outputs;
  buffers.bind(item, inputs, outputs);
  return {runner, item.op, std::move(inputs), std::move(outputs)};
}

constexpr double kMeasured = 5;  // milliseconds

// Cases of a device, since a device has its options.
class BenchDevice {
 public:
  BenchDevice(const BenchOptions& options, const std::string& chosen, std::vector<BenchCase*> cases, Progress& progress)
      : repeat_(options.repeat), device_(withOptions(options.device, chosen)), cases_(std::move(cases)) {
    UINT64 temporary = 0;
    UINT descriptors = 0;
    std::vector<CompiledOperator*> operators;
    std::vector<std::vector<BoundBuffer>> owned;
    for (BenchCase* item : cases_) {
      progress.step(item->name);
      try {
        item->op = item->graph ? item->graph->compile(device_, item->name)
                               : compileOperator(device_, item->desc->desc(), DML_EXECUTION_FLAG_NONE, item->name);
      } catch (const RunError& error) {
        if (item->compared) throw;
        item->refusal = error.what();
        continue;
      }
      operators.push_back(&item->op);
      temporary = std::max(temporary, item->op.properties.TemporaryResourceSize);
      descriptors = std::max(descriptors, item->op.properties.RequiredDescriptorCount);
    }
    std::erase_if(cases_, [](const BenchCase* item) { return !item->refusal.empty(); });
    buffers_.emplace(device_, cases_);
    for (const BenchCase* item : cases_) owned.push_back(buffers_->ownedInputs(*item));
    runner_.emplace(device_, descriptors * 2 * std::max(repeat_, kMostRepeats), temporary);
    runner_->initialize(operators, owned);
  }

  const Device& device() const { return device_; }
  bool isEmpty() const { return cases_.empty(); }

  void prepare(Progress& progress) {
    for (BenchCase* item : cases_) {
      progress.step(item->name);
      item->kernels = repeaterOf(*runner_, *buffers_, *item).kernels(device_);
      if (item->exact) item->error = errorOf(device_, *item, buffers_->output(*item));
    }
    warmUp();
    for (BenchCase* item : cases_)
      item->repeat = repeat_ ? repeat_ : repeaterOf(*runner_, *buffers_, *item).chooseCount(kMeasured);
  }
  void measure(Progress& progress) {
    for (BenchCase* item : cases_) {
      progress.step(item->name);
      item->nanoseconds.push_back(repeaterOf(*runner_, *buffers_, *item).nanoseconds(item->repeat));
    }
  }

 private:
  // An idle device runs at a fraction of its clock.
  void warmUp() {
    constexpr auto kWarm = std::chrono::milliseconds(300);
    const auto end = std::chrono::steady_clock::now() + kWarm;
    Repeater first = repeaterOf(*runner_, *buffers_, *cases_.front());
    while (std::chrono::steady_clock::now() < end) first.milliseconds(8);
  }
  static DeviceOptions withOptions(DeviceOptions device, const std::string& chosen) {
    if (!chosen.empty()) device.options += cat(device.options.empty() ? "" : ",", chosen);
    return device;
  }

  const uint32_t repeat_;
  const Device device_;
  std::vector<BenchCase*> cases_;
  std::optional<BenchBuffers> buffers_;
  std::optional<Runner> runner_;
};

// Returns the name of the device. Moves the cases that it refuses to `refused`.
std::string measure(const BenchOptions& options, std::vector<BenchCase>& cases, std::vector<BenchCase>& refused) {
  std::map<std::string, std::vector<BenchCase*>> byOptions;
  for (BenchCase& item : cases) byOptions[item.graph ? item.graph->options() : ""].push_back(&item);
  std::vector<std::unique_ptr<BenchDevice>> devices;
  {
    Progress progress("compiling", cases.size());
    for (auto& [chosen, of] : byOptions)
      devices.push_back(std::make_unique<BenchDevice>(options, chosen, std::move(of), progress));
  }
  Progress progress("measuring", size_t{options.iterations + 1} * cases.size());
  std::erase_if(devices, [](const auto& device) { return device->isEmpty(); });
  for (const auto& device : devices) device->prepare(progress);
  // Round after round over all cases, so that a device that changes its clock does so for all.
  for (uint32_t iteration = 0; iteration < options.iterations; ++iteration)
    for (const auto& device : devices) device->measure(progress);
  std::string name = devices.front()->device().name();
  devices.clear();
  const auto kept =
      std::stable_partition(cases.begin(), cases.end(), [](const BenchCase& item) { return item.refusal.empty(); });
  refused.assign(std::make_move_iterator(kept), std::make_move_iterator(cases.end()));
  cases.erase(kept, cases.end());
  for (const BenchCase& item : cases)
    if (item.median() <= 0) throw RunError(cat(item.name, " took no measurable time; choose a larger size."));
  return name;
}

const std::vector<std::string> kCaseTitles{"case", "kernel", ">ms", ">GB/s", ">of copy f32", ">GFLOP/s", ">error"};

std::vector<std::string> cellsOf(const BenchCase& item, double copySpeed) {
  return {item.name,
          item.kernels,
          fixedText(item.median() / 1e6, 4),
          fixedText(item.bytesPerSecond() / 1e9, 2),
          fixedText(100 * item.bytesPerSecond() / copySpeed, 1) + " %",
          item.operations ? fixedText(item.operationsPerSecond() / 1e9, 1) : "",
          item.exact ? shortText(item.error) : ""};
}

void writeCasePage(const BenchOptions& options, const std::string& heading, const std::vector<BenchCase>& cases,
                   double copySpeed) {
  HtmlReport page("Operators beside a copy");
  page.paragraph(heading);
  page.paragraph("Products and convolutions are bound by arithmetic, all others by memory.");
  auto titles = kCaseTitles;
  titles.emplace_back("of copy f32");
  page.table("Cases", titles);
  for (const BenchCase& item : cases) page.row(cellsOf(item, copySpeed), item.bytesPerSecond() / copySpeed);
  writeText(options.page, page.text());
}

Json jsonOf(const BenchOptions& options, const std::string& device, const std::vector<BenchCase>& cases,
            const std::vector<BenchCase>& refused) {
  Json rows = Json::array(), leftOut = Json::array();
  for (const BenchCase& item : cases)
    rows.push_back({{"name", item.name},
                    {"kernels", item.kernels},
                    {"bytes", item.bytes},
                    {"nanoseconds", item.median()},
                    {"bytesPerSecond", item.bytesPerSecond()},
                    {"operationsPerSecond", item.operationsPerSecond()},
                    {"error", item.error},
                    {"ratioToCopy", item.bytesPerSecond() / cases[0].bytesPerSecond()}});
  for (const BenchCase& item : refused) leftOut.push_back({{"name", item.name}, {"reason", item.refusal}});
  return {{"backend", options.device.backend},
          {"device", device},
          {"sizes", {options.rows, options.columns}},
          {"cases", std::move(rows)},
          {"leftOut", std::move(leftOut)}};
}

// The first two stay, which the others are compared with.
void keepWanted(const std::string& only, std::vector<BenchCase>& cases) {
  const auto unwanted = [&](const BenchCase& item) { return item.name.find(only) == item.name.npos; };
  if (std::all_of(cases.begin(), cases.end(), unwanted)) {
    std::vector<std::string> names;
    for (const BenchCase& item : cases) names.push_back(item.name);
    throw InputError(cat("--only is \"", only, "\", which is in no case's name", candidatesText(only, names)));
  }
  cases.erase(std::remove_if(cases.begin() + 2, cases.end(), unwanted), cases.end());
  cases[0].compared = cases[1].compared = true;
}

int bench(const BenchOptions& options) {
  if (!options.rows || !options.columns || !options.iterations)
    throw InputError("Rows, columns and iterations must be at least 1.");
  if (options.summary && options.memoryOnly)
    throw InputError("--summary and --memory-only leave out what the other one asks for.");
  auto cases = makeCases(options);
  if (options.summary) cases.resize(2);
  for (BenchCase& item : options.summary ? std::vector<BenchCase>() : benchChains(options.rows, options.columns)) {
    for (const auto& [role, tensor] : tensorsOf(item)) item.bytes += touchedBytes(*tensor);
    cases.push_back(std::move(item));
  }
  if (!options.memoryOnly)
    for (BenchCase& item : options.summary ? benchSummary() : benchProducts()) cases.push_back(std::move(item));
  if (!options.memoryOnly && !options.summary)
    for (BenchCase& item : benchWeights()) cases.push_back(std::move(item));
  keepWanted(options.only, cases);
  std::vector<BenchCase> refused;
  const std::string device = measure(options, cases, refused);
  const double copySpeed = cases[0].bytesPerSecond();
  const double share = 100 * cases[1].bytesPerSecond() / copySpeed;
  const std::string heading = cat("Running on '", device, "' (", options.device.backend, "), tensors of ", options.rows,
                                  " x ", options.columns, " elements, median of ", options.iterations);
  if (!options.page.empty()) writeCasePage(options, heading + ".", cases, copySpeed);
  if (options.asJson) {
    std::printf("%s\n", jsonOf(options, device, cases, refused).dump(2).c_str());
  } else {
    std::printf("%s\n", heading.c_str());
    Table table(kCaseTitles);
    for (const BenchCase& item : cases) table.add(cellsOf(item, copySpeed));
    table.print();
    for (const BenchCase& item : refused) std::printf("Left out: %s\n", item.refusal.c_str());
    std::printf("A packed FLOAT32 add moves %.1f %% of what a plain copy moves.\n", share);
  }
  if (share < options.require)
    throw RunError(cat("A packed FLOAT32 add moves ", fixedText(share, 1),
                       " % of what a plain copy moves, expected at least ", fixedText(options.require, 1), " %."));
  return 0;
}

}  // namespace

BenchCase makeBenchCase(std::string name, const std::string& line, uint64_t indexEnd) {
  auto parsed = parseCase(line);
  if (!parsed) throw RunError(parsed.error().text);
  BenchCase made{std::move(name), std::move(parsed->desc)};
  made.indexEnd = static_cast<uint32_t>(indexEnd);
  for (const auto& tensor : tensorsOf(made))
    if (tensor.second) made.bytes += touchedBytes(*tensor.second);
  return made;
}

static void addAllOptions(CLI::App& options, BenchAllOptions& values) {
  options.add_flag("--all", values.all,
                   "Measure every operator instead, and compare it with what memory, arithmetic and latency allow");
  options.add_option("--scale", values.scale, "With --all: divide large sizes by this")->capture_default_str();
  options.add_option("--below", values.below,
                     "With --all: print one line for each row that is below this percentage of its bound");
  options.add_option("--json-file", values.jsonFile, "With --all: write what --json prints to this file");
  options.add_flag("--lines", values.lines, "With --all: run nothing, and print the rows as lines for dimple case");
#ifdef DIMPLE_WITH_CASES
  options.add_flag("--check", values.check,
                   "With --all: compare the results of small tensors with the oracle of the tests");
#endif
}

Action setUpBench(CLI::App& options) {
  auto values = std::make_shared<BenchOptions>();
  addDeviceOptions(options, values->device);
  options.add_option("--rows", values->rows, "Rows of the tensors")->capture_default_str();
  options.add_option("--columns", values->columns, "Columns of the tensors")->capture_default_str();
  options.add_option("--iterations", values->iterations, "Measurements of each case")->capture_default_str();
  options
      .add_option("--repeat", values->repeat,
                  "Executions in a row, whose mean is taken; 0 stands for as many as take a few milliseconds")
      ->capture_default_str();
  options.add_option("--require", values->require,
                     "Fail if a packed FLOAT32 add moves less than this percentage of a copy");
  options.add_flag("--memory-only", values->memoryOnly, "Leave out matrix products, convolutions and attention");
  options.add_flag("--summary", values->summary,
                   "Measure only copy, add, and a few products, convolutions, attentions and recurrent networks");
  options.add_option("--only", values->only, "Measure only copy, add, and the cases whose names contain this text");
  options.add_flag("--json", values->asJson, "Print JSON");
  options.add_option("--report,--html", values->page, "Write a page with the table and bars to this file");
  auto all = std::make_shared<BenchAllOptions>();
  addAllOptions(options, *all);
  return [values, all, &options] {
    if (!all->all) return bench(*values);
    all->device = values->device;
    all->only = values->only;
    all->asJson = values->asJson;
    all->htmlFile = values->page;
    all->repeat = values->repeat;
    if (options.count("--iterations")) all->iterations = values->iterations;
    return benchAll(*all);
  };
}

}  // namespace dimple::tool
