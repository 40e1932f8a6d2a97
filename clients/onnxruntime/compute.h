// A group of nodes as ONNX Runtime runs it.
#pragma once

#include <list>
#include <mutex>
#include <optional>

#include "clients/onnx/constants.h"
#include "clients/onnx/program.h"
#include "clients/onnxruntime/memory.h"
#include "clients/onnxruntime/trace.h"

namespace dimple::ort {

struct ComputeOptions {
  DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE;
  // Programs for other sizes than those of the last run are kept as long as they hold less.
  uint64_t maxCacheBytes = uint64_t{1} << 30;
  TraceFile* trace = nullptr;  // gets the times of all runs
};

// Programs of one group, one for each set of sizes that its inputs have had. Runs may come from several threads.
class Group : public OrtNodeComputeInfo {
 public:
  // `fused` is the node that stands for the group; its inputs and outputs are the model's. Throws StatusError or
  // onnx::ModelError.
  Group(const OrtGraph& graph, const OrtNode& fused, const Adapters& adapters, Device& device,
        const ComputeOptions& options);

  void run(OrtKernelContext& context);

 private:
  class Call;

  // `timed`: null: it is not timed.
  void run(Call& call, TimedRun* timed);
  onnx::Program& programFor(const onnx::InputInfos& infos, Call& call);
  // Throws StatusError for other sizes than those that the only program is for.
  void checkSizes(const onnx::InputInfos& infos) const;

  const Adapters& adapters_;
  Device& device_;
  const ComputeOptions options_;
  const std::unique_ptr<onnx::Model> model_;
  // Where inputs have sizes that come with a run; elsewhere DML owns what is constant.
  std::optional<onnx::Constants> constants_;
  std::vector<std::string> inputs_;  // in the order of the fused node; "": a constant or absent
  std::vector<std::string> outputs_;
  const std::string name_;
  std::mutex mutex_;
  uint64_t runs_ = 0;
  std::list<onnx::Program> programs_;           // the one that ran last comes first
  std::optional<onnx::InputInfos> onlyInputs_;  // of a program that is the only one, so that the model was forgotten
};

}  // namespace dimple::ort
