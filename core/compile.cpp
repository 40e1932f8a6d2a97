#include "core/compile.h"

#include "core/graph/pass.h"
#include "core/graph/plan.h"
#include "core/plan/plan_builder.h"
#include "core/text.h"

namespace dimple {
namespace {

BindingSlot slotOf(const std::string& name, const Tensor& tensor, bool bound) {
  return {name, bound && tensor.present() ? tensor.totalBytes : 0, tensor.baseAlignment};
}

}  // namespace

Result<Compiled> compileOperator(const Operation& op, const Target& target) {
  auto plan = planOperator(op, target);
  TRY(plan);
  Compiled compiled{std::string(op.schema().name), std::move(*plan)};
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    compiled.inputs.push_back(slotOf(op.inputName(i), op.input(i), !op.input(i).ownedByDml));
    compiled.ownedInputs.push_back(slotOf(op.inputName(i), op.input(i), op.input(i).ownedByDml));
  }
  for (size_t o = 0; o < op.outputs().size(); ++o)
    compiled.outputs.push_back(slotOf(op.outputName(o), op.output(o), true));
  for (size_t i = 0; op.schema().inPlace && i < op.inputs().size(); ++i)
    for (size_t o = 0; o < op.outputs().size(); ++o) compiled.aliases.push_back(mayAlias(op, i, o));
  return compiled;
}

Result<Compiled> compileGraph(const DML_GRAPH_DESC& desc, const FindOperation& find, const Target& target) {
  auto graph = parseGraph(desc, find);
  TRY(graph);
  runPasses(*graph, target);
  auto plan = planGraph(*graph, target);
  TRY(plan);
  Compiled compiled{cat("graph of ", desc.NodeCount, " nodes"), std::move(*plan)};
  for (const GraphSlot& slot : graph->inputSlots) {
    const std::string name = cat("graph input ", compiled.inputs.size());
    compiled.inputs.push_back({name, slot.ownedByDml ? 0 : slot.bytes, slot.alignment, slot.bytes == 0});
    compiled.ownedInputs.push_back({name, slot.ownedByDml ? slot.bytes : 0, slot.alignment});
  }
  for (const GraphSlot& slot : graph->outputSlots)
    compiled.outputs.push_back(
        {cat("graph output ", compiled.outputs.size()), slot.bytes, slot.alignment, slot.bytes == 0});
  return compiled;
}

}  // namespace dimple
