#include "tests/onnx/operator_cases.h"

#include <doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"
#include "tests/conformance/selection.h"
#include "tests/onnx/model_builder.h"

namespace dimple::testing {
namespace {

using nlohmann::json;
using onnx::cat;
using onnx::HostTensor;
using onnx::Type;

std::vector<std::string> readCaseLines(const std::filesystem::path& path) {
  std::string text;
  if (std::filesystem::is_directory(path)) {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".jsonl") files.insert(entry.path());
    for (const auto& file : files) {
      std::ifstream in(file, std::ios::binary);
      text.append(std::istreambuf_iterator<char>(in), {});
    }
  } else {
    FILE* pipe = popen(cat("tar -xOf '", path.string(), "'").c_str(), "r");
    REQUIRE(pipe);
    char buffer[65536];
    for (size_t count; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, count);
    REQUIRE(pclose(pipe) == 0);
  }
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

Type parseType(const std::string& name) {
  static const std::map<std::string, Type> types = {
      {"float32", Type::Float}, {"float64", Type::Double}, {"float16", Type::Float16}, {"int8", Type::Int8},
      {"uint8", Type::UInt8},   {"int16", Type::Int16},    {"uint16", Type::UInt16},   {"int32", Type::Int32},
      {"uint32", Type::UInt32}, {"int64", Type::Int64},    {"uint64", Type::UInt64},   {"bool", Type::Bool},
      {"int4x2", Type::Int4},   {"uint4x2", Type::UInt4},
  };
  const auto found = types.find(name);
  if (found == types.end()) throw onnx::ModelError(cat("A tensor is of ", name, ", which DirectML does not have."));
  return found->second;
}

HostTensor parseTensor(const json& value) {
  HostTensor tensor(parseType(value["dtype"]), value["shape"].get<onnx::Sizes>());
  const bool packed = tensor.type == Type::Int4 || tensor.type == Type::UInt4;
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i) {
    const json& element = value["data"].at(packed ? i / 2 : i);
    if (packed) {
      const int nibble = element.get<int>() >> (i % 2 * 4) & 15;
      tensor.setInteger(i, tensor.type == Type::Int4 && nibble > 7 ? nibble - 16 : nibble);
    } else if (element.is_string()) {
      tensor.setReal(i, std::stod(element.get<std::string>()));
    } else if (element.is_number_unsigned()) {
      const auto number = element.get<uint64_t>();
      onnx::isFloat(tensor.type) ? tensor.setReal(i, static_cast<double>(number))
                                 : tensor.setInteger(i, static_cast<int64_t>(number));
    } else if (element.is_number_integer()) {
      tensor.setInteger(i, element.get<int64_t>());
    } else {
      tensor.setReal(i, element.is_boolean() ? element.get<bool>() : element.get<double>());
    }
  }
  return tensor;
}

// JSON writes 1 for an integer and for a float.
bool isFloatAttribute(const std::string& name) {
  static const std::set<std::string> names = {"activation_alpha",
                                              "activation_beta",
                                              "alpha",
                                              "beta",
                                              "bias",
                                              "clip",
                                              "cubic_coeff_a",
                                              "epsilon",
                                              "extrapolation_value",
                                              "gamma",
                                              "lambd",
                                              "max",
                                              "min",
                                              "momentum",
                                              "ratio",
                                              "scale",
                                              "scales",
                                              "softcap",
                                              "spatial_scale",
                                              "value"};
  return names.contains(name);
}

float parseFloat(const json& value) {
  return value.is_string() ? std::stof(value.get<std::string>()) : value.get<float>();
}

void setCaseAttribute(::onnx::AttributeProto& attribute, const std::string& name, const json& value) {
  attribute.set_name(name);
  const bool real = isFloatAttribute(name);
  const json& first = value.is_array() && !value.empty() ? value[0] : value;
  if (first.is_string() && !real) {
    attribute.set_type(value.is_array() ? ::onnx::AttributeProto::STRINGS : ::onnx::AttributeProto::STRING);
    if (!value.is_array())
      attribute.set_s(value.get<std::string>());
    else
      for (const json& text : value) attribute.add_strings(text.get<std::string>());
  } else if (real) {
    attribute.set_type(value.is_array() ? ::onnx::AttributeProto::FLOATS : ::onnx::AttributeProto::FLOAT);
    if (!value.is_array())
      attribute.set_f(parseFloat(value));
    else
      for (const json& number : value) attribute.add_floats(parseFloat(number));
  } else {
    attribute.set_type(value.is_array() ? ::onnx::AttributeProto::INTS : ::onnx::AttributeProto::INT);
    if (!value.is_array())
      attribute.set_i(value.get<int64_t>());
    else
      for (const json& number : value) attribute.add_ints(number.get<int64_t>());
  }
}

OnnxCase parseCase(const json& line, const std::string& name) {
  OnnxCase testCase;
  testCase.name = name;
  auto proto = std::make_shared<::onnx::ModelProto>();
  proto->set_ir_version(8);
  auto* import = proto->add_opset_import();
  import->set_domain(line["domain"]);
  import->set_version(line["opset"]);
  auto* graph = proto->mutable_graph();
  graph->set_name("case");
  auto* node = graph->add_node();
  node->set_op_type(line["op"]);
  node->set_domain(line["domain"]);
  for (const auto& [attribute, value] : line["attributes"].items())
    setCaseAttribute(*node->add_attribute(), attribute, value);
  size_t index = 0;
  for (const json& value : line["inputs"]) {
    const std::string inputName = cat("input ", index++);
    node->add_input(value.is_null() ? "" : inputName);
    if (value.is_null()) continue;
    const HostTensor tensor = parseTensor(value);
    if (value["init"].get<bool>()) {
      setTensor(*graph->add_initializer(), inputName, tensor);
      continue;
    }
    auto* info = graph->add_input();
    info->set_name(inputName);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int32_t>(tensor.type));
    testCase.inputs[inputName] = tensor;
  }
  for (const json& value : line["outputs"]) {
    const std::string outputName = cat("output ", index++);
    node->add_output(value.is_null() ? "" : outputName);
    if (value.is_null()) continue;
    graph->add_output()->set_name(outputName);
    testCase.outputs[outputName] = parseTensor(value);
  }
  testCase.tolerance = {line["rel"], line["abs"]};
  testCase.model = std::move(proto);
  return testCase;
}

}  // namespace

void runOperatorCases(const OnnxRunner& runner, Verdicts verdicts) {
  const char* path = std::getenv("DIMPLE_ONNX_CASES");
  if (!path || !*path) {
    MESSAGE("Skipped: DIMPLE_ONNX_CASES names no folder or archive of cases.");
    return;
  }
  const char* filter = std::getenv("DIMPLE_TEST_FILTER");
  OnnxCases cases(runner, "case", verdicts);
  std::map<std::string, int> repeated;
  size_t index = 0;
  for (const std::string& text : readCaseLines(path)) {
    const json line = json::parse(text);
    if (!line["dml_ep_op"].get<bool>() || !line["dml_dtypes"].get<bool>() || line["empty"].get<bool>()) continue;
    const std::string op = line["op"];
    const std::string test = cat(op, ".", line["test"].get<std::string>());
    const std::string name = cat(test, "/", repeated[test]++);
    if (filter && cat(",", filter, ",").find(cat(",", op, ",")) == std::string::npos) continue;
    if (index++ % selection().sample != 0) continue;
    try {
      cases.run(parseCase(line, name));
    } catch (const onnx::ModelError& refusal) {
      cases.refuse(name, refusal.what());
    }
  }
  cases.finish();
}

}  // namespace dimple::testing
