// A model on a device, run with tensors of the host.
#pragma once

#include <dimple.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clients/onnx/constants.h"

namespace dimple::onnx {

struct NamedTensor {
  std::string name;
  HostTensor tensor;
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
  class HostCaller;

  std::unique_ptr<Program> plan(InputInfos inputs);
  void checkInputs(const std::map<std::string, HostTensor>& inputs) const;

  IDimpleContext& context_;
  ComPtr<IDMLDevice> device_;
  const Model& model_;
  const SessionOptions options_;
  // Of a model whose inputs have open sizes: what is planned, and its constants.
  std::optional<Model> planned_;
  std::optional<Constants> constants_;
  SessionStatistics statistics_;
  std::unique_ptr<HostCaller> caller_;
  std::unique_ptr<Program> program_;  // null: nothing was planned
};

}  // namespace dimple::onnx
