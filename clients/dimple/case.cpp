// dimple case
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "clients/dimple/command.h"
#include "clients/dimple/device.h"
#include "clients/dimple/device_caps.h"
#include "clients/dimple/line.h"
#include "clients/dimple/progress.h"
#include "clients/files/failure.h"
#include "clients/uuid.h"
#include "core/operation.h"
#include "core/plan/plan_builder.h"
#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/generators/generator.h"

namespace dimple::tool {
namespace {

struct CaseOptions {
  std::vector<std::string> lines;
  std::string file;
  DeviceOptions device;
  bool generated = false;
  bool pipelines = false;
  bool untilFailure = false;
  std::string dll;
};

testing::GpuOptions gpuOptions(const CaseOptions& options) {
  testing::GpuOptions result;
  const std::string& device = options.device.device;
  result.backend = parseBackend(options.device.backend);
  const auto adapters = listAdapters(result.backend).adapters;
  const auto named = std::find_if(adapters.begin(), adapters.end(), [&](const DimpleAdapterDesc& adapter) {
    return result.backend == DIMPLE_BACKEND_VULKAN && uuidText(adapter.DeviceUuid) == device;
  });
  if (named != adapters.end())
    result.adapterIndex = static_cast<UINT>(named - adapters.begin());
  else if (const auto index = parseNumber<uint32_t>(device))
    result.adapterIndex = *index;
  else
    result.adapterName = device;
  if (options.device.validate) result.flags |= DIMPLE_CONTEXT_FLAG_VALIDATION;
  result.options = options.device.options;
  return result;
}

// "kernel id=value ...", what a case's plan dispatches, behind the case itself; tabs between. A line of JSON would be
// several times as long.
void printPipelines(const std::vector<std::string>& lines, const CaseOptions& options) {
  const Target target = targetOf(options.device);
  for (const std::string& line : lines) {
    const auto test = testing::parseTestCase(line);
    const auto op = Operation::parse(test->desc.desc());
    if (!op) continue;  // a case that must be refused
    const auto plan = planOperator(*op, target);
    if (!plan) throw RunError(cat(line, " cannot be planned: ", plan.error().text));
    std::printf("%s", line.c_str());
    for (const auto* dispatches : {&plan->initialization, &plan->execution}) {
      for (const Dispatch& dispatch : *dispatches) {
        std::printf("\t%s", std::string(kernelName(dispatch.kernel)).c_str());
        for (const auto& constant : dispatch.specialization) std::printf(" %u=%u", constant.id, constant.value);
      }
    }
    std::printf("\n");
  }
}

void checkLine(const std::string& line) {
  const auto test = testing::parseTestCase(line);
  if (!test) {
    readLine(line);  // throws, unless it is what tests add to lines that is wrong
    throw InputError(test.error().text);
  }
  // A field that is left out is 0 or null, with which a case may pass and say nothing. Refusals are asked for with it.
  const auto text = parseCase(line);
  if (!test->refused && text && !text->missing.empty()) throw InputError(missingText(*text));
}

int runCases(const CaseOptions& options) {
  std::vector<std::string> lines = options.lines;
  if (!options.file.empty()) {
    const auto read = testing::readCaseFile(options.file);
    if (!read) throw InputError(read.error().text);
    lines.insert(lines.end(), read->begin(), read->end());
  }
  for (const std::string& line : lines) checkLine(line);
  if (options.generated) {
    for (const OpSchema* schema : allSchemas()) {
      for (const DataType type : testing::generatedTypes(*schema)) {
        const auto made = testing::generateCases(*schema, type);
        lines.insert(lines.end(), made.begin(), made.end());
      }
    }
  }
  if (lines.empty()) throw InputError("No case is given, expected a line in quotes, --file or --generated.");
  if (options.pipelines) {
    printPipelines(lines, options);
    return 0;
  }

  std::string error;
  const auto gpu =
      options.dll.empty() ? testing::Gpu::open(gpuOptions(options), error) : testing::Gpu::openDll(options.dll, error);
  if (!gpu) throw RunError(error);
  std::printf("%s (%s)\n", gpu->adapter().c_str(), options.device.backend.c_str());
  size_t failed = 0;
  testing::CaseRunner runner(*gpu, [&](const testing::CaseOutcome& outcome) {
    if (outcome.failure.empty()) {
      std::printf("passed  %s\n        largest error ", outcome.line.c_str());
      if (outcome.maxUlp) std::printf("%.3g ULP, ", *outcome.maxUlp);
      std::printf("%.2g %% of its bound\n", 100 * outcome.maxShare);
      return;
    }
    ++failed;
    std::printf("failed  %s\n        %s\n", outcome.line.c_str(), outcome.failure.c_str());
  });
  Progress progress("running", lines.size());
  for (const std::string& line : lines) {
    progress.step(line);
    runner.add(line);
    if (failed != 0 && options.untilFailure) return kExitRunFailed;
  }
  runner.flush();
  return failed == 0 ? 0 : kExitRunFailed;
}

}  // namespace

Action setUpCase(CLI::App& options) {
  auto given = std::make_shared<CaseOptions>();
  options.add_option("line", given->lines, "Case lines as the operator tests print them, each in quotes");
  options.add_option("--file", given->file, "A file of case lines to run");
  options.add_flag("--generated", given->generated, "Run the cases that the operator tests generate");
  options.add_flag("--until-failure", given->untilFailure, "Stop after the submission in which a case fails");
  options.add_flag("--pipelines", given->pipelines,
                   "Run nothing; print each case, followed by the kernels that it dispatches with their "
                   "specialization, separated by tabs");
#ifdef _WIN32
  options.add_option("--dll", given->dll, "Run on another DirectML.dll, over Direct3D 12");
#endif
  addDeviceOptions(options, given->device);
  return [given] { return runCases(*given); };
}

}  // namespace dimple::tool
