// dimple run
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "core/element_text.h"
#include "core/text.h"
#include "tools/dimple/command.h"
#include "tools/dimple/failure.h"
#include "tools/dimple/model.h"
#include "tools/dimple/npy.h"
#include "tools/dimple/profile.h"
#include "tools/dimple/progress.h"
#include "tools/dimple/runner.h"

namespace dimple::tool {
namespace {

struct RunOptions {
  std::string file;
  DeviceOptions device;
  ModelOptions model;
  std::vector<std::string> definitions;
  bool profile = false;
};

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// "1 dispatch", "2 dispatches"
std::string countText(size_t count, std::string_view noun) {
  return cat(count, " ", noun, count == 1 ? "" : noun.ends_with("h") ? "es" : "s");
}

class Program {
 public:
  Program(const Device& device, const Model& model, bool profile) : device_(device), model_(model), profile_(profile) {}

  void run() {
    createBuffers();
    compile();
    execute();
    std::printf("Compiled %s in %.1f ms, executed %s in %.1f ms\n", countText(operators_.size(), "operator").c_str(),
                compileTime_, countText(dispatches_, "dispatch").c_str(), executeTime_);
    if (profile_) printProfile(times_);
  }

 private:
  void createBuffers() {
    Progress progress("uploading", model_.buffers.size());
    for (const Buffer& buffer : model_.buffers) {
      progress.step(buffer.name);
      buffers_.push_back(createBuffer(device_, buffer.bytes));
      std::vector<std::byte> contents(static_cast<size_t>(buffer.bytes));
      std::copy(buffer.values.begin(), buffer.values.end(),
                contents.begin() + static_cast<std::ptrdiff_t>(buffer.offset));
      device_.check(device_.context().Upload(buffers_.back().get(), 0, contents.data(), contents.size()),
                    cat(buffer.name, " cannot be uploaded"));
    }
  }

  void compile() {
    const auto start = std::chrono::steady_clock::now();
    Progress progress("compiling", model_.dispatchables.size());
    std::vector<CompiledOperator*> pointers;
    std::vector<std::vector<BoundBuffer>> owned;
    for (const Dispatchable& dispatchable : model_.dispatchables) {
      progress.step(dispatchable.name);
      operators_.push_back(compileOperator(device_, dispatchable.desc.desc(), dispatchable.flags, dispatchable.place));
      owned.push_back(bound(dispatchable.desc, dispatchable.ownedBindings, Role::Input));
    }
    for (CompiledOperator& op : operators_) pointers.push_back(&op);
    UINT descriptors = 0;
    UINT64 temporary = 0;
    for (const ModelCommand& command : model_.commands)
      if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) {
        descriptors += operators_[dispatch->dispatchable].properties.RequiredDescriptorCount;
        temporary = std::max(temporary, operators_[dispatch->dispatchable].properties.TemporaryResourceSize);
      }
    runner_ = std::make_unique<Runner>(device_, descriptors, temporary);
    runner_->initialize(pointers, owned);
    compileTime_ = millisecondsSince(start);
  }

  // Adjacent dispatches go into one submission.
  void execute() {
    if (profile_) device_.check(device_.context().SetProfiling(TRUE), "Dispatches cannot be timed");
    Progress progress("executing", model_.commands.size());
    for (const ModelCommand& command : model_.commands) {
      if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) {
        const Dispatchable& dispatchable = model_.dispatchables[dispatch->dispatchable];
        progress.step(dispatchable.name);
        try {
          runner_->dispatch(operators_[dispatch->dispatchable],
                            bound(dispatchable.desc, dispatch->bindings, Role::Input),
                            bound(dispatchable.desc, dispatch->bindings, Role::Output));
        } catch (const RunError& error) {
          throw RunError(cat(dispatch->place, " failed. ", error.what()));
        }
        ++dispatches_;
        continue;
      }
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

  void flush() {
    executeTime_ += runner_->flush();
    if (!profile_) return;
    const auto times = readProfile(device_);
    times_.insert(times_.end(), times.begin(), times.end());
  }

  // The buffers of a dispatch in binding order; none where a tensor is absent.
  std::vector<BoundBuffer> bound(const OwnedDesc& desc, const Bindings& bindings, Role role) const {
    std::vector<BoundBuffer> result;
    for (const BindPoint& point : bindPoints(desc)) {
      if (point.role != role) continue;
      const auto found = bindings.find(point.name);
      for (size_t i = 0; i < point.tensors.size(); ++i) {
        if (found == bindings.end()) {
          result.emplace_back();
          continue;
        }
        const BindingSource& source = found->second[i];
        result.push_back(
            {buffers_[source.buffer].get(), source.offset, model_.buffers[source.buffer].bytes - source.offset});
      }
    }
    return result;
  }

  std::vector<std::byte> download(size_t index) const {
    const Buffer& buffer = model_.buffers[index];
    std::vector<std::byte> bytes(static_cast<size_t>(buffer.bytes));
    device_.check(device_.context().Download(buffers_[index].get(), 0, bytes.data(), bytes.size()),
                  cat(buffer.name, " cannot be downloaded"));
    bytes.resize(static_cast<size_t>(buffer.contentBytes()));
    return bytes;
  }

  void print(const PrintCommand& command) const {
    const Buffer& buffer = model_.buffers[command.buffer];
    const auto bytes = download(command.buffer);
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

  void write(const WriteFileCommand& command) const {
    const Buffer& buffer = model_.buffers[command.buffer];
    auto bytes = download(command.buffer);
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
                command.path.lexically_normal().string().c_str());
  }

  const Device& device_;
  const Model& model_;
  const bool profile_;
  std::vector<Com<ID3D12Resource>> buffers_;
  std::vector<CompiledOperator> operators_;
  std::unique_ptr<Runner> runner_;
  std::vector<KernelTime> times_;
  size_t dispatches_ = 0;
  double compileTime_ = 0;
  double executeTime_ = 0;
};

int runFile(RunOptions& options) {
  for (const std::string& definition : options.definitions) {
    const auto equals = definition.find('=');
    if (equals == definition.npos) throw InputError(cat("--define has \"", definition, "\", expected NAME=PATH."));
    options.model.definitions[definition.substr(0, equals)] = definition.substr(equals + 1);
  }
  const JsonFile file(options.file);
  const Model model = readModel(file, options.model);
  const Device device(options.device);
  std::printf("Running on '%s'\n", device.name().c_str());
  Program(device, model, options.profile).run();
  if (device.warnings()) throw RunError(cat("Vulkan validation gave ", device.warnings(), " messages."));
  return 0;
}

}  // namespace

Action setUpRun(CLI::App& options) {
  auto values = std::make_shared<RunOptions>();
  options.add_option("file", values->file, "The program, in the JSON dialect of DxDispatch")->required();
  addDeviceOptions(options, values->device);
  options.add_flag("--profile", values->profile, "Print the time of each kernel");
  options.add_option("--dir", values->model.outputFolder, "Folder that written files are relative to")
      ->capture_default_str();
  options.add_option("--define", values->definitions, "NAME=PATH: what ${NAME} in a path of the program stands for");
  return [values] { return runFile(*values); };
}

}  // namespace dimple::tool
