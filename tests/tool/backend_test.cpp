// The tool on either back end, and on both.
#include <doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "clients/files/compare.h"
#include "tests/tool/tool_fixture.h"

using dimple::testing::contains;
using dimple::testing::toolBackends;
using dimple::testing::ToolFixture;
using dimple::tool::compareTensors;
using dimple::tool::Difference;

namespace {

// Two sums, of which the second reads the first, and a copy behind it in the same buffer.
const char* const kProgram = R"({
  "resources": {
    "A": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 2] },
    "S": { "initialValuesDataType": "FLOAT32", "sizeInBytes": 32 }
  },
  "dispatchables": {
    "add": { "type": "ELEMENT_WISE_ADD", "desc": {
      "ATensor": { "DataType": "FLOAT32", "Sizes": [2] },
      "BTensor": { "DataType": "FLOAT32", "Sizes": [2] },
      "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } } },
    "copy": { "type": "ELEMENT_WISE_IDENTITY", "desc": {
      "InputTensor": { "DataType": "UINT16", "Sizes": [4] },
      "OutputTensor": { "DataType": "UINT16", "Sizes": [4] } } }
  },
  "commands": [
    { "type": "dispatch", "dispatchable": "add", "bindings": { "ATensor": "A", "BTensor": "A", "OutputTensor": "S" } },
    { "type": "dispatch", "dispatchable": "add", "bindings": { "ATensor": "S", "BTensor": "A", "OutputTensor": "S" } },
    { "type": "dispatch", "dispatchable": "copy", "bindings": {
      "InputTensor": "A", "OutputTensor": { "name": "S", "elementOffset": 4 } } },
    { "type": "print", "resource": "S" },
    { "type": "writeFile", "resource": "S", "targetPath": "s.bin" }
  ]
})";

template <class T>
Difference compare(DML_TENSOR_DATA_TYPE type, const std::vector<T>& a, const std::vector<T>& b) {
  const UINT sizes[] = {static_cast<UINT>(a.size())};
  const DML_BUFFER_TENSOR_DESC tensor{type, DML_TENSOR_FLAG_NONE, 1, sizes, nullptr, a.size() * sizeof(T), 0};
  return compareTensors(tensor, reinterpret_cast<const std::byte*>(a.data()),
                        reinterpret_cast<const std::byte*>(b.data()));
}

}  // namespace

TEST_CASE("tool: elements are compared in units in the last place") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
  const auto ulp = [&](float a, float b) { return compare<float>(kFloat, {a}, {b}).ulp; };
  CHECK(ulp(1, 1) == 0);
  CHECK(ulp(1, std::nextafter(1.0f, 2.0f)) == 1);
  CHECK(ulp(1, 2) == 1 << 23);
  CHECK(ulp(0, -0.0f) == 0);
  CHECK(compare<float>(kFloat, {0}, {-0.0f}).differing == 1);
  CHECK(ulp(-kTiny, kTiny) == 2);
  CHECK(ulp(kLargest, kInfinity) == 1);
  CHECK(ulp(std::nanf("1"), -std::nanf("2")) == 0);
  CHECK(ulp(std::nanf("1"), 1) == kInfinity);
  CHECK(compare<uint16_t>(DML_TENSOR_DATA_TYPE_FLOAT16, {0x3c00}, {0x3c02}).ulp == 2);
  CHECK(compare<double>(DML_TENSOR_DATA_TYPE_FLOAT64, {-1}, {std::nextafter(-1.0, 0.0)}).ulp == 1);
  CHECK(compare<int8_t>(DML_TENSOR_DATA_TYPE_INT8, {-128}, {127}).ulp == 255);
  CHECK(compare<int64_t>(DML_TENSOR_DATA_TYPE_INT64, {-1}, {2}).ulp == 3);
  CHECK(compare<uint64_t>(DML_TENSOR_DATA_TYPE_UINT64, {UINT64_MAX}, {UINT64_MAX - 5}).absolute == 5);

  // The largest difference in units is not where the largest absolute one is.
  const Difference worst = compare<float>(kFloat, {1, 1e6f, 0}, {1, 1e6f + 1, 1e-6f});
  CHECK(worst.elements == 3);
  CHECK(worst.differing == 2);
  CHECK(worst.absolute == 1);
  CHECK(worst.coordinates == std::vector<uint32_t>{2});
  CHECK(worst.first == "0");
  CHECK(worst.second == "1e-06");
}

TEST_CASE("tool: what lies between the elements of a tensor is not compared") {
  const UINT sizes[] = {2, 2};
  const UINT strides[] = {1, 3};
  const DML_BUFFER_TENSOR_DESC tensor{DML_TENSOR_DATA_TYPE_UINT8, DML_TENSOR_FLAG_NONE, 2, sizes, strides, 8, 0};
  const auto compareBytes = [&](const char* a, const char* b) {
    return compareTensors(tensor, reinterpret_cast<const std::byte*>(a), reinterpret_cast<const std::byte*>(b));
  };
  CHECK(compareBytes("abxcdx", "abycdy").differing == 0);
  const Difference difference = compareBytes("abxcdxxx", "abycgyyy");
  CHECK(difference.elements == 4);
  CHECK(difference.coordinates == std::vector<uint32_t>{1, 1});
  CHECK(difference.ulp == 3);
}

TEST_CASE("tool: a program is compared on two back ends") {
  const ToolFixture fixture;
  fixture.write("model.json", kProgram);
  for (const std::string& backend : toolBackends()) {
    const auto outcome = fixture.run("run model.json --tolerance 0 --compare vulkan," + backend);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(contains(outcome.out, "(" + backend + ")\n"));
    CHECK(contains(outcome.out, "\nS       FLOAT32"));
    CHECK(contains(outcome.out, "\nS+16    UINT16"));
    CHECK(contains(outcome.out, "The outputs are the same.\n"));
    CHECK(!contains(outcome.out, "Resource"));
    CHECK(!std::filesystem::exists(fixture.folder() / "s.bin"));
  }
  CHECK(fixture.run("run model.json --compare vulkan").code == 2);
  CHECK(fixture.run("run model.json --compare vulkan,metal").code == 2);
  CHECK(fixture.run("run model.json --compare vulkan,vulkan --backend vulkan").code == 2);
  CHECK(fixture.run("run model.json --compare vulkan,vulkan --tolerance -1").code == 2);
  CHECK(fixture.run("run model.json --tolerance 1").code == 2);
  fixture.write("empty.json", R"({"resources": {}, "dispatchables": {}, "commands": []})");
  CHECK(contains(fixture.run("run empty.json --compare vulkan,vulkan").err, "there is nothing to compare"));
}

TEST_CASE("tool: a back end is chosen by its name") {
  const ToolFixture fixture;
  fixture.write("model.json", kProgram);
  const std::string line = "'ELEMENT_WISE_ADD ATensor=f32[2] BTensor=f32[2] OutputTensor=f32[2]'";
  const std::vector<std::string> commands{"run model.json", "case " + line, "plan " + line,
                                          "bench --rows 8 --columns 8 --iterations 1 --only copy"};
  for (const std::string& command : commands) {
    CHECK(fixture.run(command + " --backend metal").err ==
          "dimple: The back end is \"metal\", expected vulkan or d3d12.\n");
    const auto outcome = fixture.run(command + " --backend d3d12");
    if (toolBackends().size() == 2) {
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
    } else {
      CHECK(outcome.code == 1);
      CHECK_MESSAGE(contains(outcome.err, "This build of Dimple has no Direct3D 12 back end."), outcome.err);
    }
  }
}
