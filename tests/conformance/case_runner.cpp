#include "tests/conformance/case_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/text.h"
#include "tests/conformance/fills/fills.h"
#include "tests/conformance/main_type.h"
#include "tests/conformance/random.h"

namespace dimple::testing {
namespace {

constexpr size_t kCanary = 256;
constexpr size_t kBatchCases = 512;
constexpr size_t kBatchBytes = size_t{16} << 20;

size_t alignUp(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

std::string inputName(size_t index) { return cat("input ", index); }

// Copies `bits` at an offset in bits: whole bytes, or half a one.
void copyBits(std::byte* to, const std::byte* from, size_t offset, size_t bits) {
  if (bits >= 8) std::memcpy(to + offset / 8, from + offset / 8, bits / 8);
  if (bits % 8 == 0) return;
  const size_t last = (offset + bits) / 8;
  const std::byte mask = (offset + bits) % 8 != 0 ? std::byte{0x0f} : std::byte{0xf0};
  const size_t at = mask == std::byte{0x0f} ? last : last - 1;
  to[at] = (to[at] & ~mask) | (from[at] & mask);
}

// Calls visit(offset, size), in bits, for each element of a tensor or for all of them.
template <class Visit>
void forEachElement(const DML_BUFFER_TENSOR_DESC& tensor, Visit visit) {
  const size_t width = oracle::elementBits(tensor.DataType);
  uint64_t count = 1;
  for (UINT d = 0; d < tensor.DimensionCount; ++d) count *= tensor.Sizes[d];
  if (!tensor.Strides) return visit(size_t{0}, static_cast<size_t>(count) * width);
  std::vector<uint32_t> at(tensor.DimensionCount);
  uint64_t offset = 0;
  for (uint64_t i = 0; i < count; ++i) {
    visit(static_cast<size_t>(offset) * width, width);
    for (UINT d = tensor.DimensionCount; d-- > 0;) {
      offset += tensor.Strides[d];
      if (++at[d] < tensor.Sizes[d]) break;
      offset -= uint64_t{tensor.Strides[d]} * tensor.Sizes[d];
      at[d] = 0;
    }
  }
}

// Exact results demanded of an oracle that grants a tolerance to values of every kind.
void tighten(oracle::Result& expected) {
  expected.tolerance = oracle::exactButZeroSign();
  expected.magnitude.clear();
  expected.slack.clear();
}

// Direct3D 12 leaves it to the driver how a shader's float is rounded to FLOAT16 and whether it overflows.
void allowOtherRounding(const TestCase& test, oracle::Result& expected) {
  if (expected.value.type != DML_TENSOR_DATA_TYPE_FLOAT16) return;
  if (expected.tolerance.kind == oracle::Tolerance::Kind::Exact) {
    // What only moves elements rounds nothing.
    if (test.type() != DML_OPERATOR_CAST || test.inputs[0]->DataType == DML_TENSOR_DATA_TYPE_FLOAT16) return;
    expected.tolerance = oracle::ulp(0, 0);
  }
  const auto& values = expected.value.real;
  expected.slack.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double rounded = oracle::roundTo(expected.value.type, values[i]);
    expected.slack[i] += std::isfinite(rounded)     ? oracle::spacing(expected.value.type, rounded)
                         : std::isfinite(values[i]) ? std::numeric_limits<double>::infinity()
                                                    : 0;
  }
}

// Whether all indices along the axis are one in memory.
bool sharesIndices(const DML_SCATTER_OPERATOR_DESC& desc) {
  const auto& indices = *static_cast<const DML_BUFFER_TENSOR_DESC*>(desc.IndicesTensor->Desc);
  return indices.Strides && indices.Strides[desc.Axis] == 0 && indices.Sizes[desc.Axis] > 1;
}

// Whether runs may differ: where indices repeat, which of the elements is written last is open.
bool mayDiffer(const TestCase& test) {
  const DML_OPERATOR_DESC desc = test.desc.desc();
  if (desc.Type == DML_OPERATOR_SCATTER && sharesIndices(*static_cast<const DML_SCATTER_OPERATOR_DESC*>(desc.Desc)))
    return true;
  return test.line.find("indices=wild") != test.line.npos &&
         (test.type() == DML_OPERATOR_SCATTER_ELEMENTS || test.type() == DML_OPERATOR_MAX_UNPOOLING ||
          test.type() == DML_OPERATOR_SCATTER_ND);
}

// Whether a wrong result could pass for this one: most elements are free, or all are the same.
bool isVacuous(const oracle::Result& expected) {
  const size_t count = expected.value.count();
  const auto free = static_cast<size_t>(
      std::count(expected.slack.begin(), expected.slack.end(), std::numeric_limits<double>::infinity()));
  if (count < 16) return false;
  if (free * 2 > count) return true;
  const auto& real = expected.value.real;
  const auto& whole = expected.value.whole;
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return whole.empty() ? std::all_of(real.begin(), real.end(), [&](double x) { return same(x, real[0]); })
                       : std::all_of(whole.begin(), whole.end(), [&](int64_t x) { return x == whole[0]; });
}

}  // namespace

struct CaseRunner::Pending {
  CaseOutcome outcome;
  std::optional<TestCase> test;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  std::vector<ComPtr<IDMLBindingTable>> tables;
  DML_BINDING_PROPERTIES execution{}, initialization{};
  Range all;  // of the batch's memory, canaries included
  std::vector<Range> inputs, outputs;
  Range temporary, persistent;
  std::vector<oracle::Array> arrays;  // the inputs as they stand in memory
  std::vector<oracle::Result> expected;

  bool failed() const { return !outcome.failure.empty(); }
  void fail(std::string text) {
    if (!failed()) outcome.failure = std::move(text);
  }
};

CaseRunner::CaseRunner(Gpu& gpu, Report report, bool keepOutputs)
    : gpu_(gpu), report_(std::move(report)), keepOutputs_(keepOutputs) {}
CaseRunner::~CaseRunner() = default;

void CaseRunner::finish(std::unique_ptr<Pending> pending) { report_(pending->outcome); }

std::string CaseRunner::validationMessage() {
  const auto messages = gpu_.takeMessages();
  return messages.empty() ? std::string() : cat("A message was sent: ", messages.front());
}

void CaseRunner::add(std::string_view line) {
  auto pending = std::make_unique<Pending>();
  pending->outcome.line = line;
  auto test = parseTestCase(line);
  if (test) {
    pending->outcome.type = test->type();
    pending->outcome.dataType = mainType(test->desc.desc());
    pending->test.emplace(std::move(*test));
  }
  pending->fail(test ? prepare(*pending) : test.error().text);
  if (pending->failed() || pending->test->refused) return finish(std::move(pending));

  size_t bytes = pending->execution.TemporaryResourceSize + pending->execution.PersistentResourceSize;
  for (const auto* tensors : {&pending->test->inputs, &pending->test->outputs})
    for (const auto* tensor : *tensors) bytes += tensor ? tensor->TotalTensorSizeInBytes : 0;
  if (!batch_.empty() && (batch_.size() == kBatchCases || used_ + bytes > kBatchBytes)) flush();
  pending->fail(place(*pending));
  if (pending->failed()) return finish(std::move(pending));
  batch_.push_back(std::move(pending));
}

// Makes the operator and what it needs to run.
std::string CaseRunner::prepare(Pending& pending) {
  const TestCase& test = *pending.test;
  const DML_OPERATOR_DESC desc = test.desc.desc();
  IDMLDevice& device = gpu_.device();
  if (const HRESULT reason = device.GetDeviceRemovedReason(); FAILED(reason))
    return "The device was removed by an earlier case.";
  ComPtr<IDMLOperator> op;
  const HRESULT created = device.CreateOperator(&desc, IID_PPV_ARGS(&op));
  if (test.refused) {
    if (created == E_INVALIDARG) return {};
    return SUCCEEDED(created) ? "CreateOperator accepts it, expected E_INVALIDARG."
                              : cat("CreateOperator answers ", gpu_.refusalText(created), " Expected E_INVALIDARG.");
  }
  if (FAILED(created)) return cat("CreateOperator: ", gpu_.refusalText(created));
  if (!oracle::knows(desc.Type)) return "The oracle does not know the operator.";
  const DML_EXECUTION_FLAGS flags =
      test.halfPrecision ? DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION : DML_EXECUTION_FLAG_NONE;
  if (const HRESULT result = device.CompileOperator(op.Get(), flags, IID_PPV_ARGS(&pending.compiled)); FAILED(result))
    return cat("CompileOperator: ", gpu_.refusalText(result));
  pending.execution = dimpleGetBindingProperties(pending.compiled.Get());
  if (pending.execution.PersistentResourceSize != 0) {
    IDMLCompiledOperator* const operators[] = {pending.compiled.Get()};
    if (const HRESULT result = device.CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&pending.initializer));
        FAILED(result))
      return cat("CreateOperatorInitializer: ", gpu_.refusalText(result));
    pending.initialization = dimpleGetBindingProperties(pending.initializer.Get());
  }
  return validationMessage();
}

CaseRunner::Range CaseRunner::allocate(size_t bytes, size_t alignment, size_t skew) {
  if (bytes == 0) return {};
  const size_t offset = alignUp(used_, std::max(alignment, kCanary)) + skew;
  used_ = offset + bytes + kCanary;
  return {offset, bytes};
}

// Gives every binding a range of the batch's memory, with canaries between.
std::string CaseRunner::place(Pending& pending) {
  const TestCase& test = *pending.test;
  Random random(hashOf(test.line));
  const auto tensorRange = [&](const DML_BUFFER_TENSOR_DESC* tensor) {
    if (!tensor) return Range{};
    // A tensor may start at any multiple of 16 bytes that its description does not exclude.
    const size_t alignment = std::max<size_t>(tensor->GuaranteedBaseOffsetAlignment, 16);
    return allocate(tensor->TotalTensorSizeInBytes, alignment, alignment < kCanary ? random.below(3) * alignment : 0);
  };
  used_ = alignUp(used_, kCanary);
  pending.all.offset = used_;
  used_ += kCanary;
  for (const auto* tensor : test.inputs) pending.inputs.push_back(tensorRange(tensor));
  for (const auto* tensor : test.outputs) pending.outputs.push_back(tensorRange(tensor));
  if (test.inPlace) {
    if (test.inputs[0]->TotalTensorSizeInBytes != test.outputs[0]->TotalTensorSizeInBytes)
      return "inplace is given, but input 0 and the output have different TotalTensorSizeInBytes.";
    pending.outputs[0] = pending.inputs[0];
  }
  // DirectML promises less, but Microsoft's asks the alignment of a tensor of the copy that it makes of it, too.
  const size_t temporaryAlignment = gpu_.isDimple() ? kCanary : 4096;
  pending.temporary = allocate(pending.execution.TemporaryResourceSize, temporaryAlignment, 0);
  pending.persistent = allocate(pending.execution.PersistentResourceSize, kCanary, 0);
  pending.all.bytes = used_ - pending.all.offset;
  return {};
}

// Poison everywhere, then the inputs' elements; what no element covers stays poison.
void CaseRunner::fillMemory() {
  used_ = alignUp(used_, kCanary);
  before_.resize(used_);
  Random random(batch_.size());
  for (size_t i = 0; i < used_; i += sizeof(uint64_t)) {
    const uint64_t poison = random.next();
    std::memcpy(&before_[i], &poison, sizeof poison);
  }
  for (auto& pending : batch_) {
    const TestCase& test = *pending->test;
    // Some kernels compute elements anew that are not finite: in every other case what stands between dispatches is
    // small, so that elements that were not written are not mended.
    constexpr uint64_t kSmallHalves = 0xbfffbfffbfffbfff;
    if (hashOf(test.line) % 2 == 0)
      for (const Range& range : {pending->temporary, pending->persistent})
        for (size_t i = range.offset; i < range.offset + range.bytes; i += sizeof(uint64_t)) {
          uint64_t poison = 0;
          std::memcpy(&poison, &before_[i], sizeof poison);
          poison &= kSmallHalves;
          std::memcpy(&before_[i], &poison, sizeof poison);
        }
    for (size_t i = 0; i < test.inputs.size(); ++i) {
      pending->arrays.emplace_back();
      if (!test.inputs[i]) continue;
      auto array = fillInput(test, i);
      if (!array) {
        pending->fail(array.error().text);
        continue;
      }
      const std::span memory(&before_[pending->inputs[i].offset], pending->inputs[i].bytes);
      oracle::write(*test.inputs[i], *array, memory);
      // Coordinates that share an element hold what was written last.
      pending->arrays.back() = oracle::read(*test.inputs[i], memory);
    }
    for (size_t i = 0; i < test.outputs.size(); ++i) {
      if (!test.outputs[i] || !readsOutput(test, i)) continue;
      const std::span memory(&before_[pending->outputs[i].offset], pending->outputs[i].bytes);
      oracle::write(*test.outputs[i], fillOutput(test, i), memory);
      pending->arrays.push_back(oracle::read(*test.outputs[i], memory));
    }
  }
}

std::string CaseRunner::reserve() {
  IDimpleContext& context = gpu_.context();
  HRESULT result = S_OK;
  if (!recorder_) result = gpu_.device().CreateCommandRecorder(IID_PPV_ARGS(&recorder_));
  if (SUCCEEDED(result)) result = list_ ? context.ResetCommandList(list_.Get()) : context.CreateCommandList(&list_);
  if (SUCCEEDED(result) && bufferBytes_ < used_) {
    buffer_.Reset();
    bufferBytes_ = std::max(used_, kBatchBytes + kBatchBytes / 2);
    result = context.CreateBuffer(bufferBytes_, &buffer_);
  }
  UINT descriptors = 1;
  for (const auto& pending : batch_)
    descriptors += pending->execution.RequiredDescriptorCount + pending->initialization.RequiredDescriptorCount;
  if (SUCCEEDED(result) && heapDescriptors_ < descriptors) {
    heapDescriptors_ = std::max(descriptors, 4096u);
    heap_.Reset();
    result = context.CreateDescriptorHeap(heapDescriptors_, &heap_);
  }
  if (SUCCEEDED(result)) {
    ID3D12DescriptorHeap* const heaps[] = {heap_.Get()};
    list_->SetDescriptorHeaps(1, heaps);
    result = context.Upload(buffer_.Get(), 0, before_.data(), used_);
  }
  return FAILED(result) ? gpu_.refusalText(result) : std::string();
}

DML_BUFFER_BINDING CaseRunner::binding(const Range& range) const {
  return range.bytes ? DML_BUFFER_BINDING{buffer_.Get(), range.offset, range.bytes} : DML_BUFFER_BINDING{};
}

// Binds and records one dispatchable of a case; `descriptor` is the next free one of the heap.
std::string CaseRunner::record(Pending& pending, bool initialization, UINT& descriptor) {
  const TestCase& test = *pending.test;
  IDMLDispatchable* dispatchable = pending.compiled.Get();
  if (initialization) dispatchable = pending.initializer.Get();
  const UINT count = (initialization ? pending.initialization : pending.execution).RequiredDescriptorCount;
  DML_BINDING_TABLE_DESC tableDesc{dispatchable, dimpleGetCPUStart(heap_.Get()), dimpleGetGPUStart(heap_.Get()), count};
  tableDesc.CPUDescriptorHandle.ptr += descriptor * gpu_.context().GetDescriptorIncrement();
  tableDesc.GPUDescriptorHandle.ptr += descriptor * gpu_.context().GetDescriptorIncrement();
  descriptor += count;
  ComPtr<IDMLBindingTable> table;
  if (const HRESULT result = gpu_.device().CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table)); FAILED(result))
    return cat("CreateBindingTable: ", gpu_.refusalText(result));
  pending.tables.push_back(table);

  const auto isOwned = [](const DML_BUFFER_TENSOR_DESC* tensor) {
    return tensor && tensor->Flags == DML_TENSOR_FLAG_OWNED_BY_DML;
  };
  const auto bind = [](const DML_BUFFER_BINDING& buffer) {
    return buffer.Buffer ? DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &buffer} : DML_BINDING_DESC{};
  };
  std::vector<DML_BUFFER_BINDING> inputs, outputs;
  for (size_t i = 0; i < test.inputs.size(); ++i)
    inputs.push_back(binding(isOwned(test.inputs[i]) == initialization ? pending.inputs[i] : Range{}));
  for (const Range& range : pending.outputs) outputs.push_back(binding(range));
  const DML_BUFFER_BINDING persistent = binding(pending.persistent);
  const DML_BINDING_DESC persistentDesc = bind(persistent);
  if (initialization) {
    const DML_BUFFER_ARRAY_BINDING array{static_cast<UINT>(inputs.size()), inputs.data()};
    const DML_BINDING_DESC inputDesc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    table->BindInputs(1, &inputDesc);
    table->BindOutputs(1, &persistentDesc);
  } else {
    std::vector<DML_BINDING_DESC> inputDescs, outputDescs;
    for (const auto& input : inputs) inputDescs.push_back(bind(input));
    for (const auto& output : outputs) outputDescs.push_back(bind(output));
    table->BindInputs(static_cast<UINT>(inputDescs.size()), inputDescs.data());
    table->BindOutputs(static_cast<UINT>(outputDescs.size()), outputDescs.data());
    const DML_BUFFER_BINDING temporary = binding(pending.temporary);
    const DML_BINDING_DESC temporaryDesc = bind(temporary);
    if (pending.temporary.bytes) table->BindTemporaryResource(&temporaryDesc);
    if (pending.persistent.bytes) table->BindPersistentResource(&persistentDesc);
  }
  recorder_->RecordDispatch(list_.Get(), dispatchable, table.Get());
  if (const HRESULT reason = gpu_.device().GetDeviceRemovedReason(); FAILED(reason))
    return cat("The device was removed. ", gpu_.refusalText(reason));
  return validationMessage();
}

std::string CaseRunner::submit(UINT64& fence) {
  HRESULT result = list_->Close();
  if (SUCCEEDED(result)) result = gpu_.context().Execute(list_.Get(), &fence);
  return FAILED(result) ? gpu_.refusalText(result) : std::string();
}

std::string CaseRunner::receive(UINT64 fence, std::vector<std::byte>& memory) {
  memory.resize(used_);
  IDimpleContext& context = gpu_.context();
  HRESULT result = context.Wait(fence);
  if (SUCCEEDED(result)) result = context.Download(buffer_.Get(), 0, memory.data(), used_);
  return FAILED(result) ? gpu_.refusalText(result) : std::string();
}

std::string CaseRunner::runAgain() {
  IDimpleContext& context = gpu_.context();
  for (size_t run = 2; run <= runs_; ++run) {
    UINT64 fence = 0;
    HRESULT result = context.Upload(buffer_.Get(), 0, before_.data(), used_);
    if (SUCCEEDED(result)) result = context.Execute(list_.Get(), &fence);
    if (FAILED(result)) return gpu_.refusalText(result);
    if (std::string error = receive(fence, again_); !error.empty()) return error;
    if (again_ == after_) continue;
    for (auto& pending : batch_)
      for (size_t i = 0; i < pending->outputs.size(); ++i) {
        const Range& range = pending->outputs[i];
        if (range.bytes && !mayDiffer(*pending->test) &&
            std::memcmp(&after_[range.offset], &again_[range.offset], range.bytes) != 0)
          pending->fail(cat(pending->test->outputNames[i], " of run ", run, " has other bits than that of the first."));
      }
  }
  return {};
}

void CaseRunner::flush() {
  if (batch_.empty()) return;
  fillMemory();
  std::string error = reserve();
  UINT64 fence = 0;
  if (error.empty()) {
    UINT descriptor = 0;
    bool initialized = false;
    for (auto& pending : batch_) {
      if (!pending->initializer || pending->failed()) continue;
      pending->fail(record(*pending, true, descriptor));
      initialized = true;
    }
    if (initialized) {
      D3D12_RESOURCE_BARRIER barrier{};
      barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
      list_->ResourceBarrier(1, &barrier);
    }
    for (auto& pending : batch_)
      if (!pending->failed()) pending->fail(record(*pending, false, descriptor));
    error = submit(fence);
  }
  if (!error.empty()) list_.Reset();  // its state is unknown
  const bool ran = error.empty();
  if (ran) {
    // While the device computes.
    for (auto& pending : batch_)
      if (!pending->failed()) evaluate(*pending);
    error = receive(fence, after_);
    if (error.empty()) error = runAgain();
  }
  if (error.empty()) error = validationMessage();
  if (!error.empty()) error = cat("The submission of ", batch_.size(), " cases of which this is the first: ", error);
  bool first = true;
  for (auto& pending : batch_) {
    if (!error.empty() && (first || !ran)) pending->fail(error);
    first = false;
    if (!pending->failed()) judge(*pending);
    finish(std::move(pending));
  }
  batch_.clear();
  used_ = 0;
}

void CaseRunner::evaluate(Pending& pending) {
  const TestCase& test = *pending.test;
  try {
    pending.expected = oracle::evaluate(test.desc.desc(), pending.arrays);
    for (auto& expected : pending.expected)
      if (mustBeExact(test)) tighten(expected);
    for (const auto& [output, text] : test.givenOutputs) {
      const oracle::Result& expected = pending.expected.at(output);
      const auto given = parseElements(text, expected.value.type, expected.value.sizes);
      if (!given) return pending.fail(given.error().text);
      const auto comparison = oracle::compare(expected, *given);
      if (!comparison.ok) return pending.fail(cat("The line contradicts the oracle: given ", comparison.message));
    }
    pending.outcome.vacuous = std::any_of(pending.expected.begin(), pending.expected.end(), isVacuous);
    if (!gpu_.isDimple() && !mustBeExact(test))
      for (auto& expected : pending.expected) allowOtherRounding(test, expected);
  } catch (const std::exception& e) {
    pending.fail(cat("The oracle refuses the case: ", e.what()));
  }
}

void CaseRunner::judge(Pending& pending) {
  for (size_t i = 0; i < pending.outputs.size(); ++i)
    if (pending.test->outputs[i]) judgeOutput(pending, i);
  // What was written rightfully is the same in both by now.
  for (const Range& range : {pending.temporary, pending.persistent})
    if (range.bytes) std::memcpy(&before_[range.offset], &after_[range.offset], range.bytes);
  const std::byte* was = &before_[pending.all.offset];
  const std::byte* is = &after_[pending.all.offset];
  if (std::memcmp(was, is, pending.all.bytes) == 0) return;
  const size_t at =
      pending.all.offset + static_cast<size_t>(std::mismatch(was, was + pending.all.bytes, is).first - was);
  const auto describe = [&](const std::vector<Range>& ranges, bool input) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Range& range = ranges[i];
      const std::string name = input ? inputName(i) : pending.test->outputNames[i];
      if (at >= range.offset && at < range.offset + range.bytes)
        pending.fail(cat("Byte ", at - range.offset, " of ", name, ", which no output element covers, was changed."));
      if (at >= range.offset + range.bytes && at < range.offset + range.bytes + kCanary)
        pending.fail(cat("Byte ", at - range.offset - range.bytes, " behind ", name, " was changed."));
    }
  };
  describe(pending.outputs, false);
  describe(pending.inputs, true);
  pending.fail(cat("Byte ", at - pending.all.offset, " of the case's memory, which no tensor covers, was changed."));
}

void CaseRunner::judgeOutput(Pending& pending, size_t output) {
  const DML_BUFFER_TENSOR_DESC& tensor = *pending.test->outputs[output];
  const Range& range = pending.outputs[output];
  const oracle::Result& expected = pending.expected[output];
  auto actual = oracle::read(tensor, std::span(&after_[range.offset], range.bytes));
  const auto comparison = oracle::compare(expected, actual);
  if (!comparison.ok)
    pending.fail(cat(pending.test->outputNames[output], ": ", comparison.message));
  else
    pending.outcome.maxShare = std::max(pending.outcome.maxShare, comparison.maxShare);
  const bool granted =
      std::any_of(expected.slack.begin(), expected.slack.end(), [](double slack) { return slack != 0; });
  if (!granted && expected.tolerance.kind != oracle::Tolerance::Kind::Sum)
    pending.outcome.maxUlp = std::max(pending.outcome.maxUlp.value_or(0), comparison.maxUlp);
  forEachElement(tensor, [&](size_t offset, size_t bits) {
    copyBits(&before_[range.offset], &after_[range.offset], offset, bits);
  });
  if (keepOutputs_) pending.outcome.outputs.push_back({std::move(pending.expected[output]), std::move(actual)});
}

}  // namespace dimple::testing
