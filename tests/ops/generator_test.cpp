// Whether the generated cases cover what they should, before any of them runs.
#include "tests/conformance/generators/generator.h"

#include <doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/operation.h"
#include "core/text.h"
#include "tests/conformance/main_type.h"
#include "tests/conformance/test_case.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

std::string layoutOf(const DML_BUFFER_TENSOR_DESC& tensor) {
  std::string text = std::to_string(tensor.DimensionCount);
  uint64_t packed = 1;
  bool descending = true;
  bool gaps = false;
  uint64_t before = 0;
  for (UINT d = tensor.DimensionCount; tensor.Strides && d-- > 0;) {
    if (tensor.Sizes[d] == 1) continue;
    if (tensor.Strides[d] == 0) return text + " broadcast";
    gaps = gaps || tensor.Strides[d] != packed;
    descending = descending && tensor.Strides[d] > before;
    before = tensor.Strides[d];
    packed *= tensor.Sizes[d];
  }
  const auto implied = impliedBytes(tensor.DataType, {tensor.Sizes, tensor.DimensionCount},
                                    {tensor.Strides, tensor.Strides ? tensor.DimensionCount : 0});
  if (!descending) return text + " permuted";
  if (gaps) return text + " gaps";
  return text + (tensor.TotalTensorSizeInBytes != implied ? " slack" : " packed");
}

struct Coverage {
  size_t cases = 0;
  size_t notPacked = 0;
  std::set<std::string> layouts;
  std::set<UINT> ranks;
  uint64_t largest = 0;
  bool oddTail = false;

  void add(const TestCase& test) {
    ++cases;
    std::string combined;
    bool plain = true;
    for (const auto* tensors : {&test.inputs, &test.outputs})
      for (const auto* tensor : *tensors) {
        if (!tensor) continue;
        const std::string layout = layoutOf(*tensor);
        plain = plain && layout.ends_with(" packed");
        combined += layout + ",";
        uint64_t elements = 1;
        for (UINT d = 0; d < tensor->DimensionCount; ++d) elements *= tensor->Sizes[d];
        largest = std::max(largest, elements);
        oddTail = oddTail || elements % 2 != 0;
        ranks.insert(tensor->DimensionCount);
      }
    notPacked += plain ? 0 : 1;
    layouts.insert(std::move(combined));
  }
};

std::vector<TestCase> parsedCases(const OpSchema& schema, DataType type) {
  std::vector<TestCase> tests;
  for (const std::string& line : generateCases(schema, type)) {
    auto test = parseTestCase(line);
    REQUIRE_MESSAGE(test, line, ": ", test.error().text);
    const auto view = Operation::parse(test->desc.desc());
    CHECK_MESSAGE(view, line, ": ", view ? std::string() : view.error().text);
    tests.push_back(std::move(*test));
  }
  return tests;
}

TEST_CASE("the main tensor is the one of most data types") {
  auto parsed = parseCase("ELEMENT_WISE_IF ConditionTensor=u8[1] ATensor=f64[1] BTensor=f64[1] OutputTensor=f64[1]");
  REQUIRE(parsed);
  CHECK(mainType(parsed->desc.desc()) == DML_TENSOR_DATA_TYPE_FLOAT64);
  CHECK(mainRule(parsed->desc.schema())->types() == kAllTypes);
}

TEST_CASE("generated cases of every operator and data type are many and varied" *
          leftOut(Run::Quick, "it makes all cases")) {
  for (const OpSchema* schema : allSchemas())
    for (const DataType type : generatedTypes(*schema)) {
      CAPTURE(std::string(schema->name));
      CAPTURE(std::string(dataTypeName(type)));
      Coverage coverage;
      for (const TestCase& test : parsedCases(*schema, type)) coverage.add(test);
      CHECK(coverage.cases >= 200);
      CHECK(coverage.layouts.size() >= 12);
      CHECK(coverage.notPacked * 10 >= coverage.cases * 3);
      CHECK(coverage.largest > (1u << 20));
      CHECK(coverage.oddTail);
      const TensorRule& rule = schema->rules[0];
      for (UINT rank = rule.minRank(); rank <= rule.maxRank(); ++rank) {
        CAPTURE(rank);
        CHECK(coverage.ranks.contains(rank));
      }
    }
}

TEST_CASE("generated cases use every enumerator, every pair of types of CAST and every fusable activation" *
          leftOut(Run::Quick, "it makes all cases")) {
  for (const OpSchema* schema : allSchemas()) {
    if (!schema->plan) continue;
    CAPTURE(std::string(schema->name));
    std::map<std::string_view, std::set<uint32_t>> seen;
    std::set<DML_OPERATOR_TYPE> fused;
    std::set<std::pair<DataType, DataType>> pairs;
    for (const DataType type : generatedTypes(*schema))
      for (const TestCase& test : parsedCases(*schema, type)) {
        const auto* fields = static_cast<const std::byte*>(test.desc.desc().Desc);
        for (const Field& field : schema->fields) {
          if (field.type == FieldType::Enum)
            seen[field.name].insert(*reinterpret_cast<const uint32_t*>(fields + field.offset));
          if (field.type != FieldType::Operator) continue;
          const auto* activation = *reinterpret_cast<const DML_OPERATOR_DESC* const*>(fields + field.offset);
          fused.insert(activation ? activation->Type : DML_OPERATOR_INVALID);
        }
        if (!test.inputs.empty() && test.inputs[0] && test.outputs[0])
          pairs.emplace(test.inputs[0]->DataType, test.outputs[0]->DataType);
      }
    for (const Field& field : schema->fields) {
      CAPTURE(std::string(field.name));
      // ROI_ALIGN takes AVERAGE and MAX alone, and a QuantizationType of NONE is refused.
      const bool isRoi = schema->name.starts_with("ROI_ALIGN") && field.values == &kReduceFunctions;
      if (field.type == FieldType::Enum && (isRoi || field.values == &kQuantizationTypes))
        CHECK(seen[field.name].size() == 2);
      else if (field.type == FieldType::Enum && field.values != &kTensorDataTypes)
        CHECK(seen[field.name].size() == field.values->names.size());
      if (field.type == FieldType::Operator)
        for (const OpSchema* activation : allSchemas())
          if (activation->fusable && activation->plan)
            CHECK_MESSAGE(fused.contains(activation->type), std::string(activation->name));
    }
    if (schema->type == DML_OPERATOR_CAST) CHECK(pairs.size() == 11 * 11);
  }
}

TEST_CASE("generated cases are the same every time and no two alike" * leftOut(Run::Quick, "it makes all cases")) {
  for (const OpSchema* schema : allSchemas()) {
    if (!schema->plan) continue;
    const DataType type = generatedTypes(*schema).front();
    const auto lines = generateCases(*schema, type);
    CHECK(lines == generateCases(*schema, type));
    CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == lines.size());
  }
}

}  // namespace
}  // namespace dimple::testing
