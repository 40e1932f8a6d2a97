#include "tests/conformance/test_record.h"

#include <doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace dimple::testing {
namespace {

using nlohmann::json;

TestRecord recordOf(size_t cases) {
  TestRecord record;
  CaseOutcome outcome;
  outcome.type = DML_OPERATOR_ELEMENT_WISE_ADD;
  outcome.dataType = DML_TENSOR_DATA_TYPE_FLOAT32;
  for (size_t i = 0; i < cases; ++i) record.add(outcome);
  return record;
}

TEST_CASE("the record of a test run keeps those of other back ends and devices") {
  const auto path = std::filesystem::temp_directory_path() / "dimple-test-record.json";
  const auto read = [&] {
    std::ifstream file(path);
    return json::parse(file);
  };
  const auto write = [&](size_t cases, const char* backend, const char* device) {
    return recordOf(cases).write(path.string(), backend, device);
  };
  // What one back end alone left, and what a run that was killed left.
  for (const char* earlier : {R"({"backend": "vulkan", "device": "one", "results": []})", "[{", ""}) {
    std::ofstream(path) << earlier;
    CHECK(write(1, "vulkan", "one"));
    CHECK(read().size() == 1);
  }
  CHECK(write(2, "d3d12", "one"));
  CHECK(write(3, "vulkan", "two"));
  CHECK(write(4, "vulkan", "one"));
  const json records = read();
  REQUIRE(records.size() == 3);
  const auto isRecord = [&](size_t index, const char* backend, const char* device, int passed) {
    const json& record = records.at(index);
    return record.at("backend") == backend && record.at("device") == device &&
           record.at("results").at(0).at("passed") == passed;
  };
  CHECK(isRecord(0, "vulkan", "one", 4));
  CHECK(isRecord(1, "d3d12", "one", 2));
  CHECK(isRecord(2, "vulkan", "two", 3));
  std::filesystem::remove(path);
  CHECK(!recordOf(1).write("/no/such/folder/record.json", "vulkan", "one"));
}

}  // namespace
}  // namespace dimple::testing
