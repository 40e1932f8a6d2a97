// A model on a device. The nodes become one DirectML graph, or several where a shape depends on what was computed.
#pragma once

#include <dimple.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clients/onnx/graph.h"
#include "clients/onnx/model.h"

namespace dimple::onnx {

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

struct SessionOptions {
  DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE;
  // By loops and branches in a run; a loop that goes on then is refused.
  size_t maxAddedNodes = size_t{1} << 20;
};

struct SessionStatistics {
  size_t graphs = 0;     // that ran
  size_t operators = 0;  // DirectML operators that were created for them
};

class Session {
 public:
  // The model and the context must outlive it.
  Session(IDimpleContext& context, const Model& model, const SessionOptions& options = {});
  ~Session();

  // The outputs in the model's order. Graphs are kept and run again while the inputs have the same sizes; where a model
  // is cut, as far as the results that shapes depend on are the same. Throws ModelError or DeviceError; a ModelError
  // for nodes that cannot run names all of them, a line each.
  std::vector<NamedTensor> run(const std::map<std::string, HostTensor>& inputs);

  const SessionStatistics& statistics() const { return statistics_; }

 private:
  class Planner;
  struct Live;
  struct Kept;

  void checkInputs(const std::map<std::string, HostTensor>& inputs) const;

  IDimpleContext& context_;
  ComPtr<IDMLDevice> device_;
  const Model& model_;
  const SessionOptions options_;
  SessionStatistics statistics_;
  std::unique_ptr<Kept> kept_;  // null: nothing was planned
};

}  // namespace dimple::onnx
