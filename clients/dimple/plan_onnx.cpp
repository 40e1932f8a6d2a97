#include "clients/dimple/run_onnx.h"

#ifdef DIMPLE_WITH_ONNX

#include "clients/dimple/onnx_inputs.h"
#include "clients/dimple/onnx_report.h"
#include "clients/dimple/progress.h"
#include "clients/files/failure.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/session.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// Prints the plan of each graph before it is compiled.
class PlanPrinter : public OperationsOfSession {
 public:
  PlanPrinter(const Target& target, const GraphPrinting& printing) : target_(target), printing_(printing) {}

  void compiling(const DML_GRAPH_DESC& desc, const std::vector<std::string>&) override {
    printGraphPlan(desc, find(), target_, "The graph", printing_);
    std::fflush(stdout);
  }

 private:
  const Target& target_;
  const GraphPrinting printing_;
};

}  // namespace

int planOnnx(const std::filesystem::path& file, const OnnxPlanOptions& options) {
  try {
    const onnx::Model model = loadModel(file);
    const auto dimensions = readDimensions(model, options.dimensions);
    OnnxInputs inputs = readInputs(model, options.inputs, dimensions);
    addZeros(model, dimensions, inputs);
    const Device device(options.device);
    PlanPrinter printer(options.target, options.printing);
    onnx::SessionOptions session;
    session.observer = &printer;
    Progress progress("running", 1, &device);
    progress.step(cat(file.filename().string(), ", since shapes may depend on results"));
    onnx::Session(device.context(), model, session).run(inputs);
    return 0;
  } catch (const onnx::ModelError& error) {
    throw InputError(error.what());
  } catch (const onnx::DeviceError& error) {
    throw RunError(error.what());
  }
}

}  // namespace dimple::tool

#endif
