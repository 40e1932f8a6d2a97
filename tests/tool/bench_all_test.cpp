// dimple bench --all.
#include <doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/schema/op_schema.h"
#include "tests/left_out.h"
#include "tests/tool/tool_fixture.h"

using dimple::testing::contains;
using dimple::testing::readText;
using dimple::testing::ToolFixture;

namespace {

using Names = std::set<std::string, std::less<>>;

Names allOperators() {
  Names names;
  for (const auto* schema : dimple::allSchemas()) names.emplace(schema->name);
  return names;
}

Names operatorsOf(const std::string& lines) {
  Names names;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) names.insert(line.substr(0, line.find(' ')));
  return names;
}

// Every row is refused by none, of any size.
void checkAccepted(const ToolFixture& fixture, const std::string& lines) {
  std::string refused;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) refused += line + " expect=refused\n";
  fixture.write("refused.txt", refused);
  CHECK_FALSE(contains(fixture.run("case --file refused.txt").out, "passed"));
}

}  // namespace

TEST_CASE("tool: bench --all has rows of every operator, each of which is accepted") {
  const ToolFixture fixture;
  const auto lines = fixture.run("bench --all --lines");
  REQUIRE_MESSAGE(lines.code == 0, lines.err);
  CHECK(operatorsOf(lines.out) == allOperators());
  checkAccepted(fixture, lines.out);
  const auto small = fixture.run("bench --all --lines --scale 1000000");
  CHECK(operatorsOf(small.out) == allOperators());
  CHECK(small.out.size() < lines.out.size());
}

TEST_CASE("tool: bench --all measures and writes reports" *
          dimple::testing::leftOut(dimple::testing::Run::QuickD3d12, "it compiles the largest kernels")) {
  const ToolFixture fixture;
  const std::string all = "bench --all --scale 1000000 --iterations 1 --repeat 1 ";
  const auto run = fixture.run(all + "--json --html report.html --json-file report.json --only ELEMENT_WISE_ADD");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const auto report = nlohmann::json::parse(run.out);
  CHECK(report.at("copyBytesPerSecond") > 0);
  CHECK(nlohmann::json::parse(readText(fixture.folder() / "report.json")) == report);
  for (const auto& row : report.at("rows")) {
    CHECK(row.at("microseconds") > 0);
    CHECK(row.at("leastMicroseconds") > 0);
    CHECK(row.at("kernels") != "");
  }
  // Bytes that must move: those of a row count once.
  const auto isRow = [](const nlohmann::json& row) { return row.at("note") == "B_one_row"; };
  const auto oneRow = std::ranges::find_if(report.at("rows"), isRow);
  REQUIRE(oneRow != report.at("rows").end());
  CHECK(oneRow->at("bytes") == 4 * (2 * 16 * 4096 + 4096));
  const std::string html = readText(fixture.folder() / "report.html");
  CHECK(contains(html, "ELEMENT_WISE_ADD1"));
  for (const char* outside : {"http", "src=", "href=", "url(", "@import", "<script"})
    CHECK_FALSE(contains(html, outside));
  const auto below = fixture.run(all + "--below 1e9 --only ELEMENT_WISE_ADD1");
  CHECK(contains(below.out, "ELEMENT_WISE_ADD1 f32 [16,4096]"));
  CHECK(fixture.run(all + "--html none/report.html --only ELEMENT_WISE_ADD1").code == 1);
  CHECK(fixture.run("bench --all --scale 0").code == 2);
}

TEST_CASE("tool: bench --all finds out how often to execute each row, on every back end") {
  const ToolFixture fixture;
  for (const std::string& backend : dimple::testing::toolBackends()) {
    const auto run = fixture.run("bench --all --scale 1000000 --iterations 1 --only NOTHING --backend " + backend);
    CHECK_MESSAGE(run.code == 0, run.err);
    CHECK(contains(run.out, "GEMM"));
  }
}

// Of every operator it would take minutes to compile the kernels; tests of operators have the same cases.
TEST_CASE("tool: bench --all --check asks the oracle" *
          dimple::testing::leftOut(dimple::testing::Run::QuickD3d12, "it compiles the largest kernels")) {
  const ToolFixture fixture;
  const auto run = fixture.run("bench --all --scale 1000000 --iterations 1 --repeat 1 --check --json --only GATHER");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const auto report = nlohmann::json::parse(run.out);
  Names checked;
  for (const auto& row : report.at("rows")) {
    CHECK_FALSE(row.contains("refusal"));
    if (row.contains("errorOfBound")) checked.insert(row.at("operator"));
  }
  for (const char* name : {"GATHER", "GATHER_ELEMENTS", "GATHER_ND", "GATHER_ND1"}) CHECK(checked.contains(name));
}
