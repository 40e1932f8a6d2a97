#include "clients/dimple/run_report.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "clients/dimple/copy_speed.h"
#include "clients/dimple/device_caps.h"
#include "clients/dimple/html_report.h"
#include "clients/files/failure.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

void checkFolder(const char* option, const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    throw InputError(cat("The folder of ", option, " ", path, " does not exist, expected one that does."));
  if (std::filesystem::is_directory(path))
    throw InputError(cat(option, " is ", path, ", which is a folder, expected a file."));
}

// Returns where in `times`, from `from` on, these kernels follow each other, or the end if they do not.
size_t findKernels(std::span<const KernelTime> times, size_t from, const std::vector<std::string>& kernels) {
  const auto found =
      std::search(times.begin() + static_cast<std::ptrdiff_t>(from), times.end(), kernels.begin(), kernels.end(),
                  [](const KernelTime& time, const std::string& kernel) { return time.kernel == kernel; });
  return static_cast<size_t>(found - times.begin());
}

}  // namespace

void addReportOptions(CLI::App& app, ReportOptions& options) {
  app.add_option("--report", options.page,
                 "Write a page that shows what ran: kernels over time, the graph before and after passes, memory, and "
                 "the tensors. Dispatches are timed");
  app.add_option("--trace", options.trace, "Write the times of dispatches to this file, for Perfetto");
}

void checkReportOptions(const ReportOptions& options) {
  if (!options.page.empty()) {
    if (!HtmlReport::canPlot())
      throw InputError(
          "--report needs d3 and dagre, which this build was made without; tools/setup.sh --report fetches them for "
          "the next one.");
    checkFolder("--report", options.page);
  }
  if (!options.trace.empty()) checkFolder("--trace", options.trace);
}

RunReport::RunReport(const Device& device, const DeviceOptions& options, std::string title) : device_(device) {
  json_ = {{"title", std::move(title)},
           {"device", device.name()},
           {"backend", backendName(device.backend())},
           {"version", dimpleGetVersion()},
           {"deviceWorkgroups", targetOf(options).caps.workgroups},
           {"copy", nullptr},
           {"graphs", Json::array()},
           {"runs", Json::array()},
           {"others", Json::array()},
           {"tensors", Json::array()},
           {"lines", Json::array()}};
}

size_t RunReport::add(PlanAccount account, const std::string& part) {
  account.json["part"] = part;
  json_["graphs"].push_back(std::move(account.json));
  accounts_.push_back({std::move(account.initialization), std::move(account.execution)});
  return accounts_.size() - 1;
}

void RunReport::addTimes(std::span<const Run> runs, std::span<const KernelTime> times) {
  size_t at = 0;
  const auto others = [&](size_t end) {
    for (; at < end; ++at)
      json_["others"].push_back({{"kernel", times[at].kernel}, {"nanoseconds", times[at].nanoseconds}});
  };
  for (const Run& run : runs) {
    const Account& account = accounts_[run.graph];
    const auto& kernels = run.initialization ? account.initialization : account.execution;
    if (kernels.empty()) continue;
    const size_t begin = findKernels(times, at, kernels);
    // Timers are few: of long runs the last dispatches have no times.
    if (begin == times.size()) continue;
    others(begin);
    Json begins = Json::array(), nanoseconds = Json::array();
    for (; at < begin + kernels.size(); ++at) {
      begins.push_back(times[at].begin);
      nanoseconds.push_back(times[at].nanoseconds);
    }
    json_["runs"].push_back({{"graph", run.graph},
                             {"initialization", run.initialization},
                             {"begins", std::move(begins)},
                             {"nanoseconds", std::move(nanoseconds)}});
  }
  others(times.size());
}

void RunReport::addLine(const std::string& text, double confidence) {
  json_["lines"].push_back({{"text", text}, {"confidence", confidence}});
}

void RunReport::write(const ReportOptions& options) {
  const CopySpeed copy = measureCopy(device_);
  json_["copy"] = {{"bytesPerSecond", copy.bytesPerSecond}, {"leastNanoseconds", copy.leastNanoseconds}};
  if (!options.trace.empty())
    writeText(options.trace, traceOf(json_).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (options.page.empty()) return;
  HtmlReport page(json_["title"].get<std::string>());
  // Names of nodes may hold any byte.
  page.plots(json_.dump(-1, ' ', false, Json::error_handler_t::replace));
  writeText(options.page, page.text());
}

}  // namespace dimple::tool
