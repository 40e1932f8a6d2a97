// What a run did, as a page and as a trace for Perfetto (docs/reports.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "clients/dimple/device.h"
#include "clients/dimple/json_file.h"
#include "clients/dimple/plan_account.h"
#include "clients/dimple/profile.h"

namespace dimple::tool {

struct ReportOptions {
  std::string page, trace;  // files; empty: not wanted

  bool any() const { return !page.empty() || !trace.empty(); }
};

// --report and --trace
void addReportOptions(CLI::App& app, ReportOptions& options);
// Before anything runs. Throws InputError where a file cannot be made.
void checkReportOptions(const ReportOptions& options);

class RunReport {
 public:
  // Something that was compiled, and which of its dispatches execute.
  struct Run {
    size_t graph = 0;
    bool initialization = false;
  };

  // `title`: what ran. The device must outlive it.
  RunReport(const Device& device, const DeviceOptions& options, std::string title);

  // `part` names what a graph belongs to, where a run has several models. Returns the graph's number.
  size_t add(PlanAccount account, const std::string& part = "");
  size_t graphCount() const { return accounts_.size(); }
  // What runs executed, in order, and the times of all of it. Kernels that belong to none of the runs are listed apart.
  void addTimes(std::span<const Run> runs, std::span<const KernelTime> times);
  void addTensor(Json tensor) { json_["tensors"].push_back(std::move(tensor)); }
  // A line of text that was read.
  void addLine(const std::string& text, double confidence);

  // Measures a copy on the device, and writes the files. Throws RunError.
  void write(const ReportOptions& options);

 private:
  struct Account {
    std::vector<std::string> initialization, execution;
  };

  const Device& device_;
  Json json_;
  std::vector<Account> accounts_;
};

// The trace of what a page shows, in the format that Perfetto and Chromium read.
Json traceOf(const Json& report);

}  // namespace dimple::tool
