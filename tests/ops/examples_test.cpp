// The worked examples of the operator documentation, on the device, as case lines.
#include <doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.h"
#include "tests/gpu_test.h"
#include "tests/ops/case_runner.h"

namespace dimple::testing {
namespace {

using nlohmann::json;

std::string valueText(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// "f32[2,3]"
std::string tensorText(const json& tensor) {
  for (uint32_t type = 0; type < kTensorDataTypes.names.size(); ++type)
    if (kTensorDataTypes.names[type] == tensor.at("dtype").get<std::string>())
      return cat(shortTypeName(static_cast<DataType>(type)), tensor.at("sizes").dump());
  throw std::invalid_argument(cat("No data type is called ", tensor.at("dtype").dump(), "."));
}

std::string lineOf(const OpSchema& schema, const json& example) {
  std::string line(schema.name);
  size_t input = 0;
  std::string elements;
  const auto addElements = [&](const json& tensor) {
    elements += cat(" input", input++, "=", tensor.at("data").dump());
  };
  for (const Field& field : schema.fields) {
    const std::string name(field.name);
    const json& inputs = example.at("inputs");
    if (field.role == Role::Attribute) {
      const json& attributes = example.at("attributes");
      if (attributes.contains(name)) line += cat(" ", name, "=", valueText(attributes.at(name)));
    } else if (field.role == Role::Output) {
      const json& output = example.at("outputs").at(name);
      line += cat(" ", name, "=", tensorText(output));
      elements += cat(" expect0=", output.at("data").dump());
    } else if (field.type == FieldType::Tensor) {
      line += cat(" ", name, "=", tensorText(inputs.at(name)));
      addElements(inputs.at(name));
    } else {
      std::string list;
      for (size_t i = 0; inputs.contains(cat(name, "[", i, "]")); ++i) {
        const json& tensor = inputs.at(cat(name, "[", i, "]"));
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
    const OpSchema* schema = findSchema(example.at("operator").get<std::string>());
    if (!schema) continue;
    // The page of GATHER prints IndexDimensions 2 with a result that only 1 gives.
    if (schema->name == "GATHER" && example.at("example") == 3) example["attributes"]["IndexDimensions"] = 1;
    runner.add(lineOf(*schema, example));
    ran.insert(std::string(schema->name));
  }
  runner.flush();
  CHECK(ran.size() >= 10);
}

}  // namespace
}  // namespace dimple::testing
