#include "clients/dimple/program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "clients/dimple/progress.h"
#include "clients/dimple/table.h"
#include "clients/files/failure.h"
#include "clients/files/npy.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// Buffers are cleared in parts of this size, so that bytes without initial values take no memory of the host.
constexpr uint64_t kUploadBytes = uint64_t{64} << 20;

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void Program::run() {
  createBuffers();
  compile();
  execute();
  std::printf("Compiled %s in %.1f ms, executed %s in %.1f ms\n",
              countText(operators_.size(), options_.graph ? "graph" : "operator").c_str(), compileTime_,
              countText(dispatches_, "dispatch").c_str(), executeTime_);
  if (options_.profile) printProfile(times_);
}

void Program::createBuffers() {
  Progress progress("uploading", model_.buffers.size(), &device_);
  for (const Buffer& buffer : model_.buffers) {
    progress.step(buffer.name);
    buffers_.push_back(createBuffer(device_, buffer.bytes));
    upload(buffer, buffers_.back().get());
  }
}

void Program::upload(const Buffer& buffer, ID3D12Resource* to) const {
  std::vector<std::byte> part(static_cast<size_t>(std::min(buffer.bytes, kUploadBytes)));
  for (uint64_t begin = 0; begin < buffer.bytes; begin += kUploadBytes) {
    const uint64_t end = std::min(buffer.bytes, begin + kUploadBytes);
    std::ranges::fill(part, std::byte{});
    const uint64_t first = std::max(begin, buffer.offset);
    const uint64_t last = std::min<uint64_t>(end, buffer.offset + buffer.values.size());
    if (first < last)
      std::memcpy(&part[first - begin], &buffer.values[first - buffer.offset], static_cast<size_t>(last - first));
    device_.check(device_.context().Upload(to, begin, part.data(), end - begin),
                  cat(buffer.name, " cannot be uploaded"));
  }
}

void Program::compileOperators(std::vector<std::vector<BoundBuffer>>& owned) {
  Progress progress("compiling", model_.dispatchables.size(), &device_);
  for (const Dispatchable& dispatchable : model_.dispatchables) {
    progress.step(dispatchable.name);
    operators_.push_back(compileOperator(device_, dispatchable.desc.desc(), dispatchable.flags, dispatchable.place));
    owned.push_back(bound(dispatchable.desc, dispatchable.ownedBindings, Role::Input));
  }
}

void Program::compileGraphs(std::vector<std::vector<BoundBuffer>>& owned) {
  graphs_ = ModelGraph::split(model_);
  Progress progress("compiling", graphs_.size(), &device_);
  for (ModelGraph& graph : graphs_) {
    const std::string& place = graph.dispatches().front()->place;
    progress.step(place);
    std::vector<Com<IDMLOperator>> operators;
    std::vector<IDMLOperator*> pointers;
    for (const DispatchCommand* dispatch : graph.dispatches()) {
      const Dispatchable& dispatchable = model_.dispatchables[dispatch->dispatchable];
      operators.push_back(createOperator(device_, dispatchable.desc.desc(), dispatchable.place));
      pointers.push_back(operators.back().get());
    }
    operators_.push_back(compileGraph(device_, graph.desc(pointers), graph.flags(), cat("The graph at ", place)));
    auto& inputs = owned.emplace_back();
    for (const ModelGraph::Input& input : graph.inputs())
      inputs.push_back(input.owned ? bound(input.source) : BoundBuffer{});
  }
}

void Program::compile() {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::vector<BoundBuffer>> owned;
  if (options_.graph)
    compileGraphs(owned);
  else
    compileOperators(owned);
  std::vector<CompiledOperator*> pointers;
  for (CompiledOperator& op : operators_) pointers.push_back(&op);
  UINT descriptors = 0;
  UINT64 temporary = 0;
  const auto reserve = [&](const CompiledOperator& op) {
    descriptors += op.properties.RequiredDescriptorCount;
    temporary = std::max(temporary, op.properties.TemporaryResourceSize);
  };
  if (options_.graph)
    for (const CompiledOperator& op : operators_) reserve(op);
  else
    for (const ModelCommand& command : model_.commands)
      if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) reserve(operators_[dispatch->dispatchable]);
  runner_ = std::make_unique<Runner>(device_, descriptors, temporary);
  if (options_.timed) device_.check(device_.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  runner_->initialize(pointers, owned);
  if (options_.timed) initializationTimes_ = readProfile(device_);
  compileTime_ = millisecondsSince(start);
}

// Dispatches the operator of a command, or the graph that begins with it.
void Program::dispatch(size_t command) {
  const auto& dispatch = std::get<DispatchCommand>(model_.commands[command]);
  if (!options_.graph) {
    const Dispatchable& dispatchable = model_.dispatchables[dispatch.dispatchable];
    runner_->dispatch(operators_[dispatch.dispatchable], bound(dispatchable.desc, dispatch.bindings, Role::Input),
                      bound(dispatchable.desc, dispatch.bindings, Role::Output));
    ++dispatches_;
    return;
  }
  for (size_t g = 0; g < graphs_.size(); ++g) {
    if (graphs_[g].firstCommand() != command) continue;
    std::vector<BoundBuffer> inputs, outputs;
    for (const ModelGraph::Input& input : graphs_[g].inputs())
      inputs.push_back(input.owned ? BoundBuffer{} : bound(input.source));
    for (const BindingSource& output : graphs_[g].outputs()) outputs.push_back(bound(output));
    runner_->dispatch(operators_[g], inputs, outputs);
    ++dispatches_;
  }
}

// Adjacent dispatches go into one submission.
void Program::execute() {
  if (options_.profile && !options_.timed)
    device_.check(device_.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  Progress progress("executing", model_.commands.size(), &device_);
  for (size_t c = 0; c < model_.commands.size(); ++c) {
    const ModelCommand& command = model_.commands[c];
    if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) {
      progress.step(model_.dispatchables[dispatch->dispatchable].name);
      try {
        this->dispatch(c);
      } catch (const RunError& error) {
        throw RunError(cat(dispatch->place, " failed. ", error.what()));
      }
      continue;
    }
    if (!options_.output) continue;
    flush();
    if (const auto* print = std::get_if<PrintCommand>(&command)) {
      progress.step(model_.buffers[print->buffer].name);
      this->print(*print);
    } else {
      const auto& write = std::get<WriteFileCommand>(command);
      progress.step(model_.buffers[write.buffer].name);
      this->write(write);
    }
  }
  flush();
}

void Program::flush() {
  executeTime_ += runner_->flush();
  if (!options_.profile && !options_.timed) return;
  const auto times = readProfile(device_);
  times_.insert(times_.end(), times.begin(), times.end());
}

std::vector<BoundBuffer> Program::bound(const OwnedDesc& desc, const Bindings& bindings, Role role) const {
  std::vector<BoundBuffer> result;
  for (const BindPoint& point : bindPoints(desc)) {
    if (point.role != role) continue;
    const auto found = bindings.find(point.name);
    for (size_t i = 0; i < point.tensors.size(); ++i) {
      if (found == bindings.end()) {
        result.emplace_back();
        continue;
      }
      result.push_back(bound(found->second[i]));
    }
  }
  return result;
}

BoundBuffer Program::bound(const BindingSource& source) const {
  return {buffers_[source.buffer].get(), source.offset, model_.buffers[source.buffer].bytes - source.offset};
}

std::vector<std::byte> Program::download(size_t index) const {
  const Buffer& buffer = model_.buffers[index];
  std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes));
  device_.check(device_.context().Download(buffers_[index].get(), 0, bytes.data(), bytes.size()),
                cat(buffer.name, " cannot be downloaded"));
  return bytes;
}

std::vector<std::byte> Program::contents(size_t index) const {
  auto bytes = download(index);
  bytes.resize(static_cast<size_t>(model_.buffers[index].contentBytes()));
  return bytes;
}

void Program::print(const PrintCommand& command) const {
  const Buffer& buffer = model_.buffers[command.buffer];
  const auto bytes = contents(command.buffer);
  const bool typed = buffer.type != DML_TENSOR_DATA_TYPE_UNKNOWN;
  const DataType type = typed ? buffer.type : DML_TENSOR_DATA_TYPE_UINT8;
  const size_t width = byteWidth(type);
  std::printf("Resource '%s':%s", buffer.name.c_str(), command.verbose ? "\n" : " ");
  for (size_t i = 0; i < bytes.size() / width; ++i) {
    const std::string text = elementText(type, &bytes[i * width]);
    if (!command.verbose) {
      std::printf("%s%s", i ? ", " : "", text.c_str());
      continue;
    }
    std::printf("[%zu] %s (0x", i, text.c_str());
    for (size_t b = width; b-- > 0;) std::printf("%02X", static_cast<unsigned>(bytes[i * width + b]));
    std::printf(")\n");
  }
  if (!command.verbose) std::printf("\n");
}

void Program::write(const WriteFileCommand& command) const {
  const Buffer& buffer = model_.buffers[command.buffer];
  auto bytes = contents(command.buffer);
  if (command.channels) {
    writeImage(command.path,
               fromElements(bytes, buffer.type, command.layout, command.width, command.height, command.channels));
  } else if (command.path.extension() == ".npy") {
    size_t count = byteWidth(buffer.type);
    for (const uint32_t size : command.sizes) count *= size;
    bytes.resize(count);
    writeNpy(command.path, buffer.type, command.sizes, bytes);
  } else {
    writeFile(command.path, bytes);
  }
  std::printf("Resource '%s' written to '%s'\n", buffer.name.c_str(),
              command.path.lexically_normal().generic_string().c_str());
}

}  // namespace dimple::tool
