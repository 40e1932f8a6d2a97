// Chromium's format of traces, which Perfetto reads, too.
#include <algorithm>
#include <map>

#include "clients/dimple/run_report.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr int kDevice = 1;

// Bytes of the temporary resource in use, whenever they change.
void addMemory(const Json& graph, const std::vector<double>& starts, Json& events) {
  std::map<size_t, int64_t> changes;  // by dispatch
  for (const Json& block : graph["memory"]["temporaryBlocks"]) {
    const auto bytes = block["bytes"].get<int64_t>();
    changes[block["first"].get<size_t>()] += bytes;
    changes[block["last"].get<size_t>() + 1] -= bytes;
  }
  int64_t used = 0;
  for (const auto& [dispatch, change] : changes) {
    if (dispatch >= starts.size()) continue;
    used += change;
    events.push_back({{"ph", "C"},
                      {"name", "temporary memory"},
                      {"pid", kDevice},
                      {"ts", starts[dispatch]},
                      {"args", {{"bytes", used}}}});
  }
}

}  // namespace

Json traceOf(const Json& report) {
  Json events = Json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", kDevice}, {"args", {{"name", report["device"]}}}});
  for (const Json& run : report["runs"]) {
    const Json& graph = report["graphs"][run["graph"].get<size_t>()];
    const bool initialization = run["initialization"];
    const Json& dispatches = graph[initialization ? "initialization" : "execution"];
    std::vector<double> starts;  // microseconds, and the end of the last
    double last = 0;
    for (size_t d = 0; d < dispatches.size(); ++d) {
      const Json& dispatch = dispatches[d];
      const double start = run["begins"][d].get<double>() / 1e3;
      const double duration = run["nanoseconds"][d].get<double>() / 1e3;
      const auto& label = dispatch["label"].get_ref<const std::string&>();
      events.push_back({{"ph", "X"},
                        {"name", label.empty() ? dispatch["kernel"] : Json(label)},
                        {"cat", dispatch["kernel"]},
                        {"pid", kDevice},
                        {"tid", 2},
                        {"ts", start},
                        {"dur", duration},
                        {"args",
                         {{"kernel", dispatch["kernel"]},
                          {"workgroups", dispatch["groups"]},
                          {"bytesRead", dispatch["bytesRead"]},
                          {"bytesWritten", dispatch["bytesWritten"]}}}});
      starts.push_back(start);
      last = d == 0 ? start + duration : std::max(last, start + duration);
    }
    const double first = *std::min_element(starts.begin(), starts.end());
    starts.push_back(last);
    if (!initialization) addMemory(graph, starts, events);
    const auto& part = graph["part"].get_ref<const std::string&>();
    const std::string name = cat(part, part.empty() ? "" : ": ", graph["name"].get_ref<const std::string&>(),
                                 initialization ? ", initialization" : "");
    events.push_back({{"ph", "X"}, {"name", name}, {"pid", kDevice}, {"tid", 1}, {"ts", first}, {"dur", last - first}});
  }
  for (const auto& [thread, name] : std::map<int, const char*>{{1, "graphs"}, {2, "dispatches"}})
    events.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", kDevice}, {"tid", thread}, {"args", {{"name", name}}}});
  return {
      {"traceEvents", std::move(events)},
      {"displayTimeUnit", "ns"},
      {"otherData", {{"device", report["device"]}, {"backend", report["backend"]}, {"version", report["version"]}}}};
}

}  // namespace dimple::tool
