#ifdef DIMPLE_WITH_ONNX

#include "clients/dimple/onnx_report.h"

#include <algorithm>
#include <utility>

#include "clients/dimple/device_caps.h"
#include "clients/dimple/tensor_account.h"
#include "core/operation.h"

namespace dimple::tool {

void OperationsOfSession::created(IDMLOperator& op, const DML_OPERATOR_DESC& desc) {
  auto operation = Operation::parse(desc);
  if (operation) operations_[&op] = std::make_shared<const Operation>(std::move(*operation));
}

FindOperation OperationsOfSession::find() const {
  return [this](UINT, IDMLOperator* op) -> Result<std::shared_ptr<const Operation>> { return operations_.at(op); };
}

SessionReport::SessionReport(RunReport& report, const DeviceOptions& device, const onnx::Model& model, std::string part)
    : report_(report), target_(targetOf(device)), part_(std::move(part)) {
  for (const auto& initializer : model.initializers()) constants_.insert(initializer.first);
  for (const onnx::Node& node : model.nodes())
    if (std::ranges::all_of(node.inputs,
                            [&](const std::string& input) { return input.empty() || constants_.contains(input); }))
      constants_.insert(node.outputs.begin(), node.outputs.end());
}

void SessionReport::compiling(const DML_GRAPH_DESC& desc, const std::vector<std::string>& inputs) {
  SlotNames names{inputs};
  for (const std::string& input : inputs) names.constants.push_back(input.empty() || constants_.contains(input));
  const size_t graph = report_.add(accountOfGraph(desc, find(), target_, names), part_);
  // A graph is initialized when it is compiled, and executes before the next one is.
  runs_.push_back({graph, true});
  runs_.push_back({graph, false});
}

void SessionReport::ran(const Device& device) {
  report_.addTimes(runs_, readProfile(device));
  runs_.clear();
}

Json accountOf(const std::string& name, const char* role, const onnx::HostTensor& tensor) {
  return accountOfTensor({name, role, onnx::typeName(tensor.type), {tensor.sizes.begin(), tensor.sizes.end()}},
                         tensor.reals());
}

}  // namespace dimple::tool

#endif
