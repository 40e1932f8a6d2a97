#include "clients/dimple/bench_all.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "clients/dimple/bench_contents.h"
#include "clients/dimple/bench_oracle.h"
#include "clients/dimple/html_report.h"
#include "clients/dimple/json_file.h"
#include "clients/dimple/model.h"
#include "clients/dimple/progress.h"
#include "clients/dimple/repeater.h"
#include "clients/dimple/roofline_table.h"
#include "clients/dimple/table.h"
#include "clients/files/failure.h"
#include "core/schema/desc_text.h"
#include "core/support/parallel.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

struct Measured {
  RooflineRow row;
  std::string kernels = {};
  std::string refusal = {};  // why the device cannot take it; the rest is empty then
  double microseconds = 0;
  double leastMicroseconds = 0;  // by what bounds it
  std::string_view bound = {};
  OracleVerdict verdict = {};
  bool checked = false;

  double share() const { return refusal.empty() ? leastMicroseconds / microseconds : 0; }
};

// What the device reached in this run.
struct Reached {
  double copyBytes = 0;                        // a second
  double latency = 0;                          // microseconds of the least dispatch in a row
  std::map<DataType, double> operations = {};  // a second, of the largest product of each type
};

// Operators compiled at once and measured one after another.
class Batch {
 public:
  Batch(const Device& device, const BenchAllOptions& options, BenchContents& contents,
        std::vector<Com<ID3D12Resource>>& outputs, std::span<Measured> rows)
      : device_(device), options_(options), contents_(contents), outputs_(outputs), rows_(rows), ops_(rows.size()) {
    forEachInParallel(rows.size(), [&](size_t i) { compile(i); });
    UINT descriptors = 1;
    UINT64 temporary = 0;
    std::vector<CompiledOperator*> operators;
    std::vector<std::vector<BoundBuffer>> owned;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!ops_[i].compiled) continue;
      operators.push_back(&ops_[i]);
      owned.push_back(bound(rows_[i].row, true).first);
      descriptors = std::max(descriptors, ops_[i].properties.RequiredDescriptorCount);
      temporary = std::max(temporary, ops_[i].properties.TemporaryResourceSize);
    }
    runner_.emplace(device_, descriptors * 2 * std::max({options.repeat, kMostRepeats, kWarmUp}), temporary);
    runner_->initialize(operators, owned);
  }

  // A device that is idle while others compile runs at a fraction of its clock.
  void warmUp(std::chrono::milliseconds time) {
    const auto compiled = std::ranges::find_if(rows_, [](const Measured& row) { return row.refusal.empty(); });
    if (compiled == rows_.end()) return;
    const auto end = std::chrono::steady_clock::now() + time;
    Repeater repeated = repeater(static_cast<size_t>(compiled - rows_.begin()));
    while (std::chrono::steady_clock::now() < end) repeated.milliseconds(kWarmUp);
  }

  void measure(size_t i) {
    constexpr double kLongEnough = 1.5;  // milliseconds
    Measured& measured = rows_[i];
    if (!measured.refusal.empty()) return;
    Repeater repeated = repeater(i);
    measured.kernels = repeated.kernels(device_);
    check(measured);
    const uint32_t count = options_.repeat ? options_.repeat : repeated.chooseCount(kLongEnough);
    std::vector<double> times;
    for (uint32_t n = 0; n < options_.iterations; ++n) times.push_back(repeated.nanoseconds(count) / 1e3);
    std::ranges::sort(times);
    measured.microseconds = std::max(times[times.size() / 2], 1e-3);
  }

 private:
  static constexpr uint32_t kWarmUp = 8;

  void compile(size_t i) {
    try {
      ops_[i] = compileOperator(device_, rows_[i].row.desc.desc(), DML_EXECUTION_FLAG_NONE, rows_[i].row.line);
    } catch (const RunError& error) {
      rows_[i].refusal = error.what();
    }
  }
  Repeater repeater(size_t i) {
    auto [inputs, outputs] = bound(rows_[i].row, false);
    return {*runner_, ops_[i], std::move(inputs), std::move(outputs)};
  }

  // Inputs and outputs; of an initialization the inputs that DML owns.
  std::pair<std::vector<BoundBuffer>, std::vector<BoundBuffer>> bound(const RooflineRow& row, bool initializing);
  void check(Measured& measured);

  const Device& device_;
  const BenchAllOptions& options_;
  BenchContents& contents_;
  std::vector<Com<ID3D12Resource>>& outputs_;
  std::span<Measured> rows_;
  std::vector<CompiledOperator> ops_;
  std::optional<Runner> runner_;
};

BenchContents::Key keyOf(const RooflineRow& row, size_t input, const DML_BUFFER_TENSOR_DESC& tensor) {
  const auto rule = row.contents.find(input);
  return {tensor.DataType, rule == row.contents.end() ? "" : rule->second, input};
}

// Calls visit(number among the inputs or outputs, tensor or null) for those of a role, in the order of binding.
template <class Visit>
void eachTensor(const RooflineRow& row, Role role, Visit visit) {
  size_t number = 0;
  for (const BindPoint& point : bindPoints(row.desc))
    if (point.role == role)
      for (const auto* tensor : point.tensors) visit(number++, tensor);
}

std::pair<std::vector<BoundBuffer>, std::vector<BoundBuffer>> Batch::bound(const RooflineRow& row, bool initializing) {
  std::vector<BoundBuffer> inputs, outputs;
  eachTensor(row, Role::Input, [&](size_t number, const DML_BUFFER_TENSOR_DESC* tensor) {
    const bool owned = tensor && (static_cast<uint32_t>(tensor->Flags) & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
    inputs.push_back(tensor && owned == initializing
                         ? BoundBuffer{contents_.buffer(keyOf(row, number, *tensor)), 0, tensor->TotalTensorSizeInBytes}
                         : BoundBuffer{});
  });
  eachTensor(row, Role::Output, [&](size_t number, const DML_BUFFER_TENSOR_DESC* tensor) {
    outputs.push_back(tensor ? BoundBuffer{outputs_.at(number).get(), 0, tensor->TotalTensorSizeInBytes}
                             : BoundBuffer{});
  });
  return {std::move(inputs), std::move(outputs)};
}

// Checks rows that the oracle answers quickly.
void Batch::check(Measured& measured) {
  constexpr uint64_t kMostBytes = 1 << 23;
  constexpr uint64_t kMostOperations = 1 << 26;
  const RooflineRow& row = measured.row;
  if (!options_.check || row.bytes > kMostBytes || row.operations > kMostOperations) return;
  std::vector<std::vector<std::byte>> inputs, outputs;
  eachTensor(row, Role::Input, [&](size_t number, const DML_BUFFER_TENSOR_DESC* tensor) {
    if (tensor) inputs.push_back(contents_.host(keyOf(row, number, *tensor), tensor->TotalTensorSizeInBytes));
  });
  eachTensor(row, Role::Output, [&](size_t number, const DML_BUFFER_TENSOR_DESC* tensor) {
    if (!tensor) return;
    auto& memory = outputs.emplace_back(static_cast<size_t>(tensor->TotalTensorSizeInBytes));
    device_.check(device_.context().Download(outputs_.at(number).get(), 0, memory.data(), memory.size()),
                  "A buffer cannot be downloaded");
  });
#ifdef DIMPLE_WITH_CASES
  measured.verdict = askOracle(row.desc, inputs, outputs);
  measured.checked = true;
#endif
}

// Rows that the others are compared with come first: a copy, the least dispatch, products.
std::vector<RooflineRow> references(uint64_t scale) {
  std::vector<RooflineRow> rows = rooflineRows(scale, "");
  std::vector<RooflineRow> first;
  for (const std::string_view name :
       {"ELEMENT_WISE_IDENTITY f32", "GEMM f32", "GEMM f16", "MATRIX_MULTIPLY_INTEGER u8"}) {
    const auto found = std::ranges::find_if(
        rows, [&](const RooflineRow& row) { return !row.small && row.name().starts_with(cat(name, " ")); });
    first.push_back(std::move(*found));
    rows.erase(found);
  }
  return first;
}

DataType operandType(const RooflineRow& row) {
  return row.type == DML_TENSOR_DATA_TYPE_INT8 ? DML_TENSOR_DATA_TYPE_UINT8 : row.type;
}

// What bounds a row, and how long it takes at least.
void setBound(Measured& measured, const Reached& reached) {
  const RooflineRow& row = measured.row;
  const auto peak = reached.operations.find(operandType(row));
  const double memory = static_cast<double>(row.bytes) * row.passes / reached.copyBytes * 1e6;
  const double arithmetic =
      peak == reached.operations.end() ? 0 : static_cast<double>(row.operations) / peak->second * 1e6;
  const double steps = static_cast<double>(row.steps) * reached.latency;
  struct Bound {
    std::string_view name;
    double microseconds;
  };
  const Bound bounds[] = {{row.passes > 1 ? "passes" : "memory", memory},
                          {"arithmetic", arithmetic},
                          {"steps", steps},
                          {"latency", reached.latency}};
  const auto most = std::ranges::max_element(bounds, {}, &Bound::microseconds);
  measured.bound = most->name;
  measured.leastMicroseconds = std::max({memory, arithmetic, steps}) + reached.latency;
}

Reached reachedBy(std::span<const Measured> rows) {
  Reached reached;
  for (const Measured& measured : rows) {
    const RooflineRow& row = measured.row;
    const double perSecond = 1e6 / measured.microseconds;
    if (row.operations)
      reached.operations[operandType(row)] = static_cast<double>(row.operations) * perSecond;
    else if (row.small)
      reached.latency = measured.microseconds;
    else
      reached.copyBytes =
          static_cast<double>(row.bytes) / std::max(measured.microseconds - reached.latency, 1e-3) * 1e6;
  }
  return reached;
}

// The row of a copy of one element.
RooflineRow leastRow() {
  auto rows = rooflineRows(1, "ELEMENT_WISE_IDENTITY f32");
  RooflineRow row = std::move(rows.front());
  const std::string line = "ELEMENT_WISE_IDENTITY InputTensor=f32[1] OutputTensor=f32[1]";
  row.desc = std::move(parseCase(line)->desc);
  row.line = line;
  row.note = "one_element";
  row.small = true;
  row.bytes = 8;
  return row;
}

std::vector<Measured> rowsOf(const BenchAllOptions& options, size_t& referenceCount) {
  std::vector<Measured> rows;
  rows.push_back({leastRow()});
  for (RooflineRow& row : references(options.scale)) rows.push_back({std::move(row)});
  referenceCount = rows.size();
  for (RooflineRow& row : rooflineRows(options.scale, options.only)) {
    const auto known = [&](const Measured& measured) { return measured.row.line == row.line; };
    if (std::ranges::none_of(rows, known)) rows.push_back({std::move(row)});
  }
  return rows;
}

void reserve(const Device& device, std::span<const Measured> rows, BenchContents& contents,
             std::vector<Com<ID3D12Resource>>& outputs) {
  std::vector<uint64_t> largest;
  for (const Measured& measured : rows) {
    eachTensor(measured.row, Role::Input, [&](size_t number, const DML_BUFFER_TENSOR_DESC* tensor) {
      if (tensor) contents.reserve(keyOf(measured.row, number, *tensor), tensor->TotalTensorSizeInBytes);
    });
    eachTensor(measured.row, Role::Output, [&](size_t number, const DML_BUFFER_TENSOR_DESC* tensor) {
      if (!tensor) return;
      largest.resize(std::max(largest.size(), number + 1));
      largest[number] = std::max(largest[number], tensor->TotalTensorSizeInBytes);
    });
  }
  for (const uint64_t bytes : largest) outputs.push_back(createBuffer(device, bytes));
}

std::string percent(double share) { return fixedText(100 * share, share < 0.1 ? 1 : 0); }

std::string errorText(const Measured& measured) {
  if (!measured.checked) return "";
  return measured.verdict.failure.empty() ? percent(measured.verdict.share) : "wrong";
}

Json jsonOf(const Measured& measured) {
  const RooflineRow& row = measured.row;
  Json json{{"operator", row.op},
            {"shape", row.shape()},
            {"note", row.note},
            {"small", row.small},
            {"line", row.line},
            {"kernels", measured.kernels},
            {"microseconds", measured.microseconds},
            {"bytes", row.bytes},
            {"operations", row.operations},
            {"bound", measured.bound},
            {"leastMicroseconds", measured.leastMicroseconds},
            {"share", measured.share()}};
  if (!measured.refusal.empty()) json["refusal"] = measured.refusal;
  if (measured.checked) {
    json["errorOfBound"] = measured.verdict.share;
    json["failure"] = measured.verdict.failure;
  }
  return json;
}

Json jsonOf(const BenchAllOptions& options, const std::string& device, const Reached& reached,
            std::span<const Measured> rows) {
  Json list = Json::array();
  for (const Measured& measured : rows) list.push_back(jsonOf(measured));
  return {{"backend", options.device.backend},
          {"device", device},
          {"scale", options.scale},
          {"copyBytesPerSecond", reached.copyBytes},
          {"latencyMicroseconds", reached.latency},
          {"rows", std::move(list)}};
}

std::string summary(const std::string& device, const Reached& reached) {
  std::string text = cat(device, ": a copy moves ", fixedText(reached.copyBytes / 1e9, 1),
                         " GB/s, the least dispatch takes ", fixedText(reached.latency, 2), " us");
  for (const auto& [type, operations] : reached.operations)
    text += cat(", products of ", shortTypeName(type), " reach ", fixedText(operations / 1e12, 3), " TFLOP/s");
  return text + ".";
}

std::vector<std::string> cellsOf(const Measured& measured) {
  const RooflineRow& row = measured.row;
  return {cat(row.op, row.note.empty() ? "" : " ", row.note),
          row.shape(),
          measured.kernels,
          fixedText(measured.microseconds, 1),
          fixedText(static_cast<double>(row.bytes) / 1e6, 1),
          row.operations ? fixedText(static_cast<double>(row.operations) / 1e9, 1) : "",
          std::string(measured.bound),
          errorText(measured),
          percent(measured.share())};
}

const std::vector<std::string> kTitles{"operator", "tensors", "kernels",  ">us",     ">MB",
                                       ">GFLOP",   "bound",   ">error %", ">share %"};

std::string htmlOf(const std::string& device, const Reached& reached, std::span<const Measured> rows) {
  HtmlReport report("Operators against their bounds");
  report.paragraph(summary(device, reached));
  auto titles = kTitles;
  titles.push_back("share");
  for (const bool small : {false, true}) {
    report.table(small ? "Small tensors" : "Large tensors", titles);
    for (const Measured& measured : rows)
      if (measured.row.small == small) report.row(cellsOf(measured), measured.share(), 0.75);
  }
  return report.text();
}

// Share, microseconds, bound, and what was measured: as short as it gets.
std::string lineOf(const Measured& measured) {
  char text[64];
  std::snprintf(text, sizeof text, "%3.0f %% %9.1f %-10s ", 100 * measured.share(), measured.microseconds,
                std::string(measured.bound).c_str());
  return text + measured.row.name();
}

void report(const BenchAllOptions& options, const std::string& device, const Reached& reached,
            std::span<const Measured> rows) {
  if (!options.htmlFile.empty()) writeText(options.htmlFile, htmlOf(device, reached, rows));
  if (!options.jsonFile.empty()) writeText(options.jsonFile, jsonOf(options, device, reached, rows).dump(1) + "\n");
  if (options.asJson) {
    std::printf("%s\n", jsonOf(options, device, reached, rows).dump(2).c_str());
    return;
  }
  std::printf("%s\n", summary(device, reached).c_str());
  if (options.below > 0) {
    std::vector<const Measured*> slow;
    for (const Measured& measured : rows)
      if (100 * measured.share() < options.below) slow.push_back(&measured);
    std::ranges::stable_sort(slow, {}, [](const Measured* measured) { return measured->share(); });
    for (const Measured* measured : slow) std::printf("%s\n", lineOf(*measured).c_str());
    return;
  }
  Table table(kTitles);
  for (const Measured& measured : rows) table.add(cellsOf(measured));
  table.print();
}

void measureAll(const Device& device, const BenchAllOptions& options, BenchContents& contents,
                std::vector<Com<ID3D12Resource>>& outputs, std::span<Measured> rows, size_t referenceCount,
                Reached& reached) {
  constexpr size_t kAtOnce = 48;
  Progress progress("measuring", rows.size(), &device);
  for (size_t first = 0; first < rows.size();) {
    const size_t count = first == 0 ? referenceCount : std::min(kAtOnce, rows.size() - first);
    Batch batch(device, options, contents, outputs, rows.subspan(first, count));
    batch.warmUp(std::chrono::milliseconds(options.scale == 1 ? 300 : 10));
    for (size_t i = 0; i < count; ++i) {
      progress.step(rows[first + i].row.name());
      batch.measure(i);
      if (first != 0) setBound(rows[first + i], reached);
    }
    if (first == 0) {
      reached = reachedBy(rows.first(count));
      for (Measured& measured : rows.first(count)) setBound(measured, reached);
    }
    first += count;
  }
}

}  // namespace

int benchAll(const BenchAllOptions& options) {
  if (!options.scale || !options.iterations) throw InputError("Scale and iterations must be at least 1.");
  size_t referenceCount = 0;
  std::vector<Measured> rows = rowsOf(options, referenceCount);
  if (options.lines) {
    for (const Measured& measured : rows) std::printf("%s\n", measured.row.line.c_str());
    return 0;
  }
  const Device device(options.device);
  BenchContents contents(device);
  std::vector<Com<ID3D12Resource>> outputs;
  reserve(device, rows, contents, outputs);

  Reached reached;
  std::string failure;
  try {
    measureAll(device, options, contents, outputs, rows, referenceCount, reached);
  } catch (const RunError& error) {
    // A report of what was measured so far is still useful.
    failure = error.what();
    std::erase_if(rows, [](const Measured& measured) { return measured.bound.empty(); });
  }
  report(options, device.name(), reached, rows);
  if (!failure.empty()) throw RunError(failure);
  const auto wrong = std::ranges::find_if(rows, [](const Measured& row) { return !row.verdict.failure.empty(); });
  if (wrong != rows.end()) throw RunError(cat(wrong->row.line, " is wrong: ", wrong->verdict.failure));
  return 0;
}

}  // namespace dimple::tool
