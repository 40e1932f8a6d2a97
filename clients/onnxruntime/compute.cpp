#include "clients/onnxruntime/compute.h"

#include <algorithm>
#include <optional>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"
#include "clients/onnxruntime/elements.h"
#include "clients/onnxruntime/graph_reader.h"

namespace dimple::ort {

using onnx::cat;

namespace {

OrtStatus* ORT_API_CALL createState(OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) noexcept {
  *state = self;
  return nullptr;
}

OrtStatus* ORT_API_CALL compute(OrtNodeComputeInfo* self, void*, OrtKernelContext* context) noexcept {
  return guarded([&] { static_cast<Group*>(self)->run(*context); });
}

void ORT_API_CALL releaseState(OrtNodeComputeInfo*, void*) noexcept {}

std::unique_ptr<onnx::Model> modelOf(const OrtGraph& graph, const OrtNode& fused) {
  onnx::ModelDescription description = describeNodes(graph, nodesOf(graph));
  for (const OrtValueInfo* input : inputsOf(fused))
    if (input && !isConstant(*input)) description.graph.inputs.push_back(describeValue(*input));
  for (const OrtValueInfo* output : outputsOf(fused))
    if (output) description.graph.outputs.push_back(nameOf(*output));
  return std::make_unique<onnx::Model>(std::move(description));
}

}  // namespace

// One run: where ONNX Runtime has the tensors.
class Group::Call : public onnx::Caller {
 public:
  Call(const Group& group, OrtKernelContext& context, bool isTimed)
      : group_(group), context_(context), isTimed_(isTimed) {
    for (size_t i = 0; i < group.inputs_.size(); ++i) {
      if (group.inputs_[i].empty()) continue;
      const OrtValue* value = nullptr;
      check(runtime().api->KernelContext_GetInput(&context, i, &value));
      if (!value) throw StatusError(ORT_EP_FAIL, cat("Input \"", group.inputs_[i], "\" is not given."));
      infos_[group.inputs_[i]] = describeTensor(*value);
      values_[group.inputs_[i]] = value;
    }
  }
  ~Call() override {
    for (void* address : scratch_) heap().free(address);
  }
  Call(const Call&) = delete;

  const onnx::InputInfos& infos() const { return infos_; }

  onnx::SharedTensor read(const std::string& input) override {
    onnx::SharedTensor& tensor = read_[input];
    if (tensor) return tensor;
    const onnx::TensorInfo& info = infos_.at(input);
    const TensorMemory memory = memoryOf(*values_.at(input));
    if (!isOurs(memory)) {
      tensor = hostTensor(info.type, info.sizes, {static_cast<const std::byte*>(memory.data), memory.bytes});
    } else {
      std::vector<std::byte> bytes(memory.bytes);
      group_.device_.download(heap().find(memory.data, memory.bytes), bytes.data(), bytes.size());
      tensor = hostTensor(info.type, info.sizes, bytes);
    }
    return tensor;
  }

  onnx::BufferRange input(const std::string& name) override {
    const onnx::TensorInfo& info = infos_.at(name);
    const TensorMemory memory = memoryOf(*values_.at(name));
    if (isOurs(memory) && !isConverted(info.type)) return heap().find(memory.data, memory.bytes);
    onnx::BufferRange& range = copies_[name];
    if (range.buffer) return range;
    range = scratch(onnx::deviceSize(info));
    if (isConverted(info.type))
      onnx::upload(group_.device_.context(), range, *read(name));
    else
      group_.device_.upload(range, memory.data, memory.bytes);
    return range;
  }

  onnx::BufferRange output(const std::string& name, const onnx::TensorInfo& info) override {
    const TensorMemory memory = memoryOf(place(name, info));
    if (isOurs(memory) && !isConverted(info.type)) return heap().find(memory.data, memory.bytes);
    const onnx::BufferRange range = scratch(onnx::deviceSize(info));
    moved_.push_back({range, info, memory});
    return range;
  }

  bool isTimed() const override { return isTimed_; }

  void constantOutput(const std::string& name, const onnx::SharedTensor& value) override {
    put(*value, memoryOf(place(name, {value->type, value->sizes})));
  }

  // After the program has been submitted.
  void finish() {
    for (const Moved& moved : moved_)
      if (!isConverted(moved.info.type))
        group_.device_.download(moved.from, moved.to.data, moved.to.bytes);
      else
        put(onnx::download(group_.device_.context(), moved.from, moved.info.type, moved.info.sizes), moved.to);
  }

 private:
  struct Moved {
    onnx::BufferRange from;
    onnx::TensorInfo info;
    TensorMemory to;
  };

  Heap& heap() const { return group_.device_.heap(); }
  bool isOurs(const TensorMemory& memory) const { return group_.adapters_.find(memory.device) != nullptr; }

  OrtValue& place(const std::string& name, const onnx::TensorInfo& info) {
    const auto index = std::ranges::find(group_.outputs_, name) - group_.outputs_.begin();
    OrtValue* value = nullptr;
    check(runtime().api->KernelContext_GetOutput(&context_, static_cast<size_t>(index), info.sizes.data(),
                                                 info.sizes.size(), &value));
    return *value;
  }

  void put(const onnx::HostTensor& tensor, const TensorMemory& memory) const {
    const std::vector<std::byte> bytes = memoryBytes(tensor);
    if (bytes.empty()) return;
    if (isOurs(memory))
      group_.device_.upload(heap().find(memory.data, bytes.size()), bytes.data(), bytes.size());
    else
      std::ranges::copy(bytes, static_cast<std::byte*>(memory.data));
  }

  onnx::BufferRange scratch(UINT64 bytes) {
    void* address = heap().allocate(bytes);
    scratch_.push_back(address);
    return heap().find(address, bytes);
  }

  const Group& group_;
  OrtKernelContext& context_;
  const bool isTimed_;
  onnx::InputInfos infos_;
  std::map<std::string, const OrtValue*> values_;
  std::map<std::string, onnx::SharedTensor> read_;
  std::map<std::string, onnx::BufferRange> copies_;
  std::vector<void*> scratch_;
  std::vector<Moved> moved_;
};

Group::Group(const OrtGraph& graph, const OrtNode& fused, const Adapters& adapters, Device& device,
             const ComputeOptions& options)
    : OrtNodeComputeInfo{},
      adapters_(adapters),
      device_(device),
      options_(options),
      model_(modelOf(graph, fused)),
      name_(nameOf(fused)) {
  ort_version_supported = ORT_API_VERSION;
  CreateState = createState;
  Compute = compute;
  ReleaseState = releaseState;
  for (const OrtValueInfo* input : inputsOf(fused))
    inputs_.push_back(input && !isConstant(*input) ? nameOf(*input) : "");
  for (const OrtValueInfo* output : outputsOf(fused)) outputs_.push_back(output ? nameOf(*output) : "");
  if (model_->hasOpenSizes())
    constants_.emplace(device.context(), device.dml(), *model_, onnx::SessionOptions{.flags = options.flags});
}

void Group::checkSizes(const onnx::InputInfos& infos) const {
  if (!onlyInputs_) return;
  for (const auto& [name, info] : infos)
    if (const onnx::Sizes& expected = onlyInputs_->at(name).sizes; info.sizes != expected)
      throw StatusError(ORT_INVALID_ARGUMENT, cat("Input \"", name, "\" has sizes ", onnx::listText(info.sizes),
                                                  ", expected ", onnx::listText(expected), ", as the model says."));
}

onnx::Program& Group::programFor(const onnx::InputInfos& infos, Call& call) {
  const auto fits = std::ranges::find_if(programs_, [&](const onnx::Program& one) { return one.fits(infos, call); });
  if (fits != programs_.end()) {
    programs_.splice(programs_.begin(), programs_, fits);
    return programs_.front();
  }
  checkSizes(infos);
  if (constants_) constants_->prepare();
  return programs_.emplace_front(device_.context(), device_.dml(), *model_,
                                 onnx::SessionOptions{.flags = options_.flags}, infos,
                                 constants_ ? &*constants_ : nullptr);
}

void Group::run(OrtKernelContext& context) {
  // Where programs are planned, one waits for the other; nobody waits for the device here but for what is read.
  const std::lock_guard lock(mutex_);
  ++runs_;
  Profiler* const profiler = Profiler::ofThread();
  if (!options_.trace && (!profiler || !device_.timingRefusal().empty())) {
    const std::shared_lock recording(device_.recording());
    Call call(*this, context, false);
    run(call, nullptr);
    return;
  }
  TimedRun timed(device_, options_.trace, profiler, name_, runs_);
  {
    Call call(*this, context, true);
    run(call, &timed);
  }
  timed.finish();
}

void Group::run(Call& call, TimedRun* timed) {
  onnx::Program& program = programFor(call.infos(), call);
  try {
    program.run(call);
  } catch (...) {
    if (!program.isSettled()) programs_.pop_front();
    throw;
  }
  if (!constants_ && !onlyInputs_ && program.isSettled()) {
    onlyInputs_ = call.infos();
    model_->forget();
  }
  if (timed) timed->wait();
  call.finish();
  uint64_t bytes = 0;
  const auto tooMany = std::ranges::find_if(programs_, [&](const onnx::Program& one) {
    bytes += &one == &program ? 0 : one.deviceBytes();
    return bytes > options_.maxCacheBytes;
  });
  programs_.erase(tooMany, programs_.end());
}

}  // namespace dimple::ort
