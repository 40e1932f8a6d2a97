#include <doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/left_out.h"
#include "tests/tool/tool_fixture.h"

using dimple::testing::contains;
using dimple::testing::readText;
using dimple::testing::toolBackends;
using dimple::testing::ToolFixture;

namespace {

const std::string kAdd = R"({ "type": "ELEMENT_WISE_ADD", "desc": {
  "ATensor": { "DataType": "FLOAT32", "Sizes": [2] },
  "BTensor": { "DataType": "FLOAT32", "Sizes": [2] },
  "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } } })";

}  // namespace

TEST_CASE("tool: bad input is refused with file, line and field, before a device is opened") {
  struct Row {
    std::string json;
    const char* message;
  };
  const Row rows[] = {
      {std::string("{\n\0}", 4), "model.json:2: This is not JSON: it has a NUL character."},
      {"{\n  \"resources\": {},\n  oops\n}", "model.json:3: This is not JSON: "},
      {"{\n\"resources\": [1e999]}", "model.json:2: The number 1e999 is out of range."},
      {"{\"resources\": {\"a:\": [\"b\"],\n\"\\u0061:\": {}}}",
       "model.json:2: The object has another member named \"\\u0061:\", expected one."},
      {"{\"resources\": {}, \"dispatchables\": {}}", "model.json:1: The file has no member commands."},
      {"{\n\"resources\": {\n// A comment.\n\"A\": {}},\n\"dispatchables\": {}, \"commands\": []}",
       "model.json:4: resources.A has neither initialValues nor sizeInBytes."},
      {"{\"resources\": {\n\"A\": {\"initialValuesDataType\": \"FLOAT31\",\n\"initialValues\": [1]}},\n"
       "\"dispatchables\": {}, \"commands\": []}",
       "model.json:2: resources.A.initialValuesDataType is \"FLOAT31\", which is not a data type; did you mean "
       "FLOAT32?"},
      {"{\"resources\": {\"A\": {\"initialValuesDataType\": \"UINT8\", \"initialValues\": [1,\n2,\n256]}},\n"
       "\"dispatchables\": {}, \"commands\": []}",
       "model.json:3: resources.A.initialValues[2] is 256, which is not a value of UINT8."},
      {"{\"resources\": {\"A\": {\"initialValuesDataType\": \"INT32\", \"initialValues\": [1, \"nan\"]}},\n"
       "\"dispatchables\": {}, \"commands\": []}",
       "model.json:1: resources.A.initialValues[1] is \"nan\", which is not a value of INT32."},
      {"{\"resources\": {\"A\": {\"initialValuesDataType\": \"UINT8\", \"initialValues\": [1], \"sizeInBites\": 4}},\n"
       "\"dispatchables\": {}, \"commands\": []}",
       "model.json:1: resources.A.sizeInBites is not known here; did you mean sizeInBytes? There are type, "
       "initialValues,"},
      {"{\"resources\": {\"A\": {\n\"sizeInBytes\": 18446744073709551615}}, \"dispatchables\": {}, \"commands\": []}",
       "model.json:2: resources.A.sizeInBytes is 18446744073709551615, expected an integer from 0 to 1099511627776."},
      {"{\"resources\": {\"A\": {\"initialValues\": {\n\"sourcePath\": \"none.npy\"}}},\n"
       "\"dispatchables\": {}, \"commands\": []}",
       "model.json:2: resources.A.initialValues.sourcePath is \"none.npy\", which is not a file"},
      {"{\"resources\": {\"A\": {\"initialValues\": {\n\"sourcePath\": \"${photo}\"}}},\n"
       "\"dispatchables\": {}, \"commands\": []}",
       "model.json:2: resources.A.initialValues.sourcePath needs photo; give it with --define photo=PATH."},
      {"{\"resources\": {}, \"dispatchables\": {\n\"a\": {\"type\": \"hlsl\", \"sourcePath\": \"x\"}}, \"commands\": "
       "[]}",
       "model.json:2: dispatchables.a.type is \"hlsl\"; only DirectML operators are run."},
      {"{\"resources\": {}, \"dispatchables\": {\n\"a\": {\"type\": \"ADD\", \"desc\": {}}}, \"commands\": []}",
       "model.json:2: dispatchables.a.type is \"ADD\", which is not an operator; did you mean ELEMENT_WISE_ADD? dimple "
       "ops lists the operators."},
      {"{\"resources\": {}, \"dispatchables\": {\"a\": {\"type\": \"ELEMENT_WISE_ADD\", \"desc\": {\n"
       "\"ATensor\": {\"DataType\": \"FLOAT32\",\n\"Sizes\": [2, -1]}}}}, \"commands\": []}",
       "model.json:3: dispatchables.a.desc.ATensor.Sizes[1] is -1, expected an integer from 0 to 4294967295."},
      {"{\"resources\": {}, \"dispatchables\": {\"a\": {\"type\": \"ELEMENT_WISE_ADD\",\n\"desc\": {\n"
       "\"CTensor\": 1}}}, \"commands\": []}",
       "model.json:3: dispatchables.a.desc.CTensor is not a field of ELEMENT_WISE_ADD; did you mean ATensor? There are "
       "ATensor, BTensor, OutputTensor."},
      {"{\"resources\": {}, \"dispatchables\": {\"a\": {\"type\": \"ELEMENT_WISE_ADD\",\n\"desc\": {\n"
       "\"ATensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [2]}}}}, \"commands\": []}",
       "model.json:2: dispatchables.a.desc has no BTensor, which ELEMENT_WISE_ADD needs."},
      {"{\"resources\": {}, \"dispatchables\": {\"a\": {\"type\": \"JOIN\", \"desc\": {\n"
       "\"InputCount\": 3,\n\"InputTensors\": [{\"DataType\": \"FLOAT32\", \"Sizes\": [2]}],\n"
       "\"OutputTensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [2]}, \"Axis\": 0}}}, \"commands\": []}",
       "model.json:3: dispatchables.a.desc.InputTensors is wrong: InputTensors has 1 elements, but InputCount is 3."},
      {"{\"resources\": {}, \"dispatchables\": {},\n\"commands\": [\n{\"type\": \"jump\"}]}",
       "model.json:3: commands[0].type is \"jump\", which is not a command. There are dispatch, print, writeFile."},
      {"{\"resources\": {}, \"dispatchables\": {},\n\"commands\": [\n{\"type\": \"print\", \"resource\": \"X\"}]}",
       "model.json:3: commands[0].resource is \"X\", which is not a resource."},
  };
  const std::string picture =
      "{\"resources\": {\"A\": {\"initialValuesDataType\": \"UINT8\", \"initialValues\": [1, 2, 3]}},"
      "\"dispatchables\": {}, \"commands\": [{\"type\": \"writeFile\", \"resource\": \"A\", ";
  const ToolFixture fixture;
  for (const char* size : {"\"targetPath\": \"a.png\", \"width\": 2, \"height\": 2, \"channels\": 1",
                           "\"targetPath\": \"a.npy\", \"dimensions\": [2, 2]"}) {
    fixture.write("model.json", picture + size + "}]}");
    const auto outcome = fixture.run("run model.json --device none");
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, "commands[0] takes 4 bytes, but A has 3."), outcome.err);
  }
  for (const Row& row : rows) {
    CAPTURE(row.json);
    fixture.write("model.json", row.json);
    const auto outcome = fixture.run("run model.json --device none");
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, row.message), outcome.err);
  }
}

TEST_CASE("tool: bindings must fit the operator") {
  struct Row {
    const char* bindings;
    const char* message;
  };
  const Row rows[] = {
      {R"({"ATensor": "A", "OutputTensor": "A"})", "commands[0].bindings has no resource for BTensor."},
      {R"({"ATensor": "A", "BTensor": ["A", "A"], "OutputTensor": "A"})",
       "commands[0].bindings.BTensor names 2 resources, expected 1."},
      {R"({"CTensor": "A"})",
       "commands[0].bindings.CTensor is not a tensor of ELEMENT_WISE_ADD; did you mean ATensor?"},
      {R"({"ATensor": {"name": "A", "elementOffset": 2}})", "commands[0].bindings.ATensor reaches beyond A"},
  };
  const ToolFixture fixture;
  for (const Row& row : rows) {
    fixture.write("model.json", R"({"resources": {"A": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2]}},
      "dispatchables": {"add": )" + kAdd +
                                    R"(},
      "commands": [{"type": "dispatch", "dispatchable": "add", "bindings": )" +
                                    row.bindings + "}]}");
    const auto outcome = fixture.run("run model.json --device none");
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, row.message), outcome.err);
  }
}

TEST_CASE("tool: what is bound must hold its tensor, and outputs lie over inputs only in place") {
  const ToolFixture fixture;
  const auto outcomeOf = [&](const std::string& type, const std::string& input, const std::string& output,
                             const std::string& options = "") {
    const std::string strides = type == "ELEMENT_WISE_ADD" ? "" : R"(, "Strides": [1, 2])";
    const std::string tensor = R"({"DataType": "FLOAT32", "Sizes": [2, 2])";
    const std::string names = type == "ELEMENT_WISE_ADD"
                                  ? R"("BTensor": )" + tensor + R"(}, "ATensor": )" + tensor + "}"
                                  : R"("InputTensor": )" + tensor + strides + "}";
    const std::string bindings =
        type == "ELEMENT_WISE_ADD" ? R"("ATensor": )" + input + R"(, "BTensor": "B")" : R"("InputTensor": )" + input;
    fixture.write("model.json", R"({"resources": {
        "A": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5]},
        "B": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 1, 1, 1]},
        "C": {"initialValuesDataType": "FLOAT32", "initialValues": [0, 0]}},
      "dispatchables": {"op": {"type": ")" +
                                    type + R"(", "desc": {)" + names + R"(, "OutputTensor": )" + tensor +
                                    R"(}}}},
      "commands": [{"type": "dispatch", "dispatchable": "op", "bindings": {)" +
                                    bindings + R"(, "OutputTensor": )" + output +
                                    R"(}}, {"type": "print", "resource": "A"}]})");
    return fixture.run("run model.json " + options);
  };
  const auto small = outcomeOf("ELEMENT_WISE_ADD", "\"A\"", "\"C\"", "--device none");
  CHECK(small.code == 2);
  CHECK_MESSAGE(contains(small.err, "commands[0].bindings.OutputTensor needs 16 bytes for f32[2,2], but C has 8."),
                small.err);
  const auto shifted = outcomeOf("ELEMENT_WISE_ADD", R"({"name": "A", "elementOffset": 4})", "\"B\"", "--device none");
  CHECK_MESSAGE(contains(shifted.err, "bindings.ATensor needs 16 bytes for f32[2,2], but A has 4 from byte 16 on."),
                shifted.err);
  const auto inPlace = outcomeOf("ELEMENT_WISE_ADD", "\"A\"", "\"A\"");
  CHECK_MESSAGE(contains(inPlace.out, "Resource 'A': 2, 3, 4, 5, 5\n"), inPlace.err);
  const auto similar = outcomeOf("ELEMENT_WISE_ADD", R"({"name": "A", "elementOffset": 1})", "\"A\"", "--device none");
  CHECK_MESSAGE(contains(similar.err,
                         "bindings has OutputTensor over ATensor in A, but ELEMENT_WISE_ADD works in place "
                         "only if both begin at the same byte and have the same layout;"),
                similar.err);
  const auto transposed = outcomeOf("ELEMENT_WISE_IDENTITY", "\"A\"", "\"A\"", "--device none");
  CHECK(transposed.code == 2);
  CHECK_MESSAGE(contains(transposed.err, "have the same layout; bind another resource, or run with --allow-overlap."),
                transposed.err);
  CHECK(outcomeOf("ELEMENT_WISE_IDENTITY", "\"A\"", "\"A\"", "--allow-overlap").code == 0);
}

TEST_CASE("tool: files are written to folders that exist, or lie in --dir") {
  const ToolFixture fixture;
  const auto outcomeOf = [&](const std::string& path) {
    fixture.write("model.json", R"({"resources": {"A": {"initialValuesDataType": "UINT8", "initialValues": [1]}},
      "dispatchables": {}, "commands": [{"type": "writeFile", "resource": "A", "targetPath": ")" +
                                    path + R"("}]})");
    return fixture.run("run model.json --dir out");
  };
  CHECK(outcomeOf("new/a.bin").code == 0);
  CHECK(outcomeOf("../a.bin").code == 0);
  for (const char* outside : {"../other/a.bin", "../out2/a.bin"}) {
    const auto outcome = outcomeOf(outside);
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, "which does not exist; make it first."), outcome.err);
  }
  CHECK_FALSE(std::filesystem::exists(fixture.folder() / "other"));
}

TEST_CASE("tool: the older name of SCATTER_ELEMENTS is known") {
  const ToolFixture fixture;
  for (const char* name : {"SCATTER", "DML_OPERATOR_SCATTER"})
    CHECK(contains(fixture
                       .run(std::string("plan '") + name +
                            " InputTensor=f32[4] IndicesTensor=u32[2] UpdatesTensor=f32[2] OutputTensor=f32[4] Axis=0' "
                            "--caps default")
                       .out,
                   "SCATTER_ELEMENTS InputTensor=f32[4]"));
}

TEST_CASE("tool: usage") {
  const ToolFixture fixture;
  CHECK(fixture.run("--version").code == 0);
  CHECK(contains(fixture.run("--help").out, "devices"));
  CHECK(contains(fixture.run("run --help").out, "--profile"));
  const auto none = fixture.run("");
  CHECK(none.code == 2);
  CHECK(contains(none.err, "devices"));
  const auto unknown = fixture.run("jump");
  CHECK(unknown.code == 2);
  CHECK(unknown.err.starts_with("dimple: \"jump\" is not a command. There are devices, run, "));
  CHECK(contains(fixture.run("rum x.json").err, "did you mean run?"));
  CHECK(fixture.run("run").code == 2);
  CHECK(contains(fixture.run("man").out, "\n.SS dimple run\n"));
  for (const char* shell : {"bash", "zsh", "fish"})
    CHECK(contains(fixture.run(std::string("completion ") + shell).out, "profile"));
  CHECK(fixture.run("completion cmd").code == 2);
  CHECK(fixture.run("run --nonsense x.json").code == 2);
  const auto missing = fixture.run("run missing.json");
  CHECK(missing.code == 2);
  CHECK(missing.err == "dimple: missing.json cannot be read: there is no such file.\n");
  fixture.write("model.json", R"({"resources": {}, "dispatchables": {}, "commands": []})");
  const auto device = fixture.run("run model.json --device 'no such device'");
  CHECK(device.code == 2);
  CHECK(contains(device.err, "No device is \"no such device\""));
#ifndef _WIN32
  // A reader that stops reading ends the program without a word.
  CHECK(fixture.run("ops --json 2>/dev/null | head -1").err.empty());
#endif
}

TEST_CASE("tool: plan") {
  const ToolFixture fixture;
  // A device that is made up is not looked for.
  CHECK(
      fixture.run("plan 'ELEMENT_WISE_ABS InputTensor=f32[2] OutputTensor=f32[2]' --caps default --device none").code ==
      0);
  CHECK(fixture.run("plan 'ELEMENT_WISE_ABS InputTensor=f32[2] OutputTensor=f32[2]' --device none").code == 2);
  const auto line = fixture.run("plan 'ELEMENT_WISE_ADD ATensor=f32[2] BTensor=f32[2] OutputTensor=f32[2]'");
  CHECK(line.code == 0);
  CHECK(contains(line.out, "binary_packed.f32"));
  fixture.write("model.json", R"({"resources": {}, "dispatchables": {"sum": )" + kAdd + R"(}, "commands": []})");
  const auto file = fixture.run("plan model.json --caps default");
  CHECK(file.code == 0);
  CHECK(contains(file.out, "# sum\nELEMENT_WISE_ADD ATensor=f32[2] BTensor=f32[2] OutputTensor=f32[2]\n"));
  CHECK(fixture.run("plan 'ELEMENT_WISE_ADD ATensor=f32[2]'").code == 2);
  CHECK(fixture.run("plan model.json --caps nonsense").code == 2);
  CHECK(fixture.run("plan model.json --caps matrices=16x8x16 --caps integerMatrices=16x8x32 --caps subgroupSize=32")
            .code == 0);
  CHECK(fixture.run("plan model.json --caps matrices=16x8x16").code == 2);
  CHECK(fixture.run("plan model.json --caps matrices=16x8x9").code == 2);
  CHECK(contains(fixture.run("plan model.json --caps matrices=16x8x32").err,
                 "expected rows and columns of 8 or 16, and a depth of 8 or 16."));
  CHECK(contains(fixture.run("plan model.json --caps integerMatrices=32x8x32").err,
                 "expected rows and columns of 8 or 16, and a depth of 8, 16 or 32."));
  const auto attention = fixture.run(
      "plan 'MULTIHEAD_ATTENTION QueryTensor=f16[1,300,256] KeyTensor=f16[1,300,256] ValueTensor=f16[1,300,256] "
      "OutputTensor=f16[1,300,256] Scale=0.125 MaskFilterValue=0 HeadCount=4 MaskType=NONE' --caps features=all --caps "
      "matrices=16x16x16 "
      "--caps subgroupSize=32 --caps sharedBytes=49152");
  CHECK(contains(attention.out, "attention_cooperative"));
  const auto integers = fixture.run(
      "plan 'MATRIX_MULTIPLY_INTEGER ATensor=u8[4096,4096] BTensor=u8[4096,4096] OutputTensor=i32[4096,4096]' "
      "--caps features=all --caps integerMatrices=16x16x32 --caps subgroupSize=32 --caps sharedBytes=49152");
  CHECK(contains(integers.out, "integer_gemm_cooperative_ahead"));
  CHECK(fixture.run("plan model.json --caps maxBufferRange=4").code == 1);
}

TEST_CASE("tool: initial values of every kind, comments and trailing commas") {
  const ToolFixture fixture;
  fixture.write("model.json", R"({
    /* Resources
       of all kinds. */
    "$schema": "./_schema.json",
    "resources": {
      "half": { "initialValuesDataType": "FLOAT16", "initialValues": [ 65504, -0.1, "nan", "inf", "-Inf", ] },
      "single": { "initialValuesDataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "initialValues": [0.1, 1e-40] },
      "bytes": { "initialValuesDataType": "UINT8", "initialValues": { "valueCount": 5, "value": 255 } },
      "steps": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 4, "valueStart": 1, "valueDelta": 2.5 } },
      "down": { "initialValuesDataType": "INT16", "initialValues": { "valueCount": 3, "valueStart": 1, "valueDelta": -1 } },
      "wide": { "initialValuesDataType": "UINT64", "initialValues": [18446744073709551615, 1e3, 2.0] },
      "mixed": { "initialValuesDataType": "UNKNOWN", "initialValues": [
        { "name": "count", "type": "UINT16", "value": 258 }, { "type": "INT8", "value": -1 } ] },
      "offset": { "initialValuesDataType": "UINT8", "initialValues": [7], "initialValuesOffsetInBytes": 2, "sizeInBytes": 4 },
      "empty": { "initialValuesDataType": "FLOAT64", "sizeInBytes": 16 }, // Zeros.
      "url": { "initialValuesDataType": "UINT8", "initialValues": [1], "$note": "a // is no comment, nor is ,]" },
    },
    "dispatchables": {},
    "commands": [
      { "type": "print", "resource": "half" }, { "type": "print", "resource": "single" },
      { "type": "print", "resource": "bytes" }, { "type": "print", "resource": "steps" },
      { "type": "print", "resource": "down" }, { "type": "print", "resource": "wide" },
      { "type": "print", "resource": "mixed" }, { "type": "print", "resource": "offset" },
      { "type": "print", "resource": "empty" }, { "type": "print", "resource": "down", "verbose": true },
    ],
  })");
  const auto outcome = fixture.run("run model.json");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(contains(outcome.out, "Resource 'half': 65504, -0.099975586, nan, inf, -inf\n"));
  CHECK(contains(outcome.out, "Resource 'single': 0.1, 1e-40\n"));
  CHECK(contains(outcome.out, "Resource 'bytes': 255, 255, 255, 255, 255\n"));
  CHECK(contains(outcome.out, "Resource 'steps': 1, 3.5, 6, 8.5\n"));
  CHECK(contains(outcome.out, "Resource 'down': 1, 0, -1\n"));
  CHECK(contains(outcome.out, "Resource 'wide': 18446744073709551615, 1000, 2\n"));
  CHECK(contains(outcome.out, "Resource 'mixed': 2, 1, 255\n"));
  CHECK(contains(outcome.out, "Resource 'offset': 0, 0, 7, 0\n"));
  CHECK(contains(outcome.out, "Resource 'empty': 0, 0\n"));
  CHECK(contains(outcome.out, "Resource 'down':\n[0] 1 (0x0001)\n[1] 0 (0x0000)\n[2] -1 (0xFFFF)\n"));
}

TEST_CASE("tool: dispatches, in one submission where they are adjacent") {
  const ToolFixture fixture;
  // DML owns A; C is bound at an offset, as an element of an array, and in place.
  fixture.write("model.json", R"({
    "resources": {
      "A": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 2] },
      "B": { "initialValuesDataType": "FLOAT32", "initialValues": [10, 20] },
      "C": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 12, "valueStart": 0, "valueDelta": 1 } },
      "J": { "initialValuesDataType": "FLOAT32", "sizeInBytes": 16 }
    },
    "dispatchables": {
      "add": { "type": "DML_OPERATOR_ELEMENT_WISE_ADD1", "executionFlags": ["NONE", "DISABLE_META_COMMANDS"], "desc": {
          "ATensor": { "Type": "BUFFER", "Desc": { "DataType": "FLOAT32", "Sizes": [2], "Flags": "OWNED_BY_DML" } },
          "BTensor": { "DataType": "FLOAT32", "Sizes": [2], "Strides": [1], "DimensionCount": 1, "TotalTensorSizeInBytes": 8 },
          "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2], "GuaranteedBaseOffsetAlignment": 16 },
          "FusedActivation": { "Type": "ACTIVATION_RELU" } },
        "bindings": { "ATensor": "A" } },
      "join": { "type": "JOIN", "desc": { "Axis": 0,
          "InputTensors": [ { "DataType": "FLOAT32", "Sizes": [2] }, { "DataType": "FLOAT32", "Sizes": [2] } ],
          "OutputTensor": { "DataType": "FLOAT32", "Sizes": [4] } } }
    },
    "commands": [
      { "type": "dispatch", "dispatchable": "add", "bindings": { "BTensor": "B", "OutputTensor": "B" } },
      { "type": "dispatch", "dispatchable": "add", "bindings": { "BTensor": "B", "OutputTensor": "B" } },
      { "type": "dispatch", "dispatchable": "join", "bindings": {
          "InputTensors": [ "B", { "name": "C", "elementOffset": 4, "elementCount": 2 } ], "OutputTensor": "J" } },
      { "type": "print", "resource": "J" },
      { "type": "dispatch", "dispatchable": "add", "bindings": { "BTensor": "B", "OutputTensor": "B" } },
      { "type": "print", "resource": "B" }
    ]
  })");
  for (const std::string& backend : toolBackends()) {
    INFO("on ", backend);
    const auto outcome =
        fixture.run("run model.json --profile" + (backend == "vulkan" ? " --validate" : " --backend " + backend));
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(contains(outcome.out, "Running on '"));
    CHECK(contains(outcome.out, "Resource 'J': 12, 24, 4, 5\n"));
    CHECK(contains(outcome.out, "Resource 'B': 13, 26\n"));
    CHECK(contains(outcome.out, "Compiled 2 operators in "));
    CHECK(contains(outcome.out, "executed 4 dispatches in "));
    CHECK(contains(outcome.out, "binary_packed.f32"));
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("tool: files are written and read back") {
  const ToolFixture fixture;
  std::string resources, commands, back, prints;
  for (const char* type :
       {"FLOAT16", "FLOAT32", "FLOAT64", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64"}) {
    const std::string name = type;
    resources +=
        "\"" + name + "\": { \"initialValuesDataType\": \"" + name + "\", \"initialValues\": [1, 2, 100, 4, 5, 6] },";
    commands += R"({ "type": "writeFile", "resource": ")" + name + R"(", "targetPath": ")" + name +
                R"(.npy", "dimensions": [2, 3] },)";
    back += "\"" + name + "\": { \"initialValues\": { \"sourcePath\": \"out/" + name +
            ".npy\" }, \"dimensions\": [2, 3] },";
    prints += R"({ "type": "print", "resource": ")" + name + "\" },";
  }
  resources +=
      R"("picture": { "initialValuesDataType": "UINT8", "initialValues": { "valueCount": 24, "valueStart": 3, "valueDelta": 10 } },)";
  resources +=
      R"("planes": { "initialValuesDataType": "FLOAT32", "initialValues": [0, 0.2, 0.4, 0.6, 0.8, 1, 2, -1, "nan", 0, 0, 0] })";
  commands +=
      R"({ "type": "writeFile", "resource": "picture", "targetPath": "sub/folder/p.png", "width": 4, "height": 2, "channels": 3 },)";
  commands +=
      R"({ "type": "writeFile", "resource": "planes", "targetPath": "planes.png", "dimensions": [1, 3, 2, 2] },)";
  commands += R"({ "type": "writeFile", "resource": "picture", "targetPath": "p.bin" },)";
  commands +=
      R"({ "type": "writeFile", "resource": "picture", "targetPath": "p.jpg", "width": 4, "height": 2, "channels": 3 })";
  fixture.write("write.json",
                "{\"resources\": {" + resources + "}, \"dispatchables\": {}, \"commands\": [" + commands + "]}");
  const auto written = fixture.run("run write.json --dir out");
  REQUIRE_MESSAGE(written.code == 0, written.err);
  CHECK(contains(written.out, "Resource 'picture' written to 'out/sub/folder/p.png'"));
  CHECK(readText(fixture.folder() / "out/p.bin").size() == 24);

  back += R"("picture": { "initialValues": { "sourcePath": "${pictures}/p.png" }, "dimensions": [2, 4, 3] },)";
  back +=
      R"("floats": { "initialValues": { "sourcePath": "${pictures}/p.png" }, "initialValuesDataType": "FLOAT32" },)";
  back +=
      R"("grey": { "initialValues": { "sourcePath": "${pictures}/p.png" }, "channels": 1, "dimensions": [2, 4, 1] },)";
  back += R"("planes": { "initialValues": { "sourcePath": "out/planes.png" } },)";
  back +=
      R"("resampled": { "initialValues": { "sourcePath": "out/planes.png" }, "initialValuesDataType": "FLOAT32", "resampleSize": [1, 3, 2, 2] },)";
  back +=
      R"("small": { "initialValues": { "sourcePath": "out/p.jpg" }, "initialValuesDataType": "FLOAT16", "resampleSize": [1, 1, 1, 1] },)";
  back += R"("raw": { "initialValues": { "sourcePath": "out/p.bin" }, "initialValuesDataType": "UINT32" })";
  for (const char* name : {"picture", "floats", "grey", "planes", "resampled", "small", "raw"})
    prints += R"({ "type": "print", "resource": ")" + std::string(name) + "\" },";
  fixture.write("read.json", "{\"resources\": {" + back + "}, \"dispatchables\": {}, \"commands\": [" + prints + "]}");
  const auto read = fixture.run("run read.json --define pictures=out/sub/folder");
  REQUIRE_MESSAGE(read.code == 0, read.err);
  for (const char* type :
       {"FLOAT16", "FLOAT32", "FLOAT64", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64"})
    CHECK(contains(read.out, "Resource '" + std::string(type) + "': 1, 2, 100, 4, 5, 6\n"));
  CHECK(contains(read.out, "Resource 'picture': 3, 13, 23, 33, 43, 53, 63, 73, 83, 93, 103, 113, 123,"));
  CHECK(contains(read.out, "Resource 'floats': 3, 13, 23, 33,"));
  CHECK(contains(read.out, "Resource 'planes': 0, 204, 0, 51, 255, 0, 102, 255, 0, 153, 0, 0\n"));
  CHECK(contains(read.out, "Resource 'resampled': 0, 0.2, 0.4, 0.6, 0.8, 1, 1, 0, 0, 0, 0, 0\n"));
  CHECK(contains(read.out, "Resource 'raw': 555158787, "));

  // A byte of 0 does not end the sentence.
  fixture.write("out/zero.npy", std::string("\x93NUMPY\1\0\x13\0{'descr': '<\0zz', }", 29));
  fixture.write("zero.json", R"({"resources": {"A": {"initialValues": {"sourcePath": "out/zero.npy"}}},
    "dispatchables": {}, "commands": []})");
  CHECK(contains(fixture.run("run zero.json").err, "has the element type '<?zz', which is not a little-endian type"));
  // Four channels of FLOAT32 would take 17 GB.
  fixture.write("large.json", R"({"resources": {"A": {"initialValues": {"sourcePath": "out/planes.png"},
    "initialValuesDataType": "FLOAT32", "resampleSize": [1, 4, 32768, 32768]}}, "dispatchables": {}, "commands": []})");
  CHECK(contains(fixture.run("run large.json").err,
                 "resampleSize takes 17179869184 bytes, expected at most 4294967295."));

  fixture.write("out/bad.npy", "no array");
  for (const char* file : {"bad.npy", "p.bin.png"}) {
    fixture.write("out/p.bin.png", "no picture");
    fixture.write("bad.json", std::string("{\"resources\": {\"A\": {\"initialValues\": {\"sourcePath\": \"out/") +
                                  file + "\"}}}, \"dispatchables\": {}, \"commands\": []}");
    const auto bad = fixture.run("run bad.json");
    CHECK(bad.code == 2);
    CHECK_MESSAGE(contains(bad.err, file), bad.err);
  }
}

TEST_CASE("tool: ops counts what a test run recorded") {
  const ToolFixture fixture;
  fixture.write("one.json", R"({"backend": "vulkan", "device": "x", "results": [
    {"operator": "ELEMENT_WISE_ADD", "type": "FLOAT32", "passed": 200, "failed": 0, "maxUlp": 0.5},
    {"operator": "ELEMENT_WISE_ADD", "type": "FLOAT16", "passed": 199, "failed": 1, "maxUlp": 9},
    {"operator": "ELEMENT_WISE_ADD", "type": "INT8", "passed": 0, "failed": 0, "maxUlp": 0}]})");
  fixture.write("two.json", R"([{"backend": "d3d12", "device": "x", "results": [
    {"operator": "ELEMENT_WISE_ADD", "type": "UINT8", "passed": 1, "failed": 0, "maxUlp": 0}]}])");
  const auto outcome = fixture.run("ops --json --results one.json --results two.json");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const auto root = nlohmann::json::parse(outcome.out);
  for (const auto& op : root.at("operators")) {
    const bool isAdd = op.at("name") == "ELEMENT_WISE_ADD";
    CHECK(op.at("backends").at("vulkan") == (isAdd ? nlohmann::json{"FLOAT32"} : nlohmann::json::array()));
    CHECK(op.at("backends").at("d3d12") == (isAdd ? nlohmann::json{"UINT8"} : nlohmann::json::array()));
    CHECK(!op.at("schema").empty());
  }
  CHECK(contains(fixture.run("ops --results one.json").out, "ELEMENT_WISE_ADD"));
  CHECK(fixture.run("ops --results missing.json").code == 2);
#ifndef _WIN32
  // Where no tests have run, the record of the published version counts.
  std::filesystem::copy_file(DIMPLE_TOOL, fixture.folder() / "dimple");
  const auto shipped = fixture.runProgram((fixture.folder() / "dimple").string(), "ops");
  CHECK_MESSAGE(shipped.code == 0, shipped.err);
  CHECK(shipped.out.starts_with("Data types that passed the tests before version "));
  CHECK(contains(shipped.out, " cases, 20"));
  CHECK_FALSE(contains(shipped.out, "  -  "));
#endif
}

TEST_CASE("tool: ops prints the largest errors of each device") {
  const ToolFixture fixture;
  fixture.write("record.json", R"([{"backend": "vulkan", "device": "x", "results": [
    {"operator": "ELEMENT_WISE_EXP", "type": "FLOAT32", "passed": 200, "failed": 0, "maxShare": 0.0625, "maxUlp": 2},
    {"operator": "ELEMENT_WISE_EXP", "type": "FLOAT16", "passed": 100, "failed": 0, "maxShare": 0, "maxUlp": 0},
    {"operator": "GEMM", "type": "FLOAT32", "passed": 3, "failed": 0, "maxShare": 0.125},
    {"operator": "GATHER", "type": "INT32", "passed": 7, "failed": 0, "maxShare": 0}]},
    {"backend": "d3d12", "device": "y", "results": [
    {"operator": "ELEMENT_WISE_EXP", "type": "FLOAT32", "passed": 20, "failed": 0, "maxShare": 0, "maxUlp": 0}]}])");
  const auto outcome = fixture.run("ops --precision --results record.json");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(outcome.out ==
        "| operator | data type | x, vulkan (303 cases) | y, d3d12 (20 cases) |\n|---|---|---|---|\n"
        "| ELEMENT_WISE_EXP | FLOAT32 | 2 ULP, 6.2 % | 0 |\n"
        "| GEMM | FLOAT32 | 12 % | - |\n"
        "\nWithout any error:\n\n* ELEMENT_WISE_EXP: FLOAT16\n");
  fixture.write("text.json", R"({"backend": "vulkan", "device": "x", "results": [
    {"operator": "GEMM", "type": "FLOAT32", "passed": 3, "failed": 0, "maxShare": "much"}]})");
  const auto refused = fixture.run("ops --precision --results text.json");
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "maxShare is \"much\", expected a number."));
}

TEST_CASE("tool: devices and bench" *
          dimple::testing::leftOut(dimple::testing::Run::QuickD3d12, "it compiles the largest kernels")) {
  const ToolFixture fixture;
  const auto devices = nlohmann::json::parse(fixture.run("devices --json").out).at("devices");
  CHECK(fixture.run("devices").code == 0);
  const auto vulkan = fixture.run("devices --backend vulkan");
  CHECK(contains(vulkan.out, "vulkan"));
  CHECK_FALSE(contains(vulkan.out, "d3d12"));
  CHECK(fixture.run("devices --backend metal").code == 2);
  for (const std::string& backend : toolBackends()) {
    INFO("on ", backend);
    const auto isFirst = [&](const nlohmann::json& d) { return d.at("backend") == backend && d.at("index") == 0; };
    const auto device = std::find_if(devices.begin(), devices.end(), isFirst);
    REQUIRE(device != devices.end());
    const std::string chosen =
        "--backend " + backend + " --device " + (backend == "vulkan" ? device->at("uuid").get<std::string>() : "0");
    // On libvkd3d the largest kernels take minutes to compile.
    const std::string which = backend == "vulkan" ? " --memory-only " : " --only copy ";
    const auto bench = fixture.run("bench --rows 32 --columns 64 --iterations 1 --json" + which + chosen);
    REQUIRE_MESSAGE(bench.code == 0, bench.err);
    const auto report = nlohmann::json::parse(bench.out);
    CHECK(report.at("backend") == backend);
    CHECK(report.at("device") == device->at("name"));
    CHECK(report.at("cases").at(0).at("bytes") == 2 * 4 * 32 * 64);
    CHECK(report.at("cases").at(1).at("bytes") == 3 * 4 * 32 * 64);
  }
  CHECK(fixture.run("bench --rows 32 --columns 64 --iterations 1 --only copy --require 1e9").code == 1);
  CHECK(fixture.run("bench --rows 0").code == 2);
  CHECK(fixture.run("bench --summary --memory-only").code == 2);
  const auto summary =
      fixture.run("bench --rows 8 --columns 8 --iterations 1 --repeat 1 --summary --json --only '1x4096x4096 f16'");
  REQUIRE_MESSAGE(summary.code == 0, summary.err);
  const auto chosen = nlohmann::json::parse(summary.out)["cases"];
  REQUIRE(chosen.size() == 4);
  CHECK(chosen[2]["name"] == "GEMM 1x4096x4096 f16");
  CHECK(chosen[3]["name"] == "GEMM 1x4096x4096 f16, B transposed");
  CHECK(chosen[3]["error"] < 1e-3);
  const auto product = fixture.run("bench --rows 8 --columns 8 --iterations 1 --json --only 'GEMM 512x512x512 f16'");
  REQUIRE_MESSAGE(product.code == 0, product.err);
  const auto cases = nlohmann::json::parse(product.out).at("cases");
  REQUIRE(cases.size() == 3);
  const double error = cases[2].at("error");
  CHECK(error > 0);
  CHECK(error < 1e-3);
}

TEST_CASE("tool: case ends at the first failure if it is told to, and prints pipelines instead") {
  const ToolFixture fixture;
  const std::string line = "ELEMENT_WISE_ADD ATensor=f32[2] BTensor=f32[2] OutputTensor=f32[2]";
  fixture.write("cases.txt", line + " expect=refused\n" + line + "\n");
  const auto all = fixture.run("case --file cases.txt");
  CHECK(all.code == 1);
  CHECK(contains(all.out, "failed  "));
  CHECK(contains(all.out, "passed  "));
  const auto first = fixture.run("case --file cases.txt --until-failure");
  CHECK(first.code == 1);
  CHECK(contains(first.out, "failed  "));
  CHECK_FALSE(contains(first.out, "passed  "));
  CHECK(fixture.run("case --pipelines '" + line + "'").out == line + "\tbinary_packed.f32 0=4 1=0\n");
}

// Generated cases leave out fields, too.
TEST_CASE("tool: case prints the pipelines of all generated cases" *
          dimple::testing::leftOut(dimple::testing::Run::Sanitized, "tests of operators run the same code")) {
  const ToolFixture fixture;
  const auto printed = fixture.run("case --generated --pipelines");
  REQUIRE_MESSAGE(printed.code == 0, printed.err);
  CHECK(contains(printed.out, "\tgemm_"));
}

TEST_CASE("tool: lines that leave out fields without a natural default are refused") {
  const ToolFixture fixture;
  const std::string product = "GEMM ATensor=f32[1,1,2,2] BTensor=f32[1,1,2,2] OutputTensor=f32[1,1,2,2]";
  for (const std::string& command : {"case '" + product + "'", "plan '" + product + "' --caps default"}) {
    const auto outcome = fixture.run(command);
    CHECK(outcome.code == 2);
    CHECK_MESSAGE(contains(outcome.err, "The line has no TransA, TransB, Alpha, Beta, which GEMM needs."), outcome.err);
  }
  const std::string whole = product + " TransA=NONE TransB=NONE Alpha=1 Beta=0";
  CHECK(fixture.run("plan '" + whole + "' --caps default").code == 0);
  CHECK(fixture.run("plan '" + whole + " FusedActivation=RELU' --caps default").code == 0);
  CHECK(contains(fixture.run("plan '" + whole + " FusedActivation=LEAKY_RELU' --caps default").err,
                 "The line has no Alpha of FusedActivation, which GEMM needs."));
}

TEST_CASE("tool: docs/operators.md is what ops --rules prints") {
  const ToolFixture fixture;
  const auto outcome = fixture.run("ops --rules");
  CHECK(outcome.code == 0);
  CHECK(outcome.out == dimple::testing::readLines(DIMPLE_SOURCE_DIR "/docs/operators.md"));
}
