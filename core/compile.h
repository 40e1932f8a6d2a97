// The single entry point that turns operators and graphs into what a back end executes.
#pragma once

#include <string>
#include <vector>

#include "core/graph/parse.h"
#include "core/plan/plan.h"
#include "core/schema/op_schema.h"
#include "core/target.h"

namespace dimple {

// An input or output that a binding table binds. It stores no name, since a graph may have many of them.
struct BindingSlot {
  uint64_t bytes = 0;  // TotalTensorSizeInBytes; 0: it must be bound as NONE
  uint32_t alignment = 16;
  bool unused = false;  // nothing reads it, whatever is bound
};

// What a back end executes, and what is needed to bind it, in binding order.
struct Compiled {
  std::string name;  // "GEMM", "graph of 3 nodes"
  Plan plan;
  std::vector<BindingSlot> inputs{}, outputs{};  // at execution
  std::vector<BindingSlot> ownedInputs{};        // at initialization: those owned by DML
  std::vector<bool> aliases{};                   // for each input and output: whether they may alias; empty: none may
  const OpSchema* schema = nullptr;              // null: of a graph

  // "ATensor", "InputTensors[3]", "graph input 5"
  std::string slotName(Role role, size_t index) const;

  // Whether an output may lie exactly on an input.
  bool mayAlias(size_t input, size_t output) const {
    return !aliases.empty() && aliases[input * outputs.size() + output];
  }
};

Result<Compiled> compileOperator(const Operation& op, const Target& target);

// Parses a graph, runs the passes on it and plans the result.
Result<Compiled> compileGraph(const DML_GRAPH_DESC& desc, const FindOperation& find, const Target& target);

}  // namespace dimple
