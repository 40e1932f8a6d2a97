// What people meet who have just built Dimple.
#include <doctest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

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

// Each row: arguments, and a part of the message that refuses them.
void checkRefusals(const ToolFixture& fixture, std::span<const std::pair<const char*, const char*>> rows) {
  for (const auto& row : rows) {
    const std::string arguments = row.first;
    CAPTURE(arguments);
    const auto outcome = fixture.run(arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    CHECK_MESSAGE(contains(outcome.err, row.second), outcome.err);
  }
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

namespace {

const char* const kFirstProgram = R"({"resources": {
  "a": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2]},
  "sum": {"initialValuesDataType": "FLOAT32", "initialValues": [0, 0]}},
 "dispatchables": {"add": {"type": "ELEMENT_WISE_ADD", "desc": {
  "ATensor": {"DataType": "FLOAT32", "Sizes": [2]}, "BTensor": {"DataType": "FLOAT32", "Sizes": [2]},
  "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]}}}},
 "commands": [
  {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "a", "BTensor": "a", "OutputTensor": "sum"}},
  {"type": "print", "resource": "sum"}]})";

}  // namespace

TEST_CASE("first hour: a refusal says why a file cannot be read or written") {
  const ToolFixture fixture;
  fixture.write("program.json", kFirstProgram);
  fixture.write("empty.json", "");
  fixture.write("empty.npy", "");
  std::string program = kFirstProgram;
  const std::string values = R"("initialValues": [1, 2])";
  program.replace(program.find(values), values.size(), R"("initialValues": {"sourcePath": "empty.npy"})");
  fixture.write("source.json", program);
  std::filesystem::create_directories(fixture.folder() / "folder.json");
  const std::pair<const char*, const char*> rows[] = {
      {"run none.json", "dimple: none.json cannot be read: there is no such file.\n"},
      {"plan none.json", "dimple: none.json cannot be read: there is no such file.\n"},
      {"run folder.json", "dimple: folder.json cannot be read: it is a folder.\n"},
      {"run empty.json", "dimple: empty.json cannot be read: it is empty.\n"},
      {"run source.json", "empty.npy cannot be read: it is empty.\n"},
      {"run program.json --trace folder.json", "dimple: --trace is folder.json, which is a folder, expected a file.\n"},
  };
  checkRefusals(fixture, rows);
}

TEST_CASE("first hour: a misspelt option, operator or case is answered with the right one") {
  const ToolFixture fixture;
  fixture.write("program.json", kFirstProgram);
  const std::pair<const char*, const char*> rows[] = {
      {"run program.json --porfile", "\"--porfile\" is not an option of dimple run; did you mean --profile?"},
      {"run program.json --bakcend=d3d12", "\"--bakcend\" is not an option of dimple run; did you mean --backend?"},
      {"run program.json other.json", "\"other.json\" is one argument more than dimple run takes."},
      {"ops ELEMENT_WISE_ADD", "\"ELEMENT_WISE_ADD\" is one argument more than dimple ops takes."},
      {"plan 'ELEMENT_WISE_AD ATensor=f32[2]'", "There is no operator ELEMENT_WISE_AD; did you mean ELEMENT_WISE_ADD?"},
      {"bench --only sofmax", "--only is \"sofmax\", which is in no case's name"},
  };
  checkRefusals(fixture, rows);
}

TEST_CASE("first hour: bench leaves out what a device cannot run, and measures the rest") {
  const ToolFixture fixture;
  const std::string name = "GEMM 2x11008x4096 f32";  // whose weights are more than lavapipe binds
  const auto outcome =
      fixture.run("bench --rows 64 --columns 64 --iterations 1 --repeat 1 --only '" + name + "' --json");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["cases"][0]["name"] == "copy f32");
  bool found = false;
  for (const auto& item : json["cases"]) found = found || item["name"] == name;
  for (const auto& item : json["leftOut"]) {
    found = found || item["name"] == name;
    CHECK(contains(item["reason"], item["name"].get<std::string>() + " cannot be compiled: "));
  }
  CHECK(found);
}

#ifdef __linux__
namespace {

// A script of the shell, in which $dimple is the tool.
dimple::testing::ToolOutcome runScript(const ToolFixture& fixture, const std::string& script) {
  fixture.write("try.sh", "dimple='" DIMPLE_TOOL "'\n" + script);
  return fixture.runProgram("/bin/sh", "try.sh");
}

}  // namespace

TEST_CASE("first hour: a full disk is reported, and a reader that leaves is not") {
  const ToolFixture fixture;
  fixture.write("program.json", kFirstProgram);
  for (const char* arguments : {"ops", "man", "--help", "run program.json"}) {
    CAPTURE(arguments);
    const auto outcome = runScript(fixture, std::string("\"$dimple\" ") + arguments + " >/dev/full; echo $?");
    CHECK(outcome.out == "1\n");
    CHECK(outcome.err == "dimple: The standard output cannot be written: No space left on device.\n");
  }
  const auto trace = fixture.run("run program.json --trace /dev/full");
  CHECK(trace.code == 1);
  CHECK_MESSAGE(contains(trace.err, "dimple: /dev/full cannot be written: No space left on device.\n"), trace.err);

  const auto head = runScript(fixture, "\"$dimple\" ops | head -1");
  CHECK(contains(head.out, "Data types that passed"));
  CHECK(head.err == "");
}

TEST_CASE("first hour: names of files may be any bytes, and a program may come from a pipe") {
  const ToolFixture fixture;
  fixture.write("program.json", kFirstProgram);
  const auto named = runScript(fixture,
                               "name=$(printf '\\377')\n"
                               "cp program.json $name.json && \"$dimple\" run $name.json --trace $name.trace && "
                               "test -s $name.trace && \"$dimple\" run $name.none");
  CHECK(named.code == 2);
  CHECK(contains(named.out, "Resource 'sum': 2, 4\n"));
  CHECK(contains(named.err, ".none cannot be read: there is no such file.\n"));
  const auto piped = runScript(fixture, "cat program.json | \"$dimple\" run /dev/stdin");
  CHECK_MESSAGE(piped.code == 0, piped.err);
  CHECK(contains(piped.out, "Resource 'sum': 2, 4\n"));
}

TEST_CASE("first hour: an interrupt ends a run at once, and leaves no half of a file") {
  const ToolFixture fixture;
  const auto start = std::chrono::steady_clock::now();
  // The interrupt of a terminal; `timeout` ends with 124 after it.
  const auto outcome = runScript(fixture, "timeout -s INT 1 \"$dimple\" bench --report page.html");
  CHECK(outcome.code == 124);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  CHECK(!std::filesystem::exists(fixture.folder() / "page.html"));
}
#endif
