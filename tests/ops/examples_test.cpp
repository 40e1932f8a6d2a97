// The worked examples of the operator documentation, on the device, as case lines.
#include <doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.h"
#include "tests/conformance/case_runner.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

using nlohmann::json;

std::string valueText(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value == "INT32_MIN") return std::to_string(INT32_MIN);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "f32[2,3]"
std::string tensorText(const json& tensor) {
  for (uint32_t type = 0; type < kTensorDataTypes.names.size(); ++type)
    if (kTensorDataTypes.names[type] == tensor.at("dtype").get<std::string>())
      return cat(shortTypeName(static_cast<DataType>(type)), tensor.at("sizes").dump());
  throw std::invalid_argument(cat("No data type is called ", tensor.at("dtype").dump(), "."));
}

// "[1,-0]"
std::string dataText(const json& tensor) {
  std::string text;
  for (const json& element : tensor.at("data")) text += cat(text.empty() ? "[" : ",", valueText(element));
  return text + "]";
}

std::string lineOf(const OpSchema& schema, const json& example) {
  std::string line(schema.name);
  size_t input = 0;
  size_t output = 0;
  std::string elements;
  for (const Field& field : schema.fields) {
    const std::string name(field.name);
    if (field.role == Role::Attribute) {
      const json& attributes = example.at("attributes");
      if (attributes.contains(name)) line += cat(" ", name, "=", valueText(attributes.at(name)));
      continue;
    }
    const json& tensors = example.at(field.role == Role::Output ? "outputs" : "inputs");
    const auto addElements = [&](const json& tensor) {
      elements += field.role == Role::Output ? cat(" expect", output++, "=") : cat(" input", input++, "=");
      elements += dataText(tensor);
    };
    if (field.type == FieldType::Tensor) {
      if (field.optional && !tensors.contains(name)) continue;
      line += cat(" ", name, "=", tensorText(tensors.at(name)));
      addElements(tensors.at(name));
    } else {
      std::string list;
      for (size_t i = 0; tensors.contains(cat(name, "[", i, "]")); ++i) {
        const json& tensor = tensors.at(cat(name, "[", i, "]"));
        list += cat(i ? "," : "", tensorText(tensor));
        addElements(tensor);
      }
      line += cat(" ", name, "=(", list, ")");
    }
  }
  return line + elements;
}

GPU_TEST_CASE("ops: documentation examples") {
  std::ifstream file(DIMPLE_TEST_DATA_DIR "/operator_examples.json");
  REQUIRE_MESSAGE(file.good(), "tests/data/operator_examples.json cannot be read.");
  json examples = json::parse(file).at("examples");
  std::set<std::string> ran;
  CaseRunner runner(gpu, [](const CaseOutcome& outcome) {
    CHECK_MESSAGE(outcome.failure.empty(), outcome.line << "\n" << outcome.failure);
  });
  for (json& example : examples) {
    const std::string name = example.at("operator").get<std::string>();
    const OpSchema* schema = findSchema(name == "DML_OPERATOR_SCATTER" ? "SCATTER_ELEMENTS" : name);
    if (!schema || !schema->plan) continue;
    // The page of RANDOM_GENERATOR has no elements; that of LOG_SOFTMAX1 prints the results of HARDMAX1.
    if (schema->name == "RANDOM_GENERATOR" || schema->name == "ACTIVATION_LOG_SOFTMAX1") continue;
    // The page of GATHER prints IndexDimensions 2 with a result that only 1 gives.
    if (schema->name == "GATHER" && example.at("example") == 3) example["attributes"]["IndexDimensions"] = 1;
    // That of DIAGONAL_MATRIX1 prints ones for a Value of 7.
    if (schema->name == "DIAGONAL_MATRIX1" && example.at("example") == 1) example["attributes"]["Value"] = 1;
    // A step of -2 in UINT8.
    if (schema->name == "FILL_VALUE_SEQUENCE" && example.at("example") == 2) example["attributes"]["ValueDelta"] = 254;
    // The page of RESAMPLE_GRAD does not print the offsets of its examples; those of the centers would take row 1.
    // The larger tensor of both is the gradient's input.
    if (schema->name == "RESAMPLE1") example["attributes"]["OutputPixelOffsets"] = {0, 0, 0, 0};
    if (schema->name == "RESAMPLE_GRAD") example["attributes"]["InputPixelOffsets"] = {0, 0, 0, 0};
    runner.add(lineOf(*schema, example));
    ran.insert(std::string(schema->name));
  }
  runner.flush();
  CHECK(ran.size() >= 10);
}

}  // namespace
}  // namespace dimple::testing
