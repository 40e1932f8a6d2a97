// dimple ops: which operators work, by the record that a run of the tests leaves.
//
// The record is a JSON file, an object for each back end and device that was tested, or an array of them:
//   {"backend": "vulkan", "device": "NVIDIA H100",
//    "results": [{"operator": "ELEMENT_WISE_ADD", "type": "FLOAT32", "passed": 200, "failed": 0, "maxUlp": 0.5}]}
// `backend` is vulkan or d3d12. `type` is the DataType of the operator's main tensor (core/main_type.h). A type counts
// on a back end if cases of it passed and none failed, on any of its devices. Other members are not looked at.
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "core/main_type.h"
#include "core/text.h"
#include "tools/dimple/command.h"
#include "tools/dimple/json_desc.h"
#include "tools/dimple/table.h"

namespace dimple::tool {
namespace {

constexpr const char* kBackends[] = {"vulkan", "d3d12"};
constexpr const char* kRecordName = "test-results.json";

struct OpsOptions {
  std::vector<std::string> records;
  bool asJson = false;
};

// Data types by operator.
using Support = std::map<std::string, std::set<DataType>, std::less<>>;

struct Record {
  std::map<std::string, Support, std::less<>> passed;  // by back end
  std::map<std::string, Support, std::less<>> failed;
};

// Beside the folder of this program: build/<preset>/test-results.json for build/<preset>/bin/dimple.
std::filesystem::path defaultRecord() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(kRecordName) : program.parent_path().parent_path() / kRecordName;
}

void readRun(const JsonValue& run, Record& record) {
  const std::string backend = run.member("backend").string();
  const JsonValue results = run.member("results");
  for (size_t i = 0; i < results.array().size(); ++i) {
    const JsonValue result = results.element(i);
    std::string name = result.member("operator").string();
    const DataType type = readDataType(result.member("type"));
    if (result.member("failed").integer())
      record.failed[backend][name].insert(type);
    else if (result.member("passed").integer())
      record.passed[backend][name].insert(type);
  }
}

void readRecord(const JsonFile& file, Record& record) {
  const JsonValue root(file);
  if (!root.value().is_array()) return readRun(root, record);
  for (size_t i = 0; i < root.size(); ++i) readRun(root.element(i), record);
}

// In the order of the header.
std::vector<std::string> typeNames(const std::set<DataType>& types) {
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(dataTypeName(type));
  return names;
}

std::set<DataType> schemaTypes(const OpSchema& schema) {
  std::set<DataType> types;
  const TensorRule* rule = mainRule(schema);
  for (uint32_t i = 0; rule && i < kTensorDataTypes.names.size(); ++i)
    if (rule->types & (1u << i)) types.insert(static_cast<DataType>(i));
  return types;
}

std::set<DataType> worksOn(const Record& record, std::string_view backend, std::string_view name) {
  std::set<DataType> types;
  const auto find = [&](const auto& runs) -> std::set<DataType> {
    const auto run = runs.find(backend);
    if (run == runs.end()) return {};
    const auto op = run->second.find(name);
    return op == run->second.end() ? std::set<DataType>{} : op->second;
  };
  types = find(record.passed);
  for (const DataType type : find(record.failed)) types.erase(type);
  return types;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += cat(out.empty() ? "" : " ", name);
  return out.empty() ? "-" : out;
}

int listOperators(const OpsOptions& options) {
  Record record;
  std::vector<std::filesystem::path> paths(options.records.begin(), options.records.end());
  const bool byDefault = paths.empty();
  if (byDefault) paths.push_back(defaultRecord());
  const bool recorded = !byDefault || std::filesystem::exists(paths.front());
  if (recorded)
    for (const auto& path : paths) readRecord(JsonFile(path), record);
  else
    std::fprintf(stderr, "dimple: There is no record of a test run (%s), so no type counts as working.\n",
                 paths.front().string().c_str());

  Json operators = Json::array();
  Table table({"operator", "vulkan", "d3d12", "schema"});
  for (const OpSchema* schema : allSchemas()) {
    const auto allowed = typeNames(schemaTypes(*schema));
    Json backends = Json::object();
    std::vector<std::string> row{std::string(schema->name)};
    for (const char* backend : kBackends) {
      const auto works = typeNames(worksOn(record, backend, schema->name));
      backends[backend] = works;
      row.push_back(works == allowed ? "all of the schema" : joined(works));
    }
    row.push_back(joined(allowed));
    operators.push_back({{"name", schema->name}, {"backends", std::move(backends)}, {"schema", allowed}});
    table.add(std::move(row));
  }
  if (options.asJson)
    std::printf("%s\n", Json{{"operators", std::move(operators)}}.dump(2).c_str());
  else
    table.print();
  return 0;
}

}  // namespace

Action setUpOps(CLI::App& options) {
  auto values = std::make_shared<OpsOptions>();
  options.add_flag("--json", values->asJson, "Print JSON");
  options.add_option(
      "--results", values->records,
      cat("Record of a test run; may be repeated (", kRecordName, " beside the folder of this program)"));
  return [values] { return listOperators(*values); };
}

}  // namespace dimple::tool
