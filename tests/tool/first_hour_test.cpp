// What people meet who have just built Dimple.
#include <doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/tool/tool_fixture.h"

using dimple::testing::contains;
using dimple::testing::readLines;
using dimple::testing::ToolFixture;

namespace {

// The first block of a page that is marked as `language`.
std::string blockOf(const std::string& page, const std::string& language) {
  const std::string mark = "```" + language + "\n";
  const auto begin = page.find(mark);
  REQUIRE(begin != page.npos);
  const auto start = begin + mark.size();
  return page.substr(start, page.find("\n```", start) + 1 - start);
}

}  // namespace

#ifdef __linux__
TEST_CASE("first hour: a tool in a build folder finds a driver without an environment") {
  const ToolFixture fixture;
  const auto outcome = fixture.runProgram("/usr/bin/env", "-i HOME=. PATH=/usr/bin:/bin '" DIMPLE_TOOL "' devices");
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(contains(outcome.out, "vulkan"));
}
#endif

TEST_CASE("first hour: the program of docs/programs.md runs, and a misspelt name is answered with the right one") {
  const ToolFixture fixture;
  const std::string page = readLines(DIMPLE_SOURCE_DIR "/docs/programs.md");
  std::string program = blockOf(page, "json");
  fixture.write("program.json", program);
  const auto outcome = fixture.run("run program.json");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(contains(outcome.out, "Resource 'sum': 11, 12, 13\n"));
  CHECK(contains(page, "Resource 'sum': 11, 12, 13\n"));

  const std::string binding = "\"bindings\": { \"ATensor\"";
  const auto at = program.find(binding);
  REQUIRE(at != program.npos);
  program.replace(at, binding.size(), "\"bindings\": { \"ATensr\"");
  fixture.write("program.json", program);
  const auto refused = fixture.run("run program.json");
  CHECK(refused.code == 2);
  // As the page has it.
  CHECK_MESSAGE(contains(page, refused.err), refused.err);
}

TEST_CASE("first hour: the manual page and the completions name every command and option") {
  const ToolFixture fixture;
  const auto manual = fixture.run("man").out;
  const auto bash = fixture.run("completion bash").out;
  const std::string help = fixture.run("--help").out;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  std::string line;
  std::getline(lines, line);
  size_t commands = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string command;
    if (!(words >> command)) continue;
    ++commands;
    CAPTURE(command);
    CHECK(contains(manual, "\n.SS dimple " + command + "\n"));
    CHECK(contains(bash, "\n    " + command + ") words=\""));
  }
  CHECK(commands >= 8);
  CHECK(contains(bash, " --allow-overlap"));
  CHECK(contains(manual, "\\fB\\-\\-allow\\-overlap\\fR"));
}

TEST_CASE("first hour: what takes long says what it does, in a pipe, too") {
  ToolFixture fixture;
  fixture.setEnvironment("MESA_SHADER_CACHE_DISABLE", "true");
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = fixture.run("bench --rows 64 --columns 64 --iterations 1 --only 'chain: mul, add' --json");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(nlohmann::json::parse(outcome.out).contains("cases"));
  // Two steps of the tool may each be silent for two seconds.
  if (std::chrono::steady_clock::now() - start > std::chrono::seconds(5)) {
    CHECK_MESSAGE(contains(outcome.err, "dimple: "), outcome.err);
    CHECK(contains(outcome.err, " s)\n"));
  }
}
