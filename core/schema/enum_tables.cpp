// The enumerations of DirectML.h that attributes use.
#include "core/schema/op_schema.h"

namespace dimple {

const EnumTable kTensorDataTypes{"DML_TENSOR_DATA_TYPE_",
                                 {"UNKNOWN", "FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16",
                                  "INT8", "FLOAT64", "UINT64", "INT64", "UINT4", "INT4"}};
const EnumTable kReduceFunctions{"DML_REDUCE_FUNCTION_",
                                 {"ARGMAX", "ARGMIN", "AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP", "MAX", "MIN",
                                  "MULTIPLY", "SUM", "SUM_SQUARE"}};
const EnumTable kAxisDirections{"DML_AXIS_DIRECTION_", {"INCREASING", "DECREASING"}};
const EnumTable kMatrixTransforms{"DML_MATRIX_TRANSFORM_", {"NONE", "TRANSPOSE"}};
const EnumTable kConvolutionModes{"DML_CONVOLUTION_MODE_", {"CONVOLUTION", "CROSS_CORRELATION"}};
const EnumTable kConvolutionDirections{"DML_CONVOLUTION_DIRECTION_", {"FORWARD", "BACKWARD"}};
const EnumTable kPaddingModes{"DML_PADDING_MODE_", {"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"}};
const EnumTable kInterpolationModes{"DML_INTERPOLATION_MODE_", {"NEAREST_NEIGHBOR", "LINEAR"}};
const EnumTable kRecurrentNetworkDirections{"DML_RECURRENT_NETWORK_DIRECTION_",
                                            {"FORWARD", "BACKWARD", "BIDIRECTIONAL"}};
const EnumTable kRoundingModes{"DML_ROUNDING_MODE_", {"HALVES_TO_NEAREST_EVEN", "TOWARD_ZERO", "TOWARD_INFINITY"}};
const EnumTable kIsInfinityModes{"DML_IS_INFINITY_MODE_", {"EITHER", "POSITIVE", "NEGATIVE"}};
const EnumTable kDepthSpaceOrders{"DML_DEPTH_SPACE_ORDER_", {"DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"}};
const EnumTable kRandomGeneratorTypes{"DML_RANDOM_GENERATOR_TYPE_", {"PHILOX_4X32_10"}};
const EnumTable kMultiheadAttentionMaskTypes{
    "DML_MULTIHEAD_ATTENTION_MASK_TYPE_",
    {"NONE", "KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START", "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN"}};
const EnumTable kQuantizationTypes{"DML_QUANTIZATION_TYPE_", {"NONE", "SCALE", "SCALE_ZERO_POINT"}};

}  // namespace dimple
