#include "core/compile.h"

#include "core/graph/pass.h"
#include "core/graph/plan.h"
#include "core/plan/plan_builder.h"
#include "core/text.h"

namespace dimple {
namespace {

BindingSlot slotOf(const Tensor& tensor, bool bound) {
  return {bound && tensor.present() ? tensor.totalBytes : 0, tensor.baseAlignment};
}

}  // namespace

std::string Compiled::slotName(Role role, size_t index) const {
  const bool input = role == Role::Input;
  if (!schema) return cat(input ? "graph input " : "graph output ", index);
  return tensorName(*schema, role, index, (input ? inputs : outputs).size());
}

Result<Compiled> compileOperator(const Operation& op, const Target& target) {
  auto plan = planOperator(op, target);
  TRY(plan);
  Compiled compiled{std::string(op.schema().name), std::move(*plan)};
  compiled.schema = &op.schema();
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    compiled.inputs.push_back(slotOf(op.input(i), !op.input(i).ownedByDml));
    compiled.ownedInputs.push_back(slotOf(op.input(i), op.input(i).ownedByDml));
  }
  for (size_t o = 0; o < op.outputs().size(); ++o) compiled.outputs.push_back(slotOf(op.output(o), true));
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
    compiled.inputs.push_back({slot.ownedByDml ? 0 : slot.bytes, slot.alignment, slot.bytes == 0});
    compiled.ownedInputs.push_back({slot.ownedByDml ? slot.bytes : 0, slot.alignment});
  }
  for (const GraphSlot& slot : graph->outputSlots)
    compiled.outputs.push_back({slot.bytes, slot.alignment, slot.bytes == 0});
  return compiled;
}

}  // namespace dimple
