// dimple ops: which operators work, by the record that a run of the tests leaves.
//
// The record is a JSON file, an object for each back end and device that was tested, or an array of them:
//   {"backend": "vulkan", "device": "NVIDIA H100",
//    "results": [{"operator": "ELEMENT_WISE_ADD", "type": "FLOAT32", "passed": 200, "failed": 0, "maxShare": 0.5,
//                 "maxUlp": 0.5}]}
// `backend` is vulkan or d3d12. `type` is the DataType of the operator's main tensor (mainRule). A type counts
// on a back end if cases of it passed and none failed, on any of its devices. `maxShare`, the largest error as a share
// of its bound, may be left out, and `maxUlp`, where no output is judged by ULP alone.
//
// Where there is none, the record of the last full run that the version was published with counts
// (shipped_record.json): its runs say in "types" which operators passed with which sets of data types.
#include <shipped_record.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "clients/dimple/command.h"
#include "clients/dimple/json_desc.h"
#include "clients/dimple/rules.h"
#include "clients/dimple/table.h"
#include "core/schema/op_schema.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr const char* kBackends[] = {"vulkan", "d3d12"};
constexpr const char* kRecordName = "test-results.json";

struct OpsOptions {
  std::vector<std::string> records;
  bool asJson = false;
  bool asMarkdown = false;
  bool precision = false;
  bool rules = false;
};

// Data types by operator.
using Support = std::map<std::string, std::set<DataType>, std::less<>>;

// The largest error of an operator and data type on one device.
struct LargestError {
  double share = 0;  // of its bound
  std::optional<double> ulp;
};

// The record of one device on one back end.
struct Run {
  std::string title;
  uint64_t cases = 0;  // whose errors were recorded
  std::map<std::pair<std::string, DataType>, LargestError> errors;
};

struct Record {
  std::string source;  // a sentence that says where it is from
  std::vector<Run> runs;
  std::map<std::string, Support, std::less<>> passed;  // by back end
  std::map<std::string, Support, std::less<>> failed;
};

// Beside the folder of this program: build/<preset>/test-results.json for build/<preset>/bin/dimple.
std::filesystem::path defaultRecord() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(kRecordName) : program.parent_path().parent_path() / kRecordName;
}

std::set<DataType> schemaTypes(const OpSchema& schema) {
  std::set<DataType> types;
  const TensorRule* rule = mainRule(schema);
  for (uint32_t i = 0; rule && i < kTensorDataTypes.names.size(); ++i)
    if (rule->types() & (1u << i)) types.insert(static_cast<DataType>(i));
  return types;
}

void readRun(const JsonValue& run, Record& record) {
  const std::string backend = run.member("backend").string();
  Run& recorded = record.runs.emplace_back();
  recorded.title = cat(run.member("device").string(), ", ", backend);
  const JsonValue results = run.member("results");
  for (size_t i = 0; i < results.array().size(); ++i) {
    const JsonValue result = results.element(i);
    std::string name = result.member("operator").string();
    const DataType type = readDataType(result.member("type"));
    const OpSchema* schema = findSchema(name);
    if (schema && isFloat(type) && schemaTypes(*schema).contains(type) && result.has("maxShare")) {
      LargestError& error = recorded.errors[{name, type}];
      error.share = result.member("maxShare").number();
      if (result.has("maxUlp")) error.ulp = result.member("maxUlp").number();
      recorded.cases += result.member("passed").integer();
    }
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

DataType typeNamed(std::string_view name) {
  const auto& names = kTensorDataTypes.names;
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? DML_TENSOR_DATA_TYPE_UNKNOWN : static_cast<DataType>(found - names.begin());
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

void readShipped(Record& record) {
  const JsonFile file("the record of this version", kShippedRecord);
  const JsonValue root(file);
  const JsonValue runs = root.member("runs");
  std::string sources;
  for (size_t i = 0; i < runs.array().size(); ++i) {
    const JsonValue run = runs.element(i);
    const std::string backend = run.member("backend").string();
    sources += cat(sources.empty() ? "" : "; ", backend, " on ", run.member("device").string(), ", ",
                   run.member("cases").integer(), " cases, ", run.member("date").string());
    run.member("types").eachMember([&](const std::string& types, const JsonValue& operators) {
      for (const std::string& type : wordsOf(types))
        for (const std::string& name : wordsOf(operators.string()))
          record.passed[backend][name].insert(typeNamed(type));
    });
  }
  record.source = cat("Data types that passed the tests before version ", root.member("version").string(),
                      " was published (", sources, ").");
}

// The types are in the order of the header.
std::vector<std::string> typeNames(const std::set<DataType>& types) {
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(dataTypeName(type));
  return names;
}

// Types that the schema takes; a record also counts cases that an operator had to refuse.
std::set<DataType> worksOn(const Record& record, std::string_view backend, const OpSchema& schema) {
  const std::string_view name = schema.name;
  std::set<DataType> types;
  const auto find = [&](const auto& runs) -> std::set<DataType> {
    const auto run = runs.find(backend);
    if (run == runs.end()) return {};
    const auto op = run->second.find(name);
    return op == run->second.end() ? std::set<DataType>{} : op->second;
  };
  types = find(record.passed);
  for (const DataType type : find(record.failed)) types.erase(type);
  const auto allowed = schemaTypes(schema);
  std::erase_if(types, [&](DataType type) { return !allowed.contains(type); });
  return types;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += cat(out.empty() ? "" : " ", name);
  return out.empty() ? "-" : out;
}

std::string textOf(const LargestError& error) {
  if (error.share == 0) return "0";
  char share[24];
  std::snprintf(share, sizeof share, error.share < 0.095 ? "%.2g %%" : "%.0f %%", 100 * error.share);
  if (error.ulp.value_or(0) == 0) return share;
  char ulp[24];
  std::snprintf(ulp, sizeof ulp, "%.3g ULP", *error.ulp);
  return cat(ulp, ", ", share);
}

// A row for each operator and data type that any device errs on, and a list of the others.
void printPrecision(const Record& record) {
  std::string titles = "| operator | data type |";
  std::string line = "|---|---|";
  for (const Run& run : record.runs) {
    titles += cat(" ", run.title, " (", run.cases, " cases) |");
    line += "---|";
  }
  std::printf("%s\n%s\n", titles.c_str(), line.c_str());

  std::map<std::string, std::set<DataType>> exact;
  for (const OpSchema* schema : allSchemas()) {
    const std::string name(schema->name);
    for (const DataType type : schemaTypes(*schema)) {
      std::string row = cat("| ", name, " | ", dataTypeName(type), " |");
      bool seen = false;
      bool errs = false;
      for (const Run& run : record.runs) {
        const auto error = run.errors.find({name, type});
        const bool recorded = error != run.errors.end();
        seen = seen || recorded;
        errs = errs || (recorded && error->second.share > 0);
        row += cat(" ", recorded ? textOf(error->second) : "-", " |");
      }
      if (errs)
        std::printf("%s\n", row.c_str());
      else if (seen)
        exact[name].insert(type);
    }
  }
  std::printf("\nWithout any error:\n\n");
  for (const auto& [name, types] : exact) std::printf("* %s: %s\n", name.c_str(), joined(typeNames(types)).c_str());
}

int listOperators(const OpsOptions& options) {
  if (options.rules) {
    std::printf("%s", allRulesText().c_str());
    return 0;
  }
  Record record;
  std::vector<std::filesystem::path> paths(options.records.begin(), options.records.end());
  const bool byDefault = paths.empty();
  if (byDefault) paths.push_back(defaultRecord());
  const bool recorded = !byDefault || std::filesystem::exists(paths.front());
  if (recorded)
    for (const auto& path : paths) readRecord(JsonFile(path), record);
  else
    readShipped(record);
  for (size_t i = 0; recorded && i < paths.size(); ++i)
    record.source +=
        cat(record.source.empty() ? "Data types that passed the test runs recorded in " : ", ", paths[i].string());
  if (recorded) record.source += ".";

  if (options.precision) {
    printPrecision(record);
    return 0;
  }
  if (options.asMarkdown) {
    std::printf("%s\n\n| operator | Vulkan | Direct3D 12 |\n|---|---|---|\n", record.source.c_str());
    for (const OpSchema* schema : allSchemas()) {
      const auto allowed = typeNames(schemaTypes(*schema));
      std::printf("| %s |", std::string(schema->name).c_str());
      for (const char* backend : kBackends) {
        const auto works = typeNames(worksOn(record, backend, *schema));
        std::printf(" %s |", works == allowed ? cat("all ", allowed.size(), " types").c_str() : joined(works).c_str());
      }
      std::printf("\n");
    }
    return 0;
  }

  Json operators = Json::array();
  Table table({"operator", "vulkan", "d3d12", "schema"});
  for (const OpSchema* schema : allSchemas()) {
    const auto allowed = typeNames(schemaTypes(*schema));
    Json backends = Json::object();
    std::vector<std::string> row{std::string(schema->name)};
    for (const char* backend : kBackends) {
      const auto works = typeNames(worksOn(record, backend, *schema));
      backends[backend] = works;
      row.push_back(works == allowed ? "all of the schema" : joined(works));
    }
    row.push_back(joined(allowed));
    operators.push_back({{"name", schema->name}, {"backends", std::move(backends)}, {"schema", allowed}});
    table.add(std::move(row));
  }
  if (options.asJson) {
    std::printf("%s\n", Json{{"source", record.source}, {"operators", std::move(operators)}}.dump(2).c_str());
  } else {
    std::printf("%s\n\n", record.source.c_str());
    table.print();
  }
  return 0;
}

}  // namespace

Action setUpOps(CLI::App& options) {
  auto values = std::make_shared<OpsOptions>();
  options.add_flag("--json", values->asJson, "Print JSON");
  options.add_flag("--markdown", values->asMarkdown, "Print a Markdown table");
  options.add_flag("--precision", values->precision, "Print the largest errors of floating-point types as Markdown");
  options.add_flag("--rules", values->rules, "Print what each operator takes as Markdown (docs/operators.md)");
  options.add_option("--results", values->records,
                     cat("Record of a test run; may be repeated. Without it: ", kRecordName,
                         " beside the folder of this program, else the record that this version was published with"));
  return [values] { return listOperators(*values); };
}

}  // namespace dimple::tool
