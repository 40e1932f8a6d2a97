// What a report says of something that was compiled, as the JSON of the page (docs/reports.md).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clients/dimple/json_file.h"
#include "clients/dimple/model.h"
#include "core/graph/parse.h"
#include "core/plan/plan.h"
#include "core/target.h"

namespace dimple::tool {

struct PlanAccount {
  // Names, nodes before and after passes, dispatches, memory.
  Json json;
  // The kernels of the dispatches, in order, by which times are attributed.
  std::vector<std::string> initialization, execution;
};

// Names of a graph's inputs and outputs; what has none is "input 3".
struct SlotNames {
  std::vector<std::string> inputs{}, outputs{};
  std::vector<bool> constants{};  // inputs that are the same in every execution, though DML does not own them
};

// Both throw InputError or RunError where compiling would refuse.
PlanAccount accountOfGraph(const DML_GRAPH_DESC& desc, const FindOperation& find, const Target& target,
                           const SlotNames& names);
// The dispatches of a program, each an operator that executes by itself.
PlanAccount accountOfProgram(const Model& model, const Target& target);

// Of dispatches that share a temporary resource: which bytes hold what, from which dispatch to which. Each has a label,
// `offset`, `bytes`, and the numbers `first` and `last` of dispatches.
Json temporaryBlocks(std::span<const Dispatch> dispatches);
// Ranges of the persistent resource that dispatches read, the largest first, each with the label of its first reader.
Json persistentBlocks(std::span<const Dispatch> dispatches);

}  // namespace dimple::tool
