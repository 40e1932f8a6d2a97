// A model as it is planned for inputs of certain sizes: one DirectML graph, or several where a shape depends on what
// was computed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "clients/onnx/model.h"
#include "clients/onnx/segment.h"

namespace dimple::onnx {

using InputInfos = std::map<std::string, TensorInfo>;

struct SessionOptions {
  DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE;
  // By loops and branches in a run; a loop that goes on then is refused.
  size_t maxAddedNodes = size_t{1} << 20;
  GraphObserver* observer = nullptr;  // must outlive the session
};

struct SessionStatistics {
  size_t graphs = 0;     // that ran
  size_t operators = 0;  // DirectML operators that were created for them
};

// Who runs a program, and where its tensors lie. What it throws, run() throws.
class Caller {
 public:
  virtual ~Caller() = default;
  // The values of an input, on which what is planned depends.
  virtual SharedTensor read(const std::string& input) = 0;
  // Where an input is. It is not asked for inputs without elements.
  virtual BufferRange input(const std::string& name) = 0;
  // Where an output is to be made. The range is kept until the work is done.
  virtual BufferRange output(const std::string& name, const TensorInfo& info) = 0;
  // Whether dispatches are timed, so that each has to be recorded anew.
  virtual bool isTimed() const { return false; }
  // The values of an output that nothing computes. It may have no elements.
  virtual void constantOutput(const std::string& name, const SharedTensor& value) = 0;
};

class Constants;

class Program {
 public:
  // The context, its device, the model and the constants must outlive it. With constants the model has no initializers
  // of its own, and no weights are copied for the program; else DML owns them.
  Program(IDimpleContext& context, IDMLDevice& device, const Model& model, const SessionOptions& options,
          InputInfos inputs, Constants* constants = nullptr);
  // Waits until what was submitted is done.
  ~Program();
  Program(const Program&) = delete;

  // Whether it is what would be planned for such inputs.
  bool fits(const InputInfos& inputs, Caller& caller) const;

  // Plans what is not planned yet, or not for the results that shapes depend on now, and submits all of it; waits only
  // for these results. Throws ModelError or DeviceError, and must not be run again then; a ModelError for nodes that
  // cannot run names all of them, a line each.
  void run(Caller& caller);

  // Whether it has run, and runs for all inputs that it fits without planning again. It may be run again, then, also
  // after a failure.
  bool isSettled() const;

  SessionStatistics statistics() const;
  // Of the device's memory that it holds between runs.
  UINT64 deviceBytes() const;

 private:
  friend class Planner;
  struct Stage;
  struct Answer {
    std::string input;
    std::function<int64_t(const HostTensor&)> question;
    int64_t answer;
    size_t stage;  // that was planned by it
  };

  // Submits a stage and reads what the next depends on. Whether that is another than before.
  bool runStage(Stage& stage, Caller& caller);

  IDimpleContext& context_;
  IDMLDevice& device_;
  const Model& model_;
  const SessionOptions options_;
  const InputInfos inputs_;
  Constants* const constants_;                // null: the model's initializers
  std::map<std::string, SharedTensor> read_;  // inputs whose values matter
  std::vector<Answer> answers_;               // what else of inputs' values matters
  std::vector<Stage> stages_;                 // each holds as long as those before compute what was read to plan it
  SessionStatistics dropped_;                 // of stages that were too many to be kept
  std::map<std::string, SharedTensor> constantOutputs_;
  bool planned_ = false;  // to the end
  UINT64 fence_ = 0;      // of the last submission
};

}  // namespace dimple::onnx
