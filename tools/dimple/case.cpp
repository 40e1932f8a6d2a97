// dimple case
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "core/element_text.h"
#include "tests/ops/case_runner.h"
#include "tools/dimple/command.h"
#include "tools/dimple/device.h"
#include "tools/dimple/failure.h"

namespace dimple::tool {
namespace {

struct CaseOptions {
  std::vector<std::string> lines;
  std::string file;
  DeviceOptions device;
  bool withoutNativeStorage = false;
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
  if (options.withoutNativeStorage) result.flags |= DIMPLE_CONTEXT_FLAG_NO_NATIVE_STORAGE;
  return result;
}

int runCases(const CaseOptions& options) {
  std::vector<std::string> lines = options.lines;
  if (!options.file.empty()) {
    const auto read = testing::readCaseFile(options.file);
    if (!read) throw InputError(read.error().text);
    lines.insert(lines.end(), read->begin(), read->end());
  }
  if (lines.empty()) throw InputError("There is no case to run, expected a line in quotes or --file.");
  for (const std::string& line : lines)
    if (const auto test = testing::parseTestCase(line); !test) throw InputError(test.error().text);

  std::string error;
  const auto gpu =
      options.dll.empty() ? testing::Gpu::open(gpuOptions(options), error) : testing::Gpu::openDll(options.dll, error);
  if (!gpu) throw RunError(error);
  std::printf("%s (%s)\n", gpu->adapter().c_str(), options.device.backend.c_str());
  size_t failed = 0;
  testing::CaseRunner runner(*gpu, [&](const testing::CaseOutcome& outcome) {
    if (outcome.failure.empty()) {
      std::printf("passed  %s\n        largest error %g ULP\n", outcome.line.c_str(), outcome.maxUlp);
      return;
    }
    ++failed;
    std::printf("failed  %s\n        %s\n", outcome.line.c_str(), outcome.failure.c_str());
  });
  for (const std::string& line : lines) runner.add(line);
  runner.flush();
  return failed == 0 ? 0 : kExitRunFailed;
}

}  // namespace

Action setUpCase(CLI::App& options) {
  auto given = std::make_shared<CaseOptions>();
  options.add_option("line", given->lines, "Case lines as the operator tests print them, each in quotes");
  options.add_option("--file", given->file, "A file of case lines");
#ifdef _WIN32
  options.add_option("--dll", given->dll, "Another DirectML.dll to run them on, over Direct3D 12");
#endif
  addDeviceOptions(options, given->device);
  options.add_flag("--no-native-storage", given->withoutNativeStorage, "Leave 8- and 16-bit storage of the device off");
  return [given] { return runCases(*given); };
}

}  // namespace dimple::tool
