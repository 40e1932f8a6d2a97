#include "core/schema/desc_text.h"

#include <doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/schema/element_text.h"
#include "tests/left_out.h"

using namespace dimple;
using dimple::testing::isRun;
using dimple::testing::Run;

namespace {

std::string errorOf(std::string_view line) {
  auto result = parseCase(line);
  return result ? "accepted" : result.error().text;
}

const DML_BUFFER_TENSOR_DESC& buffer(const DML_TENSOR_DESC* tensor) {
  return *static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc);
}

template <class T>
const T& as(const OwnedDesc& desc) {
  return *static_cast<const T*>(desc.desc().Desc);
}

// Random values for every field of any schema.
class RandomText {
 public:
  explicit RandomText(uint32_t seed) : random_(seed) {}

  std::string line(const OpSchema& schema) {
    std::string out(schema.name);
    DataType scalarType = DML_TENSOR_DATA_TYPE_UNKNOWN;
    std::vector<uint32_t> counts(schema.fields.size());
    for (uint32_t& count : counts) count = below(4);
    for (const Field& field : schema.fields) {
      if (field.optional && below(3) == 0) continue;
      const std::string value = text(schema, field, counts, scalarType);
      if (!value.empty()) out += " " + std::string(field.name) + "=" + value;
    }
    return out;
  }

 private:
  uint32_t next() { return static_cast<uint32_t>(random_()); }
  uint32_t below(uint32_t n) { return next() % n; }

  std::string number(uint32_t limit) { return std::to_string(below(limit)); }

  std::string floating() {
    static const char* const kSpecial[] = {"nan", "inf", "-inf", "-0", "1e-45", "3.4028235e+38", "0.1"};
    return below(3) ? numberText(std::bit_cast<float>(next())) : kSpecial[below(7)];
  }

  template <class Element>
  std::string list(uint32_t count, std::string_view open, std::string_view close, Element element) {
    std::string out(open);
    for (uint32_t i = 0; i < count; ++i) out += (i ? "," : "") + element();
    return out + std::string(close);
  }

  std::string tensor() {
    const auto type = static_cast<DataType>(below(16));
    std::string out(shortTypeName(type));
    if (out.empty()) out = "#" + std::to_string(static_cast<uint32_t>(type));
    const uint32_t rank = 1 + below(8);
    out += list(rank, "[", "]", [&] { return number(6); });
    if (below(2)) out += list(rank, "{", "}", [&] { return number(30); });
    if (below(3) == 0) out += "@" + number(1000);
    if (below(4) == 0) out += "%" + number(64);
    if (below(4) == 0) out += below(2) ? "!" : "!" + std::to_string(2 + below(9));
    return out;
  }

  std::string activation() {
    return below(3) ? below(2) ? "RELU" : "ACTIVATION_SIGMOID"
                    : "LINEAR(Alpha=" + floating() + ",Beta=" + floating() + ")";
  }

  std::string text(const OpSchema& schema, const Field& field, const std::vector<uint32_t>& counts,
                   DataType& scalarType) {
    const uint32_t count = field.countField < 0 ? 0 : counts[static_cast<size_t>(field.countField)];
    switch (field.type) {
      case FieldType::Tensor:
        return tensor();
      case FieldType::TensorArray:
        return list(count, "(", ")", [&] { return tensor(); });
      case FieldType::Operator:
        return activation();
      case FieldType::OperatorArray:
        return list(count, "(", ")", [&] { return activation(); });
      case FieldType::Size2D:
        return list(2, "[", "]", [&] { return std::to_string(next()); });
      case FieldType::UInt: {
        const auto index = &field - schema.fields.data();
        for (const Field& f : schema.fields)
          if (f.countField == index) return "";
        return std::to_string(next());
      }
      case FieldType::Int:
        return std::to_string(static_cast<int32_t>(next()));
      case FieldType::Float:
        return floating();
      case FieldType::Bool:
        return number(2);
      case FieldType::Enum: {
        const uint32_t value = below(static_cast<uint32_t>(field.values->names.size()) + 2);
        if (field.values == &kTensorDataTypes) scalarType = static_cast<DataType>(value);
        if (value >= field.values->names.size()) return std::to_string(value);
        return std::string(below(2) ? field.values->prefix : "") + std::string(field.values->names[value]);
      }
      case FieldType::UIntArray:
        return list(count, "[", "]", [&] { return std::to_string(next()); });
      case FieldType::IntArray:
        return list(count, "[", "]", [&] { return std::to_string(static_cast<int32_t>(next())); });
      case FieldType::FloatArray:
        return list(count, "[", "]", [&] { return floating(); });
      case FieldType::ScaleBias:
        return list(2, "[", "]", [&] { return floating(); });
      case FieldType::Scalar:
        return isFloat(scalarType) ? floating() : number(100);
    }
    return "";
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("a case line sets the fields it names") {
  auto parsed = parseCase(
      "  DML_OPERATOR_ELEMENT_WISE_CLIP InputTensor=f16[2,3]{0,1}@64%32! Max=inf Min=-1.5\tScaleBias=[2,0.5] "
      "OutputTensor=f16[2,3] seed=7 fill=a=b\n");
  REQUIRE(parsed);
  const auto& desc = as<DML_ELEMENT_WISE_CLIP_OPERATOR_DESC>(parsed->desc);
  const auto& input = buffer(desc.InputTensor);
  CHECK(input.DataType == DML_TENSOR_DATA_TYPE_FLOAT16);
  CHECK(input.DimensionCount == 2);
  CHECK(input.Sizes[1] == 3);
  REQUIRE(input.Strides);
  CHECK(input.Strides[0] == 0);
  CHECK(input.TotalTensorSizeInBytes == 64);
  CHECK(input.GuaranteedBaseOffsetAlignment == 32);
  CHECK(input.Flags == DML_TENSOR_FLAG_OWNED_BY_DML);
  CHECK(buffer(desc.OutputTensor).Strides == nullptr);
  CHECK(buffer(desc.OutputTensor).TotalTensorSizeInBytes == 12);
  CHECK(desc.Min == -1.5f);
  CHECK(std::isinf(desc.Max));
  REQUIRE(desc.ScaleBias);
  CHECK(desc.ScaleBias->Bias == 0.5f);
  CHECK(parsed->extras.size() == 2);
  CHECK(parsed->extras.at("seed") == "7");
  CHECK(parsed->extras.at("fill") == "a=b");
  CHECK(formatCase(parsed->desc.desc()) ==
        "ELEMENT_WISE_CLIP InputTensor=f16[2,3]{0,1}@64%32! OutputTensor=f16[2,3] ScaleBias=[2,0.5] Min=-1.5 Max=inf");
}

TEST_CASE("a fused activation is named without its prefix") {
  for (const char* name : {"RELU", "ACTIVATION_RELU", "DML_OPERATOR_ACTIVATION_RELU", "RELU()"}) {
    auto parsed = parseCase(std::string("ELEMENT_WISE_ADD1 FusedActivation=") + name);
    REQUIRE(parsed);
    const auto* activation = as<DML_ELEMENT_WISE_ADD1_OPERATOR_DESC>(parsed->desc).FusedActivation;
    REQUIRE(activation);
    CHECK(activation->Type == DML_OPERATOR_ACTIVATION_RELU);
    CHECK(formatCase(parsed->desc.desc()) == "ELEMENT_WISE_ADD1 FusedActivation=RELU");
  }
  auto nested = parseCase("ELEMENT_WISE_ADD1 FusedActivation=RELU(InputTensor=f32[2],OutputTensor=f32[2])");
  REQUIRE(nested);
  CHECK(formatCase(nested->desc.desc()) ==
        "ELEMENT_WISE_ADD1 FusedActivation=RELU(InputTensor=f32[2],OutputTensor=f32[2])");
}

TEST_CASE("errors name the key") {
  CHECK(errorOf("") == "The line is empty, expected the name of an operator.");
  CHECK(errorOf("NOT_THERE A=1") == "There is no operator NOT_THERE.");
  CHECK(errorOf("ELEMENT_WISE_ADD CTensor=f32[1]") ==
        "ELEMENT_WISE_ADD has no field CTensor; its fields are ATensor, BTensor, OutputTensor.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor") == "\"ATensor\" is not of the form Key=value.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f32[1] ATensor=f32[1]") == "ATensor is given twice.");
  CHECK(errorOf("ELEMENT_WISE_ADD seed=1 seed=2") == "seed is given twice.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f33[1]") ==
        "ATensor is \"f33[1]\", which does not begin with a data type such as f32 or u8.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f32[1") == "The brackets of the line do not match.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f32") ==
        "ATensor is \"f32\", expected sizes such as [2,3] after the data type.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f32[-1]") ==
        "ATensor is \"f32[-1]\", expected sizes such as [2,3] after the data type.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f32[2,3]{1}") ==
        "ATensor is \"f32[2,3]{1}\", expected as many strides in braces as sizes (2).");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f32[2]@x") == "ATensor is \"f32[2]@x\", expected a number of bytes after @.");
  CHECK(errorOf("ELEMENT_WISE_ADD ATensor=f32[2]?") ==
        "ATensor is \"f32[2]?\", expected only {strides}, @bytes, %alignment and ! after the sizes.");
  CHECK(errorOf("ELEMENT_WISE_CLIP Min=one") == "Min is \"one\", expected a number in the range of FLOAT.");
  CHECK(errorOf("ELEMENT_WISE_CLIP ScaleBias=[1]") == "ScaleBias is \"[1]\", expected two numbers, [scale,bias].");
  CHECK(errorOf("ELEMENT_WISE_ADD1 FusedActivation=NOT_THERE") == "FusedActivation names no operator (NOT_THERE).");
  CHECK(errorOf("ELEMENT_WISE_ADD1 FusedActivation=RELU(Alpha=1)") ==
        "FusedActivation: ACTIVATION_RELU has no field Alpha; its fields are InputTensor, OutputTensor.");
}

TEST_CASE("every schema goes through text and back") {
  RandomText random(1);
  const int lines = isRun(Run::Sanitized) ? 25 : 200;
  for (const OpSchema* schema : allSchemas()) {
    for (int i = 0; i < lines; ++i) {
      const std::string line = random.line(*schema);
      CAPTURE(line);
      auto first = parseCase(line);
      REQUIRE_MESSAGE(first, first.error().text);
      const std::string text = formatCase(first->desc.desc());
      auto second = parseCase(text);
      REQUIRE_MESSAGE(second, second.error().text);
      CHECK(formatCase(second->desc.desc()) == text);
      // What the line said is in the text: the text differs from it at most in order and spelling.
      for (const Field& field : schema->fields)
        if (line.find(" " + std::string(field.name) + "=") != line.npos)
          CHECK(text.find(" " + std::string(field.name) + "=") != text.npos);
    }
  }
}

TEST_CASE("floats read back exactly") {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const auto back = parseNumber<float>(numberText(value));
    REQUIRE(back);
    if (std::isnan(value))
      CHECK(std::isnan(*back));
    else
      CHECK(std::bit_cast<uint32_t>(*back) == std::bit_cast<uint32_t>(value));
  }
  CHECK(!parseNumber<float>(""));
  CHECK(!parseNumber<float>("1.5x"));
  CHECK(!parseNumber<float>("1e99"));
}

TEST_CASE("FLOAT16 is rounded to nearest, ties to even") {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    CHECK(halfBits(halfValue(half)) == half);
    CHECK(halfBits(-halfValue(half)) == (half | 0x8000));
    if (bits == 0x7bff) continue;
    const double a = halfValue(half);
    const double b = halfValue(static_cast<uint16_t>(bits + 1));
    const double middle = (a + b) / 2;
    const auto even = static_cast<uint16_t>(bits & 1 ? bits + 1 : bits);
    CHECK(halfBits(middle) == even);
    CHECK(halfBits(std::nextafter(middle, 0.0)) == half);
    CHECK(halfBits(std::nextafter(middle, b + 1)) == bits + 1);
  }
  CHECK(halfBits(65519.99) == 0x7bff);
  CHECK(halfBits(65520.0) == 0x7c00);
  CHECK(halfBits(-std::numeric_limits<double>::infinity()) == 0xfc00);
  CHECK(std::isnan(halfValue(halfBits(std::nan("")))));
  CHECK(halfBits(1e-300) == 0);
}

TEST_CASE("elements of each type read back") {
  struct Row {
    DataType type;
    std::vector<const char*> good, bad;
  };
  const Row rows[] = {
      {DML_TENSOR_DATA_TYPE_FLOAT32, {"0.1", "-0", "inf", "-inf", "nan", "1e-45"}, {"", "x", "1e99"}},
      {DML_TENSOR_DATA_TYPE_FLOAT16, {"1.5", "65504", "-inf", "nan", "5.9604645e-08"}, {"", "x"}},
      {DML_TENSOR_DATA_TYPE_FLOAT64, {"0.1", "1e+300", "-inf"}, {"", "x"}},
      {DML_TENSOR_DATA_TYPE_INT8, {"-128", "127"}, {"-129", "128", "1.5", "nan"}},
      {DML_TENSOR_DATA_TYPE_UINT8, {"0", "255"}, {"-1", "256"}},
      {DML_TENSOR_DATA_TYPE_INT16, {"-32768", "32767"}, {"-32769", "32768"}},
      {DML_TENSOR_DATA_TYPE_UINT16, {"0", "65535"}, {"-1", "65536"}},
      {DML_TENSOR_DATA_TYPE_INT32, {"-2147483648", "2147483647"}, {"-2147483649", "2147483648"}},
      {DML_TENSOR_DATA_TYPE_UINT32, {"0", "4294967295"}, {"-1", "4294967296"}},
      {DML_TENSOR_DATA_TYPE_INT64, {"-9223372036854775808", "9223372036854775807"}, {"9223372036854775808"}},
      {DML_TENSOR_DATA_TYPE_UINT64, {"0", "18446744073709551615"}, {"-1", "18446744073709551616"}},
  };
  for (const Row& row : rows) {
    CAPTURE(dataTypeName(row.type));
    for (const char* text : row.good) {
      const auto element = parseElement(row.type, text);
      REQUIRE(element);
      CHECK(elementText(row.type, element->Bytes) == text);
    }
    for (const char* text : row.bad) CHECK(!parseElement(row.type, text));
  }
}
