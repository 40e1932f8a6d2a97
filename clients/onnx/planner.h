// How a program's graphs are made: nodes are mapped until one needs to know what others compute.
#pragma once

#include <deque>
#include <optional>
#include <set>

#include "clients/onnx/mapper.h"
#include "clients/onnx/program.h"

namespace dimple::onnx {

// A part of a program, which runs at once.
struct Program::Stage {
  struct Output {
    std::string name;
    TensorInfo info;
    ComPtr<ID3D12Resource> buffer;  // null: an output of the model, which the caller places
    std::string continues = {};     // what has to be in its memory before; empty: nothing
  };
  // What a name stands for on the device between two graphs.
  struct Live {
    TensorInfo info;
    ComPtr<ID3D12Resource> buffer;  // null: an input of the model, or a constant that no graph reads yet
  };

  std::unique_ptr<Segment> segment;  // null: there is nothing to run
  std::vector<Output> outputs;
  size_t operators = 0;
  std::map<std::string, Live> reads;  // what it reads, and what its outputs continue
  // What is left to plan after it.
  std::deque<Node> pending;
  std::map<std::string, Value> values;
  std::map<std::string, Live> live;
  std::map<std::string, Live> wanted;           // to be read,
  std::map<std::string, SharedTensor> results;  // and what that gave
};

// Plans and runs the stages behind those that a program has.
class Planner : private Surroundings {
 public:
  Planner(Program& program, Caller& caller) : program_(program), caller_(caller) {}

  // From the first node on.
  void plan();
  // Behind the last stage, which has run.
  void planRest();

 private:
  using Live = Program::Stage::Live;

  void checkMappings() const;
  void addInputs();
  // The values of what is on the device, as far as they are known; null: they are not.
  SharedTensor knownValue(const std::string& name) const;
  // Maps what can be mapped; the nodes that have to wait remain in pending_.
  void mapNodes();
  // False: the node has to wait for what is in wanted_.
  bool mapNode(const Node& node);
  bool expand(Node&& node);
  std::optional<int64_t> decide(const Node& node, size_t index, int64_t otherwise);
  bool isResult(const std::string& name) const override;
  std::optional<int64_t> ask(const std::string& name, const Question& question) override;
  // What the caller gave is known. False: a graph has to compute it, and it is in wanted_.
  bool know(const std::string& name);
  void refuse(const Node& node, const std::string& reason);
  bool isAvailable(const Node& node) const;
  // What is read behind the graph that is being made.
  std::set<std::string> namesNeeded() const;
  void planStages();
  void addStage(bool last);
  // What the graphs behind a stage know and read.
  void keepRest(Program::Stage& stage, const std::set<std::string>& needed);

  Program& program_;
  Caller& caller_;
  std::unique_ptr<GraphBuilder> graph_;
  std::map<std::string, Value> values_;
  std::map<std::string, Live> live_;  // on the device between graphs
  std::deque<Node> pending_;
  size_t added_ = 0;               // nodes, by loops and branches
  std::set<std::string> wanted_;   // what is to be known before the next graph is planned
  std::set<std::string> blocked_;  // what waits for the next graph, or is refused
  std::vector<std::string> refusals_;
};

}  // namespace dimple::onnx
