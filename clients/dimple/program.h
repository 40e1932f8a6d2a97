// A program on a device: its buffers, its operators, and what its commands do.
#pragma once

#include <memory>

#include "clients/dimple/model.h"
#include "clients/dimple/model_graph.h"
#include "clients/dimple/profile.h"
#include "clients/dimple/runner.h"

namespace dimple::tool {

struct ProgramOptions {
  bool profile = false;
  bool output = true;  // false: the commands that print and write are left out
  bool graph = false;  // adjacent dispatches are compiled as one graph
  bool timed = false;  // for a report: initialization and execution are timed
};

class Program {
 public:
  // Device and model must outlive it.
  Program(const Device& device, const Model& model, const ProgramOptions& options)
      : device_(device), model_(model), options_(options) {}

  void run();
  // The whole of a buffer as the program left it.
  std::vector<std::byte> download(size_t buffer) const;

  // Of the dispatches that executed, with ProgramOptions::timed.
  const std::vector<KernelTime>& times() const { return times_; }
  const std::vector<KernelTime>& initializationTimes() const { return initializationTimes_; }
  std::vector<ModelGraph>& graphs() { return graphs_; }

 private:
  void createBuffers();
  void upload(const Buffer& buffer, ID3D12Resource* to) const;
  void compile();
  void compileOperators(std::vector<std::vector<BoundBuffer>>& owned);
  void compileGraphs(std::vector<std::vector<BoundBuffer>>& owned);
  void execute();
  void dispatch(size_t command);
  void flush();
  // The buffers of a dispatch in binding order; none where a tensor is absent.
  std::vector<BoundBuffer> bound(const OwnedDesc& desc, const Bindings& bindings, Role role) const;
  BoundBuffer bound(const BindingSource& source) const;
  std::vector<std::byte> contents(size_t buffer) const;
  void print(const PrintCommand& command) const;
  void write(const WriteFileCommand& command) const;

  const Device& device_;
  const Model& model_;
  const ProgramOptions options_;
  std::vector<Com<ID3D12Resource>> buffers_;
  std::vector<CompiledOperator> operators_;  // of the dispatchables, or of the graphs
  std::vector<ModelGraph> graphs_;
  std::unique_ptr<Runner> runner_;
  std::vector<KernelTime> times_, initializationTimes_;
  size_t dispatches_ = 0;
  double compileTime_ = 0;
  double executeTime_ = 0;
};

}  // namespace dimple::tool
