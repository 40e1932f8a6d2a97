// The worked examples of the operator documentation, run through the oracle.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/oracle/oracle_test.h"

namespace {

using nlohmann::json;
using oracle::Array;
using oracle_test::Described;

const std::map<std::string, DML_OPERATOR_TYPE> kOperators = {
    {"DML_OPERATOR_GATHER", DML_OPERATOR_GATHER},
    {"DML_OPERATOR_REDUCE", DML_OPERATOR_REDUCE},
    {"DML_OPERATOR_ARGMIN", DML_OPERATOR_ARGMIN},
    {"DML_OPERATOR_ARGMAX", DML_OPERATOR_ARGMAX},
    {"DML_OPERATOR_SCATTER_ND", DML_OPERATOR_SCATTER_ND},
    {"DML_OPERATOR_SLICE", DML_OPERATOR_SLICE},
    {"DML_OPERATOR_SLICE1", DML_OPERATOR_SLICE1},
    {"DML_OPERATOR_JOIN", DML_OPERATOR_JOIN},
    {"DML_OPERATOR_FILL_VALUE_CONSTANT", DML_OPERATOR_FILL_VALUE_CONSTANT},
    {"DML_OPERATOR_ELEMENT_WISE_IF", DML_OPERATOR_ELEMENT_WISE_IF},
};

DML_TENSOR_DATA_TYPE typeNamed(const std::string& name) {
  if (name == "FLOAT32") return DML_TENSOR_DATA_TYPE_FLOAT32;
  if (name == "UINT32") return DML_TENSOR_DATA_TYPE_UINT32;
  if (name == "UINT8") return DML_TENSOR_DATA_TYPE_UINT8;
  throw std::invalid_argument("No example used the data type " + name + " so far.");
}

Array arrayOf(const json& tensor) {
  Array array = oracle::makeArray(typeNamed(tensor.at("dtype")), tensor.at("sizes"));
  const std::vector<double> values = tensor.at("data");
  REQUIRE(values.size() == array.count());
  for (size_t i = 0; i < values.size(); ++i) {
    if (array.real.empty()) {
      array.whole[i] = static_cast<int64_t>(values[i]);
    } else {
      array.real[i] = values[i];
    }
  }
  return array;
}

struct Example {
  explicit Example(const json& source) : attributes(source.at("attributes")) {
    const json& in = source.at("inputs");
    if (in.contains("InputTensors[0]")) {
      for (size_t i = 0; i < in.size(); ++i) add(in.at("InputTensors[" + std::to_string(i) + "]"));
    } else {
      for (const char* name :
           {"ConditionTensor", "InputTensor", "ATensor", "BTensor", "IndicesTensor", "UpdatesTensor"}) {
        if (in.contains(name)) add(in.at(name));
      }
    }
    REQUIRE(inputs.size() == in.size());
    output = arrayOf(source.at("outputs").at("OutputTensor"));
    outputTensor = std::make_unique<Described>(output.type, output.sizes);
  }

  void add(const json& tensor) {
    inputs.push_back(arrayOf(tensor));
    inputTensors.push_back(std::make_unique<Described>(inputs.back().type, inputs.back().sizes));
  }
  const DML_TENSOR_DESC* input(size_t i) const { return &inputTensors.at(i)->tensor; }
  const DML_TENSOR_DESC* out() const { return &outputTensor->tensor; }
  UINT number(const char* name) const { return attributes.at(name).get<UINT>(); }
  template <class Element = UINT>
  std::vector<Element> list(const char* name) const {
    return attributes.at(name).get<std::vector<Element>>();
  }
  DML_AXIS_DIRECTION direction() const {
    return attributes.at("AxisDirection") == "DML_AXIS_DIRECTION_DECREASING" ? DML_AXIS_DIRECTION_DECREASING
                                                                             : DML_AXIS_DIRECTION_INCREASING;
  }

  json attributes;
  std::vector<Array> inputs;
  std::vector<std::unique_ptr<Described>> inputTensors;
  Array output;
  std::unique_ptr<Described> outputTensor;
};

oracle::Result run(DML_OPERATOR_TYPE type, Example& e) {
  const auto evaluate = [&](const auto& desc) { return oracle::evaluate({type, &desc}, e.inputs).at(0); };
  switch (type) {
    case DML_OPERATOR_GATHER:
      return evaluate(
          DML_GATHER_OPERATOR_DESC{e.input(0), e.input(1), e.out(), e.number("Axis"), e.number("IndexDimensions")});
    case DML_OPERATOR_REDUCE: {
      REQUIRE(e.attributes.at("Function") == "SUM");
      const auto axes = e.list("Axes");
      return evaluate(DML_REDUCE_OPERATOR_DESC{DML_REDUCE_FUNCTION_SUM, e.input(0), e.out(),
                                               static_cast<UINT>(axes.size()), axes.data()});
    }
    case DML_OPERATOR_ARGMIN: {
      const auto axes = e.list("Axes");
      return evaluate(
          DML_ARGMIN_OPERATOR_DESC{e.input(0), e.out(), static_cast<UINT>(axes.size()), axes.data(), e.direction()});
    }
    case DML_OPERATOR_ARGMAX: {
      const auto axes = e.list("Axes");
      return evaluate(
          DML_ARGMAX_OPERATOR_DESC{e.input(0), e.out(), static_cast<UINT>(axes.size()), axes.data(), e.direction()});
    }
    case DML_OPERATOR_SCATTER_ND:
      return evaluate(DML_SCATTER_ND_OPERATOR_DESC{e.input(0), e.input(1), e.input(2), e.out(),
                                                   e.number("InputDimensionCount"), e.number("IndicesDimensionCount")});
    case DML_OPERATOR_SLICE: {
      const auto offsets = e.list("Offsets");
      const auto sizes = e.list("Sizes");
      const auto strides = e.list("Strides");
      return evaluate(DML_SLICE_OPERATOR_DESC{e.input(0), e.out(), static_cast<UINT>(sizes.size()), offsets.data(),
                                              sizes.data(), strides.data()});
    }
    case DML_OPERATOR_SLICE1: {
      const auto offsets = e.list("InputWindowOffsets");
      const auto sizes = e.list("InputWindowSizes");
      const auto strides = e.list<INT>("InputWindowStrides");
      return evaluate(DML_SLICE1_OPERATOR_DESC{e.input(0), e.out(), static_cast<UINT>(sizes.size()), offsets.data(),
                                               sizes.data(), strides.data()});
    }
    case DML_OPERATOR_JOIN: {
      std::vector<DML_TENSOR_DESC> tensors;
      for (const auto& tensor : e.inputTensors) tensors.push_back(tensor->tensor);
      return evaluate(DML_JOIN_OPERATOR_DESC{e.number("InputCount"), tensors.data(), e.out(), e.number("Axis")});
    }
    case DML_OPERATOR_FILL_VALUE_CONSTANT: {
      DML_FILL_VALUE_CONSTANT_OPERATOR_DESC desc{e.out(), e.output.type, {}};
      desc.Value.Float32 = e.attributes.at("Value").get<float>();
      return evaluate(desc);
    }
    default:
      return evaluate(DML_ELEMENT_WISE_IF_OPERATOR_DESC{e.input(0), e.input(1), e.input(2), e.out()});
  }
}

json readExamples() {
#ifdef DIMPLE_TEST_DATA_DIR
  const std::filesystem::path folder = DIMPLE_TEST_DATA_DIR;
#else
  const std::filesystem::path folder = std::filesystem::path(__FILE__).parent_path() / ".." / "data";
#endif
  std::ifstream file(folder / "operator_examples.json");
  REQUIRE_MESSAGE(file.good(), "tests/data/operator_examples.json cannot be read.");
  return json::parse(file).at("examples");
}

}  // namespace

TEST_CASE("oracle: documentation examples") {
  std::map<std::string, int> ran;
  json examples = readExamples();
  for (json& example : examples) {
    const std::string name = example.at("operator");
    const auto known = kOperators.find(name);
    if (known == kOperators.end()) continue;
    CAPTURE(name);
    CAPTURE(example.at("example").dump());
    // The page prints IndexDimensions 2 with a result that only 1 gives.
    if (name == "DML_OPERATOR_GATHER" && example.at("example") == 3) example["attributes"]["IndexDimensions"] = 1;
    Example parsed(example);
    const oracle::Comparison comparison = compare(run(known->second, parsed), parsed.output);
    CHECK_MESSAGE(comparison.ok, comparison.message);
    ++ran[name];
  }
  for (const auto& known : kOperators) CHECK_MESSAGE(ran[known.first] > 0, known.first << " has no example.");
}
