#include "clients/onnx/program.h"

#include <algorithm>

#include "clients/onnx/planner.h"

namespace dimple::onnx {

Program::Program(IDimpleContext& context, IDMLDevice& device, const Model& model, const SessionOptions& options,
                 InputInfos inputs, Constants* constants)
    : context_(context),
      device_(device),
      model_(model),
      options_(options),
      inputs_(std::move(inputs)),
      constants_(constants) {}

Program::~Program() {
  if (fence_) static_cast<void>(context_.Wait(fence_));
}

bool Program::fits(const InputInfos& inputs, Caller& caller) const {
  return dropped_.graphs == 0 && inputs == inputs_ &&
         std::ranges::all_of(
             read_, [&](const auto& entry) { return caller.read(entry.first)->bytes == entry.second->bytes; }) &&
         std::ranges::all_of(
             answers_, [&](const Answer& asked) { return asked.question(*caller.read(asked.input)) == asked.answer; });
}

bool Program::runStage(Stage& stage, Caller& caller) {
  if (stage.segment) {
    const auto rangeOf = [&](const std::string& name) {
      const Stage::Live& live = stage.reads.at(name);
      return live.buffer ? BufferRange{live.buffer, 0} : caller.input(name);
    };
    std::vector<BufferRange> inputs;
    for (const std::string& name : stage.segment->reads()) inputs.push_back(rangeOf(name));
    std::vector<BufferRange> outputs;
    for (const Stage::Output& output : stage.outputs) {
      outputs.push_back(output.buffer ? BufferRange{output.buffer, 0} : caller.output(output.name, output.info));
      if (output.continues.empty()) continue;
      if (const BufferRange before = rangeOf(output.continues); before != outputs.back())
        copy(context_, before, outputs.back(), deviceSize(output.info));
    }
    fence_ = stage.segment->submit(inputs, outputs, caller.isTimed());
  }
  bool changed = false;
  for (const auto& [name, live] : stage.wanted) {
    const BufferRange from = live.buffer ? BufferRange{live.buffer, 0} : caller.input(name);
    auto result = std::make_shared<const HostTensor>(download(context_, from, live.info.type, live.info.sizes));
    SharedTensor& before = stage.results[name];
    changed = changed || !before || result->bytes != before->bytes;
    before = std::move(result);
  }
  return changed;
}

void Program::run(Caller& caller) {
  if (stages_.empty()) {
    Planner(*this, caller).plan();
    planned_ = true;
  } else {
    const auto changed = std::ranges::find_if(stages_, [&](Stage& stage) { return runStage(stage, caller); });
    if (changed != stages_.end()) {
      planned_ = false;
      stages_.erase(changed + 1, stages_.end());
      std::erase_if(answers_, [&](const Answer& asked) { return asked.stage >= stages_.size(); });
      Planner(*this, caller).planRest();
      planned_ = true;
    }
  }
  for (const auto& [name, value] : constantOutputs_) caller.constantOutput(name, value);
}

bool Program::isSettled() const {
  return planned_ && stages_.size() == 1 && stages_[0].wanted.empty() && read_.empty() && answers_.empty() &&
         dropped_.graphs == 0;
}

UINT64 Program::deviceBytes() const {
  UINT64 bytes = 0;
  for (const Stage& stage : stages_) {
    if (stage.segment) bytes += stage.segment->deviceBytes();
    for (const Stage::Output& output : stage.outputs)
      bytes += output.buffer ? dimpleGetDesc(output.buffer.Get()).Width : 0;
  }
  return bytes;
}

SessionStatistics Program::statistics() const {
  SessionStatistics sum = dropped_;
  for (const Stage& stage : stages_) {
    sum.graphs += stage.segment ? 1 : 0;
    sum.operators += stage.operators;
  }
  return sum;
}

}  // namespace dimple::onnx
