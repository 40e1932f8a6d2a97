// What CreateOperator accepts and refuses, from both sides of each limit, with the sentence that says why. What the
// pages leave open follows Microsoft's DirectML 1.15.4.
#include <doctest/doctest.h>

#include "core/operation.h"
#include "core/schema/desc_text.h"
#include "tests/core/described.h"

using namespace dimple;

namespace {

// The refusal of a description, empty if it is accepted.
std::string refusal(std::string_view line) {
  auto parsed = parseCase(line);
  if (!parsed) return "unreadable: " + parsed.error().text;
  const auto view = Operation::parse(parsed->desc.desc());
  return view ? "" : view.error().text;
}

}  // namespace

TEST_CASE("operator types") {
  const DML_OPERATOR_DESC none{DML_OPERATOR_INVALID, nullptr};
  CHECK(Operation::parse(none).error().text ==
        "Type has value (0), which is not a DML_OPERATOR_TYPE of feature level 6.4.");
  const DML_OPERATOR_DESC null{DML_OPERATOR_ELEMENT_WISE_ADD, nullptr};
  CHECK(Operation::parse(null).error().text == "DML_OPERATOR_ELEMENT_WISE_ADD has a null Desc.");
}

TEST_CASE("every schema is found by type and by name, and its rules cover its tensors") {
  for (const OpSchema* schema : allSchemas()) {
    CAPTURE(schema->name);
    CHECK(findSchema(schema->type) == schema);
    CHECK(findSchema(schema->name) == schema);
    CHECK(findSchema("DML_OPERATOR_" + std::string(schema->name)) == schema);
    size_t tensors = 0;
    for (const Field& field : schema->fields) {
      tensors += field.role != Role::Attribute;
      CHECK(field.offset < schema->descBytes);
      if (field.countField >= 0) CHECK(schema->fields[static_cast<size_t>(field.countField)].type == FieldType::UInt);
    }
    CHECK(schema->rules.size() == tensors);
  }
  CHECK(findSchema("NO_SUCH_OPERATOR") == nullptr);
}

TEST_CASE("tensor rules") {
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3] OutputTensor=f32[2,3]").empty());
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f32[2,3] OutputTensor=f32[2,3]") == "BTensor is null, but it is required.");
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f64[2,3] BTensor=f64[2,3] OutputTensor=f64[2,3]") ==
        "ATensor has DataType (FLOAT64), expected one of FLOAT32, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16, INT8, "
        "UINT64, INT64.");
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f16[2,3] OutputTensor=f32[2,3]") ==
        "BTensor has DataType (FLOAT16), expected that of ATensor (FLOAT32).");
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[1,3] OutputTensor=f32[2,3]") ==
        "BTensor has Sizes ({1, 3}), expected those of ATensor ({2, 3}).");
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f32[1,3] BTensor=f32[1,1,3] OutputTensor=f32[1,3]") ==
        "BTensor has DimensionCount (3), expected that of ATensor (2).");
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3] OutputTensor=f32[2,3]!") ==
        "OutputTensor has Flags (OWNED_BY_DML), expected NONE for an output.");
  CHECK(refusal("ELEMENT_WISE_ADD ATensor=f32[2,3]! BTensor=f32[2,3]! OutputTensor=f32[2,3]").empty());
}

TEST_CASE("outputs whose coordinates provably share elements are refused") {
  const auto withOutput = [](std::string_view strides) {
    return refusal("ELEMENT_WISE_ADD ATensor=f32[2,3] BTensor=f32[2,3]{0,0} OutputTensor=f32[2,3]" +
                   std::string(strides));
  };
  CHECK(withOutput("{0,1}") ==
        "OutputTensor has Strides[0] (0) for Sizes[0] (2), expected an output without broadcast.");
  CHECK(withOutput("{1,1}") ==
        "OutputTensor has Strides[0] and Strides[1] (1), expected different strides of an output.");
  CHECK(withOutput("{2,1}") ==
        "OutputTensor has Strides ({2, 1}) that span 5 elements, expected at least 6, one for each coordinate.");
  CHECK(withOutput("{1,2}").empty());
  CHECK(withOutput("{1,5}").empty());
  // Coordinates (0, 2) and (1, 0) share an element; the original accepts it, and so must we.
  CHECK(withOutput("{4,2}").empty());
  CHECK(refusal("ELEMENT_WISE_ABS InputTensor=f32[1,3] OutputTensor=f32[1,3]{0,1}").empty());
}

TEST_CASE("scale and bias of 64-bit types must be the identity") {
  CHECK(refusal("ELEMENT_WISE_ABS InputTensor=i64[2] OutputTensor=i64[2] ScaleBias=[1,0]").empty());
  CHECK(refusal("ELEMENT_WISE_ABS InputTensor=i32[2] OutputTensor=i32[2] ScaleBias=[2,1]").empty());
  CHECK(refusal("ELEMENT_WISE_ABS InputTensor=i64[2] OutputTensor=i64[2] ScaleBias=[2,0]") ==
        "ScaleBias has Scale (2.000000) and Bias (0.000000), expected 1 and 0 for DataType INT64.");
  CHECK_FALSE(refusal("ELEMENT_WISE_IDENTITY InputTensor=f64[2] OutputTensor=f64[2] ScaleBias=[1,1]").empty());
}

TEST_CASE("fused activations") {
  constexpr std::string_view kAdd1 = "ELEMENT_WISE_ADD1 ATensor=f32[2] BTensor=f32[2] OutputTensor=f32[2]";
  CHECK(refusal(kAdd1).empty());
  CHECK(refusal(std::string(kAdd1) + " FusedActivation=RELU").empty());
  auto parsed = parseCase(std::string(kAdd1) + " FusedActivation=RELU");
  REQUIRE(parsed);
  const auto& add = *static_cast<const DML_ELEMENT_WISE_ADD1_OPERATOR_DESC*>(parsed->desc.desc().Desc);
  auto relu = *static_cast<const DML_ACTIVATION_RELU_OPERATOR_DESC*>(add.FusedActivation->Desc);
  DML_OPERATOR_DESC fused{DML_OPERATOR_ACTIVATION_RELU, &relu};
  auto copy = add;
  copy.FusedActivation = &fused;
  const DML_OPERATOR_DESC desc{DML_OPERATOR_ELEMENT_WISE_ADD1, &copy};
  CHECK(Operation::parse(desc));
  relu.InputTensor = add.ATensor;
  CHECK(Operation::parse(desc).error().text ==
        "FusedActivation.InputTensor is a tensor, expected null in a fused activation.");
  fused = {DML_OPERATOR_ELEMENT_WISE_EXP, &relu};
  CHECK(Operation::parse(desc).error().text ==
        "FusedActivation has Type (DML_OPERATOR_ELEMENT_WISE_EXP), expected an activation that can be fused.");
  fused = {DML_OPERATOR_ACTIVATION_RELU, nullptr};
  CHECK(Operation::parse(desc).error().text == "FusedActivation has a null Desc.");
}

TEST_CASE("SLICE") {
  const auto slice = [](std::string_view rest) { return refusal("SLICE InputTensor=f32[8] " + std::string(rest)); };
  CHECK(slice("OutputTensor=f32[4] Offsets=[1] Sizes=[4] Strides=[2]").empty());
  CHECK(slice("OutputTensor=f32[4] Offsets=[2] Sizes=[4] Strides=[2]") ==
        "Offsets[0] (2), Sizes[0] (4) and Strides[0] (2) reach element 8, outside InputTensor's 8.");
  CHECK(slice("OutputTensor=f32[3] Offsets=[0] Sizes=[4] Strides=[1]") ==
        "OutputTensor has Sizes ({3}), expected {4}.");
  CHECK(slice("OutputTensor=f32[1] Offsets=[0] Sizes=[1] Strides=[0]") ==
        "Strides[0] has value (0), expected at least 1.");
  CHECK(slice("OutputTensor=f32[1] Offsets=[7] Sizes=[1] Strides=[4294967295]").empty());
  CHECK_FALSE(slice("OutputTensor=f32[2] Offsets=[4294967295] Sizes=[2] Strides=[4294967295]").empty());
  CHECK(slice("OutputTensor=f32[4] Offsets=[0,0] Sizes=[4,1] Strides=[1,1]") ==
        "DimensionCount has value (2), expected that of InputTensor (1).");
}

TEST_CASE("SLICE1") {
  const auto slice = [](std::string_view rest) { return refusal("SLICE1 InputTensor=f32[8] " + std::string(rest)); };
  CHECK(slice("OutputTensor=f32[3] InputWindowOffsets=[1] InputWindowSizes=[6] InputWindowStrides=[-2]").empty());
  CHECK(slice("OutputTensor=f32[2] InputWindowOffsets=[1] InputWindowSizes=[6] InputWindowStrides=[-2]").empty());
  CHECK(slice("OutputTensor=f32[4] InputWindowOffsets=[1] InputWindowSizes=[6] InputWindowStrides=[-2]") ==
        "OutputTensor has Sizes[0] (4), expected at most 3, the elements that the window's stride reaches.");
  CHECK(slice("OutputTensor=f32[1] InputWindowOffsets=[3] InputWindowSizes=[6] InputWindowStrides=[1]") ==
        "InputWindowOffsets[0] (3) and InputWindowSizes[0] (6) reach 9, outside InputTensor's 8.");
  CHECK(slice("OutputTensor=f32[1] InputWindowOffsets=[0] InputWindowSizes=[8] InputWindowStrides=[0]") ==
        "InputWindowStrides[0] has value (0), expected a positive or negative stride.");
  CHECK(slice("OutputTensor=f32[1] InputWindowOffsets=[0] InputWindowSizes=[0] InputWindowStrides=[1]") ==
        "InputWindowSizes[0] has value (0), expected at least 1.");
  CHECK(slice("OutputTensor=f32[1] InputWindowOffsets=[2] InputWindowSizes=[1] InputWindowStrides=[-2147483648]")
            .empty());
}

TEST_CASE("JOIN") {
  CHECK(refusal("JOIN InputTensors=(f32[2,3],f32[4,3]) OutputTensor=f32[6,3] Axis=0").empty());
  CHECK(refusal("JOIN InputTensors=(f32[2,3]) OutputTensor=f32[2,3] Axis=1").empty());
  CHECK(refusal("JOIN InputTensors=(f32[2,3],f32[4,3]) OutputTensor=f32[7,3] Axis=0") ==
        "OutputTensor has Sizes[0] (7), expected 6, the sum of those of InputTensors.");
  CHECK(refusal("JOIN InputTensors=(f32[2,3],f32[4,2]) OutputTensor=f32[6,3] Axis=0") ==
        "InputTensors[1] has Sizes ({4, 2}), expected {4, 3}.");
  CHECK(refusal("JOIN InputTensors=(f32[2,3],f16[4,3]) OutputTensor=f32[6,3] Axis=0") ==
        "InputTensors[1] has DataType (FLOAT16), expected that of InputTensors (FLOAT32).");
  CHECK(refusal("JOIN InputTensors=(f32[2,3]) OutputTensor=f32[2,3] Axis=2") ==
        "Axis has value (2), expected at most 1.");
  CHECK(refusal("JOIN OutputTensor=f32[2,3] Axis=0") == "InputCount has value (0), expected at least 1.");
}

TEST_CASE("REDUCE, ARGMIN and ARGMAX") {
  const auto reduce = [](std::string_view rest) { return refusal("REDUCE " + std::string(rest)); };
  CHECK(reduce("Function=SUM InputTensor=f32[2,3] OutputTensor=f32[2,1] Axes=[1]").empty());
  CHECK(reduce("Function=SUM InputTensor=f32[2,3] OutputTensor=f32[2,1] Axes=[1,1,1]").empty());
  CHECK(reduce("Function=SUM InputTensor=f32[2,3] OutputTensor=f32[2,3]").empty());
  CHECK(reduce("Function=SUM InputTensor=f32[2,3] OutputTensor=f32[2,3] Axes=[1]") ==
        "OutputTensor has Sizes[1] (3), expected 1, since Axes has that dimension.");
  CHECK(reduce("Function=SUM InputTensor=f32[2,3] OutputTensor=f32[1,1] Axes=[1]") ==
        "OutputTensor has Sizes[0] (1), expected 2, that of InputTensor.");
  CHECK(reduce("Function=SUM InputTensor=f32[2,3] OutputTensor=f32[2,1] Axes=[2]") ==
        "Axes[0] has value (2), expected at most 1.");
  CHECK(reduce("Function=AVERAGE InputTensor=i32[2,3] OutputTensor=i32[2,1] Axes=[1]") ==
        "InputTensor has DataType (INT32), which Function AVERAGE does not take.");
  CHECK(reduce("Function=MAX InputTensor=i8[2,3] OutputTensor=i8[2,1] Axes=[1]").empty());
  CHECK_FALSE(reduce("Function=SUM InputTensor=i8[2,3] OutputTensor=i8[2,1] Axes=[1]").empty());
  CHECK(reduce("Function=ARGMAX InputTensor=f16[2,3] OutputTensor=i64[2,1] Axes=[1]").empty());
  CHECK(reduce("Function=SUM InputTensor=f32[2,3] OutputTensor=f16[2,1] Axes=[1]") ==
        "OutputTensor has DataType (FLOAT16), expected FLOAT32.");
  CHECK(reduce("Function=12 InputTensor=f32[2,3] OutputTensor=f32[2,1] Axes=[1]") ==
        "Function has value (12), expected one of DML_REDUCE_FUNCTION_* (0..11).");
  CHECK(refusal("ARGMIN InputTensor=f32[2,3] OutputTensor=u32[2,1] Axes=[1] AxisDirection=2") ==
        "AxisDirection has value (2), expected one of DML_AXIS_DIRECTION_* (0..1).");
  CHECK(refusal("ARGMAX InputTensor=f32[2,3] OutputTensor=f32[2,1] Axes=[1]") ==
        "OutputTensor has DataType (FLOAT32), expected one of UINT32, INT32, UINT64, INT64.");
}

TEST_CASE("GATHER") {
  const auto gather = [](std::string_view rest) { return refusal("GATHER " + std::string(rest)); };
  CHECK(gather("InputTensor=f32[1,2,3] IndicesTensor=u32[1,2,2] OutputTensor=f32[2,2,3] Axis=1 IndexDimensions=2")
            .empty());
  CHECK(gather("InputTensor=f32[1,1,2,3] IndicesTensor=u32[1,1,2,2] OutputTensor=f32[1,2,2,3] Axis=2 IndexDimensions=2")
            .empty());
  CHECK(gather(
            "InputTensor=f32[1,1,2,3] IndicesTensor=u32[1,1,2,2] OutputTensor=f32[2,2,1,3] Axis=2 IndexDimensions=2") ==
        "OutputTensor has Sizes ({2, 2, 1, 3}), expected {1, 2, 2, 3}.");
  CHECK(gather("InputTensor=f32[1,1,4,3] IndicesTensor=i64[1,1,1,1] OutputTensor=f32[1,1,1,3] Axis=2 IndexDimensions=0")
            .empty());
  CHECK(gather("InputTensor=f32[4] IndicesTensor=u32[2] OutputTensor=f32[2] Axis=1 IndexDimensions=1") ==
        "Axis has value (1), expected at most 0.");
  CHECK(gather("InputTensor=f32[4] IndicesTensor=u32[2] OutputTensor=f32[2] Axis=0 IndexDimensions=2") ==
        "IndexDimensions has value (2), expected at most 1.");
  CHECK(gather("InputTensor=f32[4] IndicesTensor=i16[2] OutputTensor=f32[2] Axis=0 IndexDimensions=1") ==
        "IndicesTensor has DataType (INT16), expected one of UINT32, INT32, UINT64, INT64.");
}

TEST_CASE("SCATTER_ND") {
  const auto scatter = [](std::string_view rest) { return refusal("SCATTER_ND " + std::string(rest)); };
  CHECK(scatter("InputTensor=f32[8] IndicesTensor=u32[4,1] UpdatesTensor=f32[4] OutputTensor=f32[8] "
                "InputDimensionCount=1 IndicesDimensionCount=2")
            .empty());
  CHECK(scatter("InputTensor=f32[1,1,4,2] IndicesTensor=u32[1,2,2,1] UpdatesTensor=f32[1,2,2,2] "
                "OutputTensor=f32[1,1,4,2] InputDimensionCount=2 IndicesDimensionCount=3")
            .empty());
  CHECK(scatter("InputTensor=f32[2,8] IndicesTensor=u32[4,1] UpdatesTensor=f32[4] OutputTensor=f32[2,8] "
                "InputDimensionCount=1 IndicesDimensionCount=2") ==
        "InputTensor has Sizes[0] (2), expected 1 before its last 1 dimensions (InputDimensionCount).");
  CHECK(scatter("InputTensor=f32[8] IndicesTensor=u32[4,2] UpdatesTensor=f32[4] OutputTensor=f32[8] "
                "InputDimensionCount=1 IndicesDimensionCount=2") ==
        "IndicesTensor has Sizes[1] (2), expected at most 1 coordinates (InputDimensionCount).");
  CHECK(scatter("InputTensor=f32[8] IndicesTensor=u32[4,1] UpdatesTensor=f32[5] OutputTensor=f32[8] "
                "InputDimensionCount=1 IndicesDimensionCount=2") == "UpdatesTensor has Sizes ({5}), expected {4}.");
  CHECK(scatter("InputTensor=f32[8] IndicesTensor=u32[4,1] UpdatesTensor=f32[4] OutputTensor=f32[8] "
                "InputDimensionCount=2 IndicesDimensionCount=2") ==
        "InputDimensionCount has value (2), outside 1..1, the DimensionCount of InputTensor.");
}

TEST_CASE("FILL_VALUE_CONSTANT") {
  CHECK(refusal("FILL_VALUE_CONSTANT OutputTensor=u8[3] ValueDataType=UINT8 Value=17").empty());
  CHECK(refusal("FILL_VALUE_CONSTANT OutputTensor=u8[3] ValueDataType=INT8 Value=17") ==
        "ValueDataType has value (INT8), expected that of OutputTensor (UINT8).");
}

TEST_CASE("a deep copy outlives its source and says the same") {
  constexpr std::string_view kLines[] = {
      "ELEMENT_WISE_ADD1 ATensor=f32[2,3]{0,1}%64 BTensor=f32[2,3]! OutputTensor=f32[2,3]@40 FusedActivation=RELU",
      "JOIN InputTensors=(f32[2,3],f32[4,3]) OutputTensor=f32[6,3] Axis=0",
      "ELEMENT_WISE_CLIP InputTensor=f16[5] OutputTensor=f16[5] ScaleBias=[0.1,-3] Min=-1.5 Max=inf",
      "SLICE1 InputTensor=f32[8] OutputTensor=f32[3] InputWindowOffsets=[1] InputWindowSizes=[6] "
      "InputWindowStrides=[-2]",
      "FILL_VALUE_CONSTANT OutputTensor=i64[2] ValueDataType=INT64 Value=-5000000000",
  };
  for (const auto line : kLines) {
    auto parsed = parseCase(line);
    REQUIRE(parsed);
    const std::string before = formatCase(parsed->desc.desc());
    const auto op = Operation::parse(parsed->desc.desc());
    REQUIRE(op);
    parsed = Error{};  // frees the source
    CHECK(testing::lineOf(*op) == before);
  }
}

TEST_CASE("an array is read only if its length is one that it can have") {
  auto parsed = parseCase("REDUCE Function=SUM InputTensor=f32[4,4] OutputTensor=f32[4,1] Axes=[1]");
  REQUIRE(parsed);
  auto desc = *static_cast<const DML_REDUCE_OPERATOR_DESC*>(parsed->desc.desc().Desc);
  desc.AxisCount = 0xffffffff;
  const auto op = Operation::parse({DML_OPERATOR_REDUCE, &desc});
  REQUIRE_FALSE(op);
  CHECK(op.error().text == "AxisCount has value (4294967295), expected at most 64.");
  // The same of an activation that is fused.
  auto product = parseCase(
      "GEMM ATensor=f32[4,4] BTensor=f32[4,4] OutputTensor=f32[4,4] Alpha=1 FusedActivation=SOFTMAX1(Axes=[1])");
  REQUIRE(product);
  auto gemm = *static_cast<const DML_GEMM_OPERATOR_DESC*>(product->desc.desc().Desc);
  auto softmax = *static_cast<const DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC*>(gemm.FusedActivation->Desc);
  softmax.AxisCount = 65;
  const DML_OPERATOR_DESC fused{DML_OPERATOR_ACTIVATION_SOFTMAX1, &softmax};
  gemm.FusedActivation = &fused;
  const auto refused = Operation::parse({DML_OPERATOR_GEMM, &gemm});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text == "AxisCount has value (65), expected at most 64.");
}
