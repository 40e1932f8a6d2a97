#include "clients/dimple/program_report.h"

#include <algorithm>
#include <set>
#include <utility>

#include "clients/dimple/device_caps.h"
#include "clients/dimple/tensor_account.h"

namespace dimple::tool {
namespace {

using Source = std::pair<size_t, uint64_t>;  // buffer and offset

// A graph of the program, planned anew.
PlanAccount accountOf(ModelGraph& graph, const Model& model, Target target) {
  target.halfPrecision = (graph.flags() & DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION) != 0;
  const auto operations = operationsOf(graph, model);
  const FindOperation find = [&](UINT node, IDMLOperator*) -> Result<std::shared_ptr<const Operation>> {
    return operations[node];
  };
  SlotNames names;
  for (const ModelGraph::Input& input : graph.inputs()) names.inputs.push_back(model.buffers[input.source.buffer].name);
  for (const BindingSource& output : graph.outputs()) names.outputs.push_back(model.buffers[output.buffer].name);
  const std::vector<IDMLOperator*> none(operations.size());
  return accountOfGraph(graph.desc(none), find, target, names);
}

// The elements of a tensor, row-major.
std::vector<double> elementsOf(const DML_BUFFER_TENSOR_DESC& tensor, std::span<const std::byte> bytes) {
  const std::vector<double> stored = realsOf(tensor.DataType, bytes);
  std::vector<double> values;
  if (stored.empty()) return values;
  std::vector<uint32_t> at(tensor.DimensionCount);
  for (size_t packed = 0;; ++packed) {
    size_t place = tensor.Strides ? 0 : packed;
    for (UINT d = 0; tensor.Strides && d < tensor.DimensionCount; ++d) place += size_t{at[d]} * tensor.Strides[d];
    if (place >= stored.size()) return {};
    values.push_back(stored[place]);
    UINT d = tensor.DimensionCount;
    while (d > 0 && ++at[d - 1] == tensor.Sizes[d - 1]) at[--d] = 0;
    if (d == 0) return values;
  }
}

Json accountOf(const Buffer& buffer, const char* role, const DML_BUFFER_TENSOR_DESC& tensor,
               std::span<const std::byte> bytes) {
  return accountOfTensor({buffer.name,
                          role,
                          std::string(dataTypeName(tensor.DataType)),
                          {tensor.Sizes, tensor.Sizes + tensor.DimensionCount}},
                         elementsOf(tensor, bytes));
}

// Adds the inputs of the program: the buffers with values that a dispatch reads before one writes to them.
void addInputs(RunReport& report, const Model& model) {
  std::set<Source> known;
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (!dispatch) continue;
    const Dispatchable& dispatchable = model.dispatchables[dispatch->dispatchable];
    for (const Role role : {Role::Input, Role::Output})
      for (const BindPoint& point : bindPoints(dispatchable.desc)) {
        const auto bound = dispatch->bindings.find(point.name);
        if (point.role != role || bound == dispatch->bindings.end()) continue;
        for (size_t i = 0; i < point.tensors.size(); ++i) {
          const BindingSource& source = bound->second[i];
          if (!point.tensors[i] || !known.emplace(source.buffer, source.offset).second || role != Role::Input) continue;
          const Buffer& buffer = model.buffers[source.buffer];
          if (buffer.values.empty() || buffer.offset || source.offset >= buffer.values.size()) continue;
          report.addTensor(accountOf(buffer, "input", *point.tensors[i],
                                     std::span(buffer.values).subspan(static_cast<size_t>(source.offset))));
        }
      }
  }
}

// A picture as it is written.
Json accountOf(const Model& model, const WriteFileCommand& write, const Program& program) {
  const Buffer& buffer = model.buffers[write.buffer];
  auto bytes = program.download(write.buffer);
  bytes.resize(size_t{write.width} * write.height * write.channels * byteWidth(buffer.type));
  std::vector<uint64_t> sizes{write.height, write.width, write.channels};
  if (write.layout == PixelLayout::Planar) sizes = {write.channels, write.height, write.width};
  return accountOfTensor({buffer.name, "output", std::string(dataTypeName(buffer.type)), std::move(sizes)},
                         realsOf(buffer.type, bytes));
}

// Adds the outputs of the program: the buffers that are printed or written, or all that it computes if there are none.
void addOutputs(RunReport& report, const Model& model, const Program& program) {
  std::set<size_t> shown, pictures;
  for (const ModelCommand& command : model.commands)
    if (const auto* print = std::get_if<PrintCommand>(&command)) {
      shown.insert(print->buffer);
    } else if (const auto* write = std::get_if<WriteFileCommand>(&command)) {
      shown.insert(write->buffer);
      if (write->channels && pictures.insert(write->buffer).second) report.addTensor(accountOf(model, *write, program));
    }
  for (const auto& [source, tensor] : outputTensors(model)) {
    if ((!shown.empty() && !shown.contains(source.buffer)) || pictures.contains(source.buffer)) continue;
    const auto bytes = program.download(source.buffer);
    report.addTensor(accountOf(model.buffers[source.buffer], "output", *tensor,
                               std::span(bytes).subspan(static_cast<size_t>(source.offset))));
  }
}

}  // namespace

void addProgram(RunReport& report, const Model& model, Program& program, const DeviceOptions& device) {
  const Target target = targetOf(device);
  std::vector<RunReport::Run> initializations, executions;
  if (program.graphs().empty())
    report.add(accountOfProgram(model, target));
  else
    for (ModelGraph& graph : program.graphs()) report.add(accountOf(graph, model, target));
  for (size_t g = 0; g < report.graphCount(); ++g) {
    initializations.push_back({g, true});
    executions.push_back({g, false});
  }
  report.addTimes(initializations, program.initializationTimes());
  report.addTimes(executions, program.times());
  addInputs(report, model);
  addOutputs(report, model, program);
}

}  // namespace dimple::tool
