// Graphs that dimple bench measures, with chains of nodes in one pass over memory and without.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "clients/dimple/runner.h"
#include "core/schema/desc_copy.h"

namespace dimple::tool {

class BenchGraph {
 public:
  // Where an input of a node comes from: a number of the graph's inputs, or of an earlier node.
  struct Source {
    bool isNode = false;
    size_t index = 0;
  };
  struct Node {
    std::string line;  // an operator as text
    std::vector<Source> inputs;
  };

  // The last node makes the output. `options`: of the device that compiles it.
  BenchGraph(const std::vector<Node>& nodes, std::string options);

  const std::vector<const DML_BUFFER_TENSOR_DESC*>& inputs() const { return inputs_; }
  const DML_BUFFER_TENSOR_DESC* output() const { return output_; }
  const std::string& options() const { return options_; }
  CompiledOperator compile(const Device& device, const std::string& name) const;

 private:
  std::deque<OwnedDesc> descs_;
  std::vector<std::vector<Source>> sources_;
  std::vector<const DML_BUFFER_TENSOR_DESC*> inputs_;
  const DML_BUFFER_TENSOR_DESC* output_ = nullptr;
  std::string options_;
};

}  // namespace dimple::tool
