// Programs over Dimple on a driver whose calls fail: they end by themselves, and say what failed.
#include <doctest.h>

#include "tests/faults/programs.h"

using namespace dimple::testing;

namespace {

const char* const kProgram = R"({
  "resources": {
    "a": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2]},
    "b": {"initialValuesDataType": "FLOAT32", "initialValues": [3, 4]},
    "sum": {"initialValuesDataType": "FLOAT32", "initialValues": [0, 0]} },
  "dispatchables": {"add": { "type": "ELEMENT_WISE_ADD", "desc": {
    "ATensor": { "DataType": "FLOAT32", "Sizes": [2] },
    "BTensor": { "DataType": "FLOAT32", "Sizes": [2] },
    "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } } } },
  "commands": [
    {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "a", "BTensor": "b", "OutputTensor": "sum"}},
    {"type": "print", "resource": "sum"} ] })";

// The tool or a program beside it, where kProgram is model.json.
void check(const std::string& program, const std::string& arguments, const std::string& answer, bool releases,
           size_t most) {
  const FaultedProgram faulted(program, arguments, answer, releases);
  faulted.write("model.json", kProgram);
  faulted.check(most);
}

}  // namespace

TEST_CASE("faults: dimple run") { check(DIMPLE_TOOL, "run model.json", "4, 6", true, 12); }
TEST_CASE("faults: dimple run --graph") { check(DIMPLE_TOOL, "run model.json --graph", "4, 6", true, 12); }
TEST_CASE("faults: dimple devices") { check(DIMPLE_TOOL, "devices", "vulkan", true, 4); }
TEST_CASE("faults: the example of the README") { check(DIMPLE_FAULT_HELLO, "", "11 22 33 44", false, 12); }
