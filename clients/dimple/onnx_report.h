// What a report says of ONNX models.
#pragma once

#ifdef DIMPLE_WITH_ONNX

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "clients/dimple/run_report.h"
#include "clients/onnx/graph.h"
#include "clients/onnx/model.h"

namespace dimple::tool {

// Knows the operations of the graphs that a session compiles.
class OperationsOfSession : public onnx::GraphObserver {
 public:
  void created(IDMLOperator& op, const DML_OPERATOR_DESC& desc) override;

 protected:
  FindOperation find() const;

 private:
  std::map<IDMLOperator*, std::shared_ptr<const Operation>> operations_;
};

// Adds the graphs that sessions compile to a report. Profiling has to be on.
class SessionReport : public OperationsOfSession {
 public:
  // `part`: the name of the model, where there are several. The report must outlive it.
  SessionReport(RunReport& report, const DeviceOptions& device, const onnx::Model& model, std::string part = "");

  void compiling(const DML_GRAPH_DESC& desc, const std::vector<std::string>& inputs) override;
  // After each run: its times are those of the graphs that were compiled in it, as long as none was before.
  void ran(const Device& device);

 private:
  RunReport& report_;
  const Target target_;
  const std::string part_;
  std::set<std::string, std::less<>> constants_;  // of the model: initializers, and what is computed of these alone
  std::vector<RunReport::Run> runs_;
};

// A tensor of the host.
Json accountOf(const std::string& name, const char* role, const onnx::HostTensor& tensor);

}  // namespace dimple::tool

#endif
