// The enumerations of DirectML.h that attributes use.
#include <array>

#include "core/schema/op_schema.h"

namespace dimple {
namespace {

constexpr std::array<std::string_view, 14> kTensorDataTypeNames{"UNKNOWN", "FLOAT32", "FLOAT16", "UINT32", "UINT16",
                                                                "UINT8",   "INT32",   "INT16",   "INT8",   "FLOAT64",
                                                                "UINT64",  "INT64",   "UINT4",   "INT4"};
constexpr std::array<std::string_view, 12> kReduceFunctionNames{
    "ARGMAX", "ARGMIN", "AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN", "MULTIPLY", "SUM", "SUM_SQUARE"};
constexpr std::array<std::string_view, 2> kAxisDirectionNames{"INCREASING", "DECREASING"};
constexpr std::array<std::string_view, 2> kMatrixTransformNames{"NONE", "TRANSPOSE"};
constexpr std::array<std::string_view, 2> kConvolutionModeNames{"CONVOLUTION", "CROSS_CORRELATION"};
constexpr std::array<std::string_view, 2> kConvolutionDirectionNames{"FORWARD", "BACKWARD"};
constexpr std::array<std::string_view, 5> kPaddingModeNames{"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"};
constexpr std::array<std::string_view, 2> kInterpolationModeNames{"NEAREST_NEIGHBOR", "LINEAR"};
constexpr std::array<std::string_view, 3> kRecurrentNetworkDirectionNames{"FORWARD", "BACKWARD", "BIDIRECTIONAL"};
constexpr std::array<std::string_view, 3> kRoundingModeNames{"HALVES_TO_NEAREST_EVEN", "TOWARD_ZERO",
                                                             "TOWARD_INFINITY"};
constexpr std::array<std::string_view, 3> kIsInfinityModeNames{"EITHER", "POSITIVE", "NEGATIVE"};
constexpr std::array<std::string_view, 2> kDepthSpaceOrderNames{"DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"};
constexpr std::array<std::string_view, 1> kRandomGeneratorTypeNames{"PHILOX_4X32_10"};
constexpr std::array<std::string_view, 5> kMultiheadAttentionMaskTypeNames{
    "NONE", "KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START", "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN"};
constexpr std::array<std::string_view, 3> kQuantizationTypeNames{"NONE", "SCALE", "SCALE_ZERO_POINT"};

}  // namespace

const EnumTable kTensorDataTypes{"DML_TENSOR_DATA_TYPE_", kTensorDataTypeNames};
const EnumTable kReduceFunctions{"DML_REDUCE_FUNCTION_", kReduceFunctionNames};
const EnumTable kAxisDirections{"DML_AXIS_DIRECTION_", kAxisDirectionNames};
const EnumTable kMatrixTransforms{"DML_MATRIX_TRANSFORM_", kMatrixTransformNames};
const EnumTable kConvolutionModes{"DML_CONVOLUTION_MODE_", kConvolutionModeNames};
const EnumTable kConvolutionDirections{"DML_CONVOLUTION_DIRECTION_", kConvolutionDirectionNames};
const EnumTable kPaddingModes{"DML_PADDING_MODE_", kPaddingModeNames};
const EnumTable kInterpolationModes{"DML_INTERPOLATION_MODE_", kInterpolationModeNames};
const EnumTable kRecurrentNetworkDirections{"DML_RECURRENT_NETWORK_DIRECTION_", kRecurrentNetworkDirectionNames};
const EnumTable kRoundingModes{"DML_ROUNDING_MODE_", kRoundingModeNames};
const EnumTable kIsInfinityModes{"DML_IS_INFINITY_MODE_", kIsInfinityModeNames};
const EnumTable kDepthSpaceOrders{"DML_DEPTH_SPACE_ORDER_", kDepthSpaceOrderNames};
const EnumTable kRandomGeneratorTypes{"DML_RANDOM_GENERATOR_TYPE_", kRandomGeneratorTypeNames};
const EnumTable kMultiheadAttentionMaskTypes{"DML_MULTIHEAD_ATTENTION_MASK_TYPE_", kMultiheadAttentionMaskTypeNames};
const EnumTable kQuantizationTypes{"DML_QUANTIZATION_TYPE_", kQuantizationTypeNames};

}  // namespace dimple
