// Options of the library, as the tool and the environment give them.
#include <doctest.h>

#include <string>
#include <vector>

#include "tests/tool/tool_fixture.h"

using dimple::testing::contains;
using dimple::testing::ToolFixture;

namespace {

constexpr const char* kCase = "case \"ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4] OutputTensor=f32[4]\"";

}  // namespace

TEST_CASE("tool: options are listed with their defaults") {
  ToolFixture fixture;
  const auto outcome = fixture.run("options");
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "views=1\n    Operators that only move elements become strides"));
  CHECK(contains(outcome.out, "work=0\n"));
}

TEST_CASE("tool: options that there are not are refused, and variables that they replaced") {
  for (const std::string& backend : dimple::testing::toolBackends()) {
    CAPTURE(backend);
    ToolFixture fixture;
    const std::string command = std::string(kCase) + " --backend " + backend;
    const auto unknown = fixture.run(command + " --options view=0");
    CHECK(unknown.code != 0);
    CHECK(contains(unknown.err, "Options: \"view\" is not an option of this build, expected one of passes, "));
    const auto given = fixture.run(command + " --options native-storage=0,work=1");
    CHECK_MESSAGE(given.code == 0, given.err);
  }
  {
    ToolFixture fixture;
    fixture.setEnvironment("DIMPLE_OPTIONS", "unroll=maybe");
    const auto outcome = fixture.run(kCase);
    CHECK(outcome.code != 0);
    CHECK(contains(outcome.err, "DIMPLE_OPTIONS: Option unroll has value (maybe), expected 0 or 1."));
  }
  for (const char* variable : {"DIMPLE_UNROLL", "DIMPLE_GRAPH_WITHOUT", "DIMPLE_KERNEL_DIR"}) {
    CAPTURE(variable);
    ToolFixture fixture;
    fixture.setEnvironment(variable, "0");
    const auto outcome = fixture.run(kCase);
    CHECK(outcome.code != 0);
    CHECK(contains(outcome.err,
                   std::string("The environment variable ") + variable + " is set, expected DIMPLE_OPTIONS="));
  }
}

#ifdef __linux__
TEST_CASE("tool: without a Vulkan driver it says what to do") {
  ToolFixture fixture;
  fixture.setEnvironment("VK_DRIVER_FILES", (fixture.folder() / "none.json").string());
  std::vector<std::string> commands{kCase};
#ifndef DIMPLE_WITH_D3D12
  // The devices of another back end would be listed.
  commands.emplace_back("devices");
#endif
  for (const std::string& command : commands) {
    const auto outcome = fixture.run(command);
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, "There is no Vulkan driver (VK_ERROR_INCOMPATIBLE_DRIVER), expected"), command,
                  ": ", outcome.err);
    CHECK(contains(outcome.err, "VK_DRIVER_FILES"));
  }
}
#endif

#ifdef DIMPLE_DEVELOPER
TEST_CASE("tool: a module that is no kernel's is not given to a driver") {
  const auto outcomeOf = [](const std::string& bytes) {
    ToolFixture fixture;
    fixture.write("binary_packed.f32.spv", bytes);
    fixture.setEnvironment("DIMPLE_OPTIONS", "unroll=0,kernels=" + fixture.folder().string());
    return fixture.run(kCase);
  };
  // No SPIR-V; a header alone; one with an instruction that reaches over the end.
  const std::string header("\x03\x02\x23\x07\x00\x05\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00", 20);
  for (const std::string& bytes : {std::string("not a module"), header, header + std::string("\x11\x00\xff\x00", 4)}) {
    const auto outcome = outcomeOf(bytes);
    CHECK(outcome.code != 0);
    CHECK(contains(outcome.err + outcome.out, "binary_packed.f32.spv is not a SPIR-V module with a compute kernel."));
  }
}
#endif
