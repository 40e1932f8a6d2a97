// The table of dimple bench --all; roofline_table.h has its notation.
#include "clients/dimple/roofline_table.h"

namespace dimple::tool {
namespace {

constexpr std::string_view kUnary = R"(
ELEMENT_WISE_IDENTITY : f32 f16 i32 u8 i64 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ELEMENT_WISE_IDENTITY : f32 f16 u8 : R=16384/16 : InputTensor=$T[$R,4096]{1,$R} OutputTensor=$T[$R,4096] note=transposed
ELEMENT_WISE_IDENTITY : f32 f16 : R=16384 : InputTensor=$T[$R,4096]{4112,1} OutputTensor=$T[$R,4096]{4112,1} note=padded
ELEMENT_WISE_IDENTITY : f32 f16 : R=16384 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] ScaleBias=[2,1] note=scaled
ELEMENT_WISE_IDENTITY : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56]{200704,1,3584,64} OutputTensor=$T[$R,64,56,56] note=from_channels_last
ACTIVATION_IDENTITY ACTIVATION_RELU ACTIVATION_SIGMOID ACTIVATION_SOFTSIGN ACTIVATION_TANH ACTIVATION_GELU : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ACTIVATION_RELU ACTIVATION_GELU : f32 f16 : R=16384 : InputTensor=$T[$R,4096]{4112,1} OutputTensor=$T[$R,4096]{4112,1} note=padded
ACTIVATION_ELU ACTIVATION_LEAKY_RELU ACTIVATION_THRESHOLDED_RELU ACTIVATION_CELU : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Alpha=0.5
ACTIVATION_HARD_SIGMOID ACTIVATION_LINEAR ACTIVATION_PARAMETRIC_SOFTPLUS ACTIVATION_SCALED_TANH ACTIVATION_HARD_SWISH : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Alpha=0.5 Beta=0.25
ACTIVATION_SCALED_ELU : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Alpha=1.673 Gamma=1.05
ACTIVATION_SOFTPLUS : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Steepness=1
ACTIVATION_SHRINK : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Bias=0.25 Threshold=0.5
ACTIVATION_SWISH : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] SigmoidInputScale=1
ACTIVATION_PARAMETERIZED_RELU : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] SlopeTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ACTIVATION_PARAMETERIZED_RELU : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] SlopeTensor=$T[$R,64,56,56]{0,1,0,0} OutputTensor=$T[$R,64,56,56] note=slopes_of_channels
ACTIVATION_RELU_GRAD : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] InputGradientTensor=$T[$R,4096] OutputGradientTensor=$T[$R,4096]
ELEMENT_WISE_ABS ELEMENT_WISE_CEIL ELEMENT_WISE_FLOOR ELEMENT_WISE_SIN ELEMENT_WISE_COS ELEMENT_WISE_EXP ELEMENT_WISE_ACOS ELEMENT_WISE_ASIN ELEMENT_WISE_ATAN ELEMENT_WISE_TAN ELEMENT_WISE_SIGN ELEMENT_WISE_ERF ELEMENT_WISE_SINH ELEMENT_WISE_COSH ELEMENT_WISE_TANH ELEMENT_WISE_ASINH ELEMENT_WISE_NEGATE : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ELEMENT_WISE_EXP : f32 f16 : R=16384 : InputTensor=$T[$R,4096]{4112,1} OutputTensor=$T[$R,4096]{4112,1} note=padded
ELEMENT_WISE_ABS : f32 f16 : R=16384 : InputTensor=$T[$R,4096]{1,$R} OutputTensor=$T[$R,4096] note=transposed
ELEMENT_WISE_ATANH : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in0=-0.9:0.9
ELEMENT_WISE_LOG ELEMENT_WISE_RECIP ELEMENT_WISE_SQRT : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in0=0.25:4
ELEMENT_WISE_ACOSH : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in0=1:4
ELEMENT_WISE_CLIP : f32 f16 u8 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Min=0 Max=0.5
ELEMENT_WISE_CLIP1 : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] MinMaxDataType=$D Min=-0.5 Max=0.5
ELEMENT_WISE_CONSTANT_POW : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Exponent=1.5 in0=0.25:4
ELEMENT_WISE_THRESHOLD : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Min=0.25
ELEMENT_WISE_ROUND : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] RoundingMode=HALVES_TO_NEAREST_EVEN in0=-100:100
ELEMENT_WISE_IS_NAN : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=u8[$R,4096]
ELEMENT_WISE_IS_INFINITY : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=u8[$R,4096] InfinityMode=EITHER
ELEMENT_WISE_LOGICAL_NOT : u8 u32 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in0=0:1
ELEMENT_WISE_BIT_NOT : u32 u8 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ELEMENT_WISE_BIT_COUNT : u32 u8 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=u8[$R,4096]
CAST : f32 i32 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=f16[$R,4096] note=to_f16
CAST : f16 i32 u8 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=f32[$R,4096] note=to_f32
CAST : f32 i64 : R=16384 : InputTensor=$T[$R,4096] OutputTensor=i32[$R,4096] note=to_i32
CAST : f32 f16 : R=16384 : InputTensor=$T[$R,4096] OutputTensor=u8[$R,4096] note=to_u8 in0=0:255
CAST : f32 : R=16384 : InputTensor=$T[$R,4096]{1,$R} OutputTensor=f16[$R,4096] note=to_f16,transposed
)";

constexpr std::string_view kBinary = R"(
ELEMENT_WISE_ADD ELEMENT_WISE_SUBTRACT ELEMENT_WISE_MULTIPLY ELEMENT_WISE_MAX ELEMENT_WISE_MIN ELEMENT_WISE_MEAN ELEMENT_WISE_ATAN_YX ELEMENT_WISE_DIFFERENCE_SQUARE : f32 f16 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ELEMENT_WISE_ADD : f32 f16 i32 u8 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096]{0,1} OutputTensor=$T[$R,4096] note=B_one_row
ELEMENT_WISE_ADD ELEMENT_WISE_MULTIPLY : f32 f16 : R=16384 : ATensor=$T[$R,4096] BTensor=$T[$R,4096]{1,0} OutputTensor=$T[$R,4096] note=B_one_column
ELEMENT_WISE_ADD : f32 f16 : R=16384 : ATensor=$T[$R,4096] BTensor=$T[$R,4096]{0,0} OutputTensor=$T[$R,4096] note=B_one_element
ELEMENT_WISE_ADD : f32 f16 : R=16384 : ATensor=$T[$R,4096]{4112,1} BTensor=$T[$R,4096]{4112,1} OutputTensor=$T[$R,4096]{4112,1} note=padded
ELEMENT_WISE_ADD : f32 f16 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096]{1,$R} OutputTensor=$T[$R,4096] note=B_transposed
ELEMENT_WISE_ADD ELEMENT_WISE_MULTIPLY : f32 f16 : R=320/1 : ATensor=$T[$R,64,56,56] BTensor=$T[$R,64,56,56]{0,1,0,0} OutputTensor=$T[$R,64,56,56] note=B_of_channels
ELEMENT_WISE_DIVIDE ELEMENT_WISE_MODULUS_TRUNCATE ELEMENT_WISE_MODULUS_FLOOR : f32 f16 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in1=0.25:4
ELEMENT_WISE_DIVIDE ELEMENT_WISE_MODULUS_FLOOR : i32 u8 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in1=1:100
ELEMENT_WISE_DIVIDE : f32 : R=16384 : ATensor=$T[$R,4096] BTensor=$T[$R,4096]{1,0} OutputTensor=$T[$R,4096] note=B_one_column in1=0.25:4
ELEMENT_WISE_POW : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] ExponentTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in0=0.25:4 in1=-2:2
ELEMENT_WISE_POW : f32 f16 : R=16384 : InputTensor=$T[$R,4096] ExponentTensor=$T[$R,4096]{0,0} OutputTensor=$T[$R,4096] note=one_exponent in0=0.25:4 in1=1.5:1.5
ELEMENT_WISE_ADD1 : f32 f16 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096] FusedActivation=RELU
ELEMENT_WISE_ADD1 : f32 f16 : R=16384 : ATensor=$T[$R,4096] BTensor=$T[$R,4096]{0,1} OutputTensor=$T[$R,4096] FusedActivation=RELU note=B_one_row
ELEMENT_WISE_LOGICAL_AND ELEMENT_WISE_LOGICAL_OR ELEMENT_WISE_LOGICAL_XOR : u8 u32 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in0=0:1 in1=0:1
ELEMENT_WISE_LOGICAL_EQUALS ELEMENT_WISE_LOGICAL_GREATER_THAN ELEMENT_WISE_LOGICAL_LESS_THAN ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL : f32 f16 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=u8[$R,4096]
ELEMENT_WISE_LOGICAL_LESS_THAN : f32 f16 : R=16384 : ATensor=$T[$R,4096] BTensor=$T[$R,4096]{0,0} OutputTensor=u8[$R,4096] note=B_one_element
ELEMENT_WISE_BIT_AND ELEMENT_WISE_BIT_OR ELEMENT_WISE_BIT_XOR : u32 u8 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ELEMENT_WISE_BIT_SHIFT_LEFT ELEMENT_WISE_BIT_SHIFT_RIGHT : u32 u8 : R=16384/16 : ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in1=0:7
ELEMENT_WISE_CLIP_GRAD : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] InputGradientTensor=$T[$R,4096] OutputGradientTensor=$T[$R,4096] Min=-0.5 Max=0.5
ELEMENT_WISE_CLIP_GRAD1 : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] InputGradientTensor=$T[$R,4096] OutputGradientTensor=$T[$R,4096] MinMaxDataType=$D Min=-0.5 Max=0.5
ELEMENT_WISE_IF : f32 f16 u8 : R=16384/16 : ConditionTensor=u8[$R,4096] ATensor=$T[$R,4096] BTensor=$T[$R,4096] OutputTensor=$T[$R,4096] in0=0:1
ELEMENT_WISE_IF : f32 f16 : R=16384 : ConditionTensor=u8[$R,4096]{0,1} ATensor=$T[$R,4096] BTensor=$T[$R,4096]{0,0} OutputTensor=$T[$R,4096] in0=0:1 note=one_row,B_one_element
ELEMENT_WISE_QUANTIZE_LINEAR : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] ScaleTensor=$T[$R,4096]{0,0} ZeroPointTensor=u8[$R,4096]{0,0} OutputTensor=u8[$R,4096] in1=0.01:0.02
ELEMENT_WISE_QUANTIZE_LINEAR : f32 f16 : R=16384 : InputTensor=$T[$R,4096] ScaleTensor=$T[$R,4096]{0,1} ZeroPointTensor=i8[$R,4096]{0,1} OutputTensor=i8[$R,4096] in1=0.01:0.02 note=scales_of_columns
ELEMENT_WISE_DEQUANTIZE_LINEAR : u8 i8 : R=8192/16 : InputTensor=$T[$R,4096] ScaleTensor=f32[$R,4096]{0,0} ZeroPointTensor=$T[$R,4096]{0,0} OutputTensor=f32[$R,4096] in1=0.01:0.02
ELEMENT_WISE_DEQUANTIZE_LINEAR : u8 : R=8192/16 : InputTensor=$T[$R,4096] ScaleTensor=f16[$R,4096]{0,1} ZeroPointTensor=$T[$R,4096]{0,1} OutputTensor=f16[$R,4096] in1=0.01:0.02 note=to_f16,scales_of_columns
ELEMENT_WISE_QUANTIZED_LINEAR_ADD : u8 : R=16384/16 : ATensor=$T[$R,4096] AScaleTensor=f32[1,1] AZeroPointTensor=$T[1,1] BTensor=$T[$R,4096] BScaleTensor=f32[1,1] BZeroPointTensor=$T[1,1] OutputScaleTensor=f32[1,1] OutputZeroPointTensor=$T[1,1] OutputTensor=$T[$R,4096] in1=0.01:0.02 in4=0.01:0.02 in6=0.02:0.04
DYNAMIC_QUANTIZE_LINEAR : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=u8[$R,4096] OutputScaleTensor=f32[1,1] OutputZeroPointTensor=u8[1,1] bytes=$(R*4096*(2*W+1))
QUANTIZE : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] QuantizationType=SCALE_ZERO_POINT QuantizationTensors=($T[$R,32],u8[$R,32]) OutputTensor=u8[$R,4096] in1=0.01:0.02
DEQUANTIZE : u8 u4 : R=8192/16 : InputTensor=$T[$R,4096] QuantizationType=SCALE_ZERO_POINT QuantizationTensors=(f16[$R,32],$T[$R,32]) OutputTensor=f16[$R,4096] in1=0.01:0.02
ADAM_OPTIMIZER : f32 f16 : R=8192/16 : InputParametersTensor=$T[$R,4096] InputFirstMomentTensor=$T[$R,4096] InputSecondMomentTensor=$T[$R,4096] GradientTensor=$T[$R,4096] TrainingStepTensor=u32[1] OutputParametersTensor=$T[$R,4096] OutputFirstMomentTensor=$T[$R,4096] OutputSecondMomentTensor=$T[$R,4096] LearningRate=0.001 Beta1=0.9 Beta2=0.999 Epsilon=0.00001 in2=0:1 in4=1:10
)";

constexpr std::string_view kProducts = R"(
GEMM : f32 f16 : M=4096/256 : ATensor=$T[1,1,$M,$M] BTensor=$T[1,1,$M,$M] OutputTensor=$T[1,1,$M,$M] Alpha=1 ops=$(2*M*M*M)
GEMM : f32 f16 : M=4096/256 : ATensor=$T[1,1,$M,$M] BTensor=$T[1,1,$M,$M] TransB=TRANSPOSE OutputTensor=$T[1,1,$M,$M] Alpha=1 ops=$(2*M*M*M) note=TransB
GEMM : f32 f16 : N=11008/512 M=4096/512 : ATensor=$T[1,1,8,$M] BTensor=$T[1,1,$M,$N] OutputTensor=$T[1,1,8,$N] Alpha=1 ops=$(16*M*N) note=few_rows
GEMM : f32 f16 : N=11008/512 M=4096/512 : ATensor=$T[1,1,1,$M] BTensor=$T[1,1,$N,$M] TransB=TRANSPOSE OutputTensor=$T[1,1,1,$N] Alpha=1 ops=$(2*M*N) note=one_row,TransB
MATRIX_MULTIPLY_INTEGER : u8 i8 : M=4096/256 : ATensor=$T[1,1,$M,$M] AZeroPointTensor=$T[1,1,1,1] BTensor=$T[1,1,$M,$M] BZeroPointTensor=$T[1,1,1,1] OutputTensor=i32[1,1,$M,$M] ops=$(2*M*M*M)
QUANTIZED_LINEAR_MATRIX_MULTIPLY : u8 : M=4096/256 : ATensor=$T[1,1,$M,$M] AScaleTensor=f32[1,1,1,1] AZeroPointTensor=$T[1,1,1,1] BTensor=$T[1,1,$M,$M] BScaleTensor=f32[1,1,1,1] BZeroPointTensor=$T[1,1,1,1] OutputScaleTensor=f32[1,1,1,1] OutputZeroPointTensor=$T[1,1,1,1] OutputTensor=$T[1,1,$M,$M] in1=0.01:0.02 in4=0.01:0.02 in6=0.1:0.2 ops=$(2*M*M*M)
MATRIX_MULTIPLY_INTEGER_TO_FLOAT : u8 i8 : M=4096/256 : ATensor=$T[1,1,$M,$M] AScaleTensor=f32[1,1,1,1] AZeroPointTensor=$T[1,1,1,1] BTensor=$T[1,1,$M,$M] BScaleTensor=f32[1,1,1,1] BZeroPointTensor=$T[1,1,1,1] OutputTensor=f32[1,1,$M,$M] in1=0.01:0.02 in4=0.01:0.02 ops=$(2*M*M*M)
CONVOLUTION : f32 f16 : B=16/1 : InputTensor=$T[$B,64,56,56] FilterTensor=$T[64,64,3,3]! OutputTensor=$T[$B,64,56,56] Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 ops=$(2*B*64*56*56*64*9) note=3x3
CONVOLUTION : f32 f16 : B=16/1 : InputTensor=$T[$B,256,14,14] FilterTensor=$T[256,256,3,3]! OutputTensor=$T[$B,256,14,14] Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 ops=$(2*B*256*14*14*256*9) note=3x3
CONVOLUTION : f32 f16 : B=16/1 : InputTensor=$T[$B,256,56,56] FilterTensor=$T[64,256,1,1]! OutputTensor=$T[$B,64,56,56] Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1 ops=$(2*B*64*56*56*256) note=1x1
CONVOLUTION : f32 f16 : R=160/1 : InputTensor=$T[$R,128,56,56] FilterTensor=$T[128,1,3,3]! OutputTensor=$T[$R,128,56,56] Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=128 note=depthwise
CONVOLUTION : f32 f16 : R=160/1 : InputTensor=$T[$R,128,56,56]{401408,1,7168,128} FilterTensor=$T[128,1,3,3]! OutputTensor=$T[$R,128,56,56]{401408,1,7168,128} Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=128 note=depthwise,channels_last
CONVOLUTION : f32 f16 : B=16/1 : InputTensor=$T[$B,128,28,28] FilterTensor=$T[128,64,4,4]! OutputTensor=$T[$B,64,56,56] Mode=CROSS_CORRELATION Direction=BACKWARD Strides=[2,2] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1 ops=$(2*B*128*28*28*64*16) note=backward
CONVOLUTION_INTEGER : u8 : B=16/1 : InputTensor=$T[$B,256,14,14] InputZeroPointTensor=$T[1,1,1,1] FilterTensor=$T[256,256,3,3]! FilterZeroPointTensor=$T[1,1,1,1] OutputTensor=i32[$B,256,14,14] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] GroupCount=1 ops=$(2*B*256*14*14*256*9)
QUANTIZED_LINEAR_CONVOLUTION : u8 : B=16/1 : InputTensor=$T[$B,256,14,14] InputScaleTensor=f32[1] InputZeroPointTensor=$T[1] FilterTensor=$T[256,256,3,3]! FilterScaleTensor=f32[1] FilterZeroPointTensor=$T[1] OutputScaleTensor=f32[1] OutputZeroPointTensor=$T[1] OutputTensor=$T[$B,256,14,14] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] GroupCount=1 in1=0.01:0.02 in4=0.01:0.02 in7=0.1:0.2 ops=$(2*B*256*14*14*256*9)
MULTIHEAD_ATTENTION : f32 f16 : S=2048/64 : QueryTensor=$T[1,$S,4096] KeyTensor=$T[1,$S,4096] ValueTensor=$T[1,$S,4096] OutputTensor=$T[1,$S,4096] Scale=0.088388 HeadCount=32 ops=$(4*32*S*S*128)
MULTIHEAD_ATTENTION : f32 f16 : S=4096/256 : QueryTensor=$T[1,1,4096] KeyTensor=$T[1,$S,4096] ValueTensor=$T[1,$S,4096] OutputTensor=$T[1,1,4096] Scale=0.088388 HeadCount=32 note=one_query
MULTIHEAD_ATTENTION1 : f32 f16 : S=2048/64 : QueryTensor=$T[1,$S,4096] KeyTensor=$T[1,$S,1024] ValueTensor=$T[1,$S,1024] OutputTensor=$T[1,$S,4096] Scale=0.088388 QueryHeadCount=32 KeyValueHeadCount=8 ops=$(4*32*S*S*128) note=8_heads_of_keys
RNN : f32 f16 : S=128/8 : InputTensor=$T[1,$S,32,512] WeightTensor=$T[1,1,512,512] RecurrenceTensor=$T[1,1,512,512] OutputSequenceTensor=$T[$S,1,32,512] ActivationDescs=(TANH) Direction=FORWARD in1=-0.05:0.05 in2=-0.05:0.05 ops=$(4*S*32*512*512) steps=$S
LSTM : f32 f16 : S=128/8 : InputTensor=$T[1,$S,32,512] WeightTensor=$T[1,1,2048,512] RecurrenceTensor=$T[1,1,2048,512] OutputSequenceTensor=$T[$S,1,32,512] ActivationDescs=(SIGMOID,TANH,TANH) Direction=FORWARD in1=-0.05:0.05 in2=-0.05:0.05 ops=$(4*S*32*2048*512) steps=$S
GRU : f32 f16 : S=128/8 : InputTensor=$T[1,$S,32,512] WeightTensor=$T[1,1,1536,512] RecurrenceTensor=$T[1,1,1536,512] OutputSequenceTensor=$T[$S,1,32,512] ActivationDescs=(SIGMOID,TANH) Direction=FORWARD LinearBeforeReset=1 in1=-0.05:0.05 in2=-0.05:0.05 ops=$(4*S*32*1536*512) steps=$S
)";

constexpr std::string_view kMovement = R"(
DIAGONAL_MATRIX : f32 f16 : R=16384/32 : OutputTensor=$T[1,1,$R,8192] Offset=0 Value=1
DIAGONAL_MATRIX1 : f32 f16 : R=16384/32 : OutputTensor=$T[1,1,$R,8192] ValueDataType=$D Value=1 DiagonalFillBegin=0 DiagonalFillEnd=1
DIAGONAL_MATRIX1 : f32 f16 : R=16384/16 : InputTensor=$T[1,1,$R,4096] OutputTensor=$T[1,1,$R,4096] ValueDataType=$D Value=1 DiagonalFillBegin=0 DiagonalFillEnd=1 note=input
FILL_VALUE_CONSTANT : f32 f16 u8 : R=32768/32 : OutputTensor=$T[$R,4096] ValueDataType=$D Value=1
FILL_VALUE_CONSTANT : f32 f16 : R=32768 : OutputTensor=$T[$R,4096]{4112,1} ValueDataType=$D Value=1 note=padded
FILL_VALUE_SEQUENCE : f32 f16 i32 : R=32768/32 : OutputTensor=$T[$R,4096] ValueDataType=$D ValueStart=1 ValueDelta=2
RANDOM_GENERATOR : u32 : R=32768/32 : InputStateTensor=u32[6] OutputTensor=u32[$R,4096] OutputStateTensor=u32[6] Type=PHILOX_4X32_10 in0=0:100
SLICE : f32 f16 : R=16384/16 : InputTensor=$T[$R,8192] OutputTensor=$T[$R,4096] Offsets=[0,2048] Sizes=[$R,4096] Strides=[1,1] bytes=$(2*R*4096*W)
SLICE : f32 f16 : R=16384 : InputTensor=$T[$R,8192] OutputTensor=$T[$R,4096] Offsets=[0,0] Sizes=[$R,4096] Strides=[1,2] note=every_second
SLICE1 : f32 f16 : R=16384/16 : InputTensor=$T[$R,8192] OutputTensor=$T[$R,4096] InputWindowOffsets=[0,2048] InputWindowSizes=[$R,4096] InputWindowStrides=[1,1] bytes=$(2*R*4096*W)
SLICE1 : f32 f16 : R=16384 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] InputWindowOffsets=[0,0] InputWindowSizes=[$R,4096] InputWindowStrides=[1,-1] note=reversed
SLICE_GRAD : f32 f16 : R=16384/16 : InputGradientTensor=$T[$R,2048] OutputGradientTensor=$T[$R,4096] InputWindowOffsets=[0,1024] InputWindowSizes=[$R,2048] InputWindowStrides=[1,1]
SPLIT : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensors=($T[$R,1024],$T[$R,3072]) Axis=1
SPLIT : f32 f16 : R=16384 : InputTensor=$T[$R,4096] OutputTensors=($T[$R,1000],$T[$R,1049],$T[$R,2047]) Axis=1 note=odd
JOIN : f32 f16 : R=16384/16 : InputTensors=($T[$R,1024],$T[$R,3072]) OutputTensor=$T[$R,4096] Axis=1
JOIN : f32 f16 : R=16384 : InputTensors=($T[$R,1000],$T[$R,1049],$T[$R,2047]) OutputTensor=$T[$R,4096] Axis=1 note=odd
PADDING : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4224] PaddingMode=CONSTANT PaddingValue=0 StartPadding=[0,64] EndPadding=[0,64]
PADDING : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,58,58] PaddingMode=REFLECTION StartPadding=[0,0,1,1] EndPadding=[0,0,1,1] note=reflection
PADDING1 : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,58,58] PaddingMode=CONSTANT PaddingValueDataType=$D PaddingValue=0 StartPadding=[0,0,1,1] EndPadding=[0,0,1,1]
VALUE_SCALE_2D : f32 f16 : R=448/1 : InputTensor=$T[$R,3,224,224] OutputTensor=$T[$R,3,224,224] Scale=2 Bias=[0.1,0.2,0.3]
SPACE_TO_DEPTH : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,256,28,28] BlockSize=2
SPACE_TO_DEPTH1 : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,256,28,28] BlockSize=2 Order=COLUMN_ROW_DEPTH
DEPTH_TO_SPACE : f32 f16 : R=320/1 : InputTensor=$T[$R,256,28,28] OutputTensor=$T[$R,64,56,56] BlockSize=2
DEPTH_TO_SPACE1 : f32 f16 : R=320/1 : InputTensor=$T[$R,256,28,28] OutputTensor=$T[$R,64,56,56] BlockSize=2 Order=COLUMN_ROW_DEPTH
TILE : f32 f16 : R=16384/16 : InputTensor=$T[$R,1024] OutputTensor=$T[$R,4096] Repeats=[1,4]
TILE : f32 f16 : R=8192 : InputTensor=$T[$R,4096] OutputTensor=$T[$(4*R),4096] Repeats=[4,1] note=rows
REVERSE_SUBSEQUENCES : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] SequenceLengthsTensor=u32[$R,1] OutputTensor=$T[$R,4096] Axis=1 in1=1:4096
UNFOLD : f32 f16 : R=256/1 : InputTensor=$T[$R,16,56,56] OutputTensor=$T[$R,144,3136] WindowSizes=[3,3] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1]
FOLD : f32 f16 : R=256/1 : InputTensor=$T[$R,144,3136] OutputTensor=$T[$R,16,56,56] WindowSizes=[3,3] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1]
)";

constexpr std::string_view kIndexing = R"(
GATHER : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] IndicesTensor=u32[1,$R] OutputTensor=$T[$R,4096] Axis=0 IndexDimensions=1 in1=order:$R
GATHER : f32 f16 : R=16384 : InputTensor=$T[$R,4096] IndicesTensor=u32[1,4096] OutputTensor=$T[$R,4096] Axis=1 IndexDimensions=1 in1=order:4096 note=columns
GATHER : f32 f16 : N=33554432/65536 : InputTensor=$T[$N] IndicesTensor=u32[$N] OutputTensor=$T[$N] Axis=0 IndexDimensions=1 in1=order:$N bytes=$(N*(4+32+W)) note=elements
GATHER_ELEMENTS : f32 f16 : R=8192/16 : InputTensor=$T[$R,4096] IndicesTensor=u32[$R,4096] OutputTensor=$T[$R,4096] Axis=1 in1=0:4095
GATHER_ELEMENTS : f32 f16 : R=8192 : InputTensor=$T[$R,4096] IndicesTensor=u32[$R,4096]{1,0} OutputTensor=$T[$R,4096] Axis=0 in1=order:$R note=rows
GATHER_ND : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] IndicesTensor=u32[$R,1] OutputTensor=$T[$R,4096] InputDimensionCount=2 IndicesDimensionCount=2 in1=order:$R
GATHER_ND1 : f32 f16 : R=256/1 : InputTensor=$T[64,$R,4096] IndicesTensor=u32[64,$R,1] OutputTensor=$T[64,$R,4096] InputDimensionCount=3 IndicesDimensionCount=3 BatchDimensionCount=1 in1=order:$R
SCATTER_ELEMENTS : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] IndicesTensor=u32[$R,4096]{1,0} UpdatesTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Axis=0 in1=order:$R passes=1.33 note=rows
SCATTER_ELEMENTS : f32 f16 : R=8192 : InputTensor=$T[$R,4096] IndicesTensor=u32[$R,4096] UpdatesTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Axis=1 in1=order:4096
SCATTER_ND : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] IndicesTensor=u32[$R,1] UpdatesTensor=$T[$R,4096] OutputTensor=$T[$R,4096] InputDimensionCount=2 IndicesDimensionCount=2 in1=order:$R passes=1.33
ONE_HOT : f32 f16 : R=131072/128 : IndicesTensor=u32[$R,1] ValuesTensor=$T[2] OutputTensor=$T[$R,1024] Axis=1 in0=0:1023
NONZERO_COORDINATES : f32 f16 u8 : N=33554432/65536 : InputTensor=$T[$N] OutputCountTensor=u32[1] OutputCoordinatesTensor=u32[$N,1] bytes=$(N*(2*W+4))
REDUCE : f32 f16 i32 : R=32768/32 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,1] Function=SUM Axes=[1] note=SUM_of_rows
REDUCE : f32 f16 : R=32768/32 : InputTensor=$T[$R,4096] OutputTensor=$T[1,4096] Function=SUM Axes=[0] note=SUM_of_columns
REDUCE : f32 f16 : R=32768/32 : InputTensor=$T[$R,4096] OutputTensor=$T[1,1] Function=SUM Axes=[0,1] note=SUM_of_all
REDUCE : f32 f16 : R=640/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,1,1] Function=AVERAGE Axes=[2,3] note=AVERAGE_of_planes
REDUCE : f32 f16 : R=640/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[1,64,1,1] Function=SUM_SQUARE Axes=[0,2,3] note=SUM_SQUARE_of_channels
REDUCE : f32 f16 : R=32768/32 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,1] Function=MAX Axes=[1] note=MAX
REDUCE : f32 f16 : R=32768 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,1] Function=L2 Axes=[1] note=L2
REDUCE : f32 f16 : R=32768 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,1] Function=LOG_SUM_EXP Axes=[1] note=LOG_SUM_EXP
ARGMIN ARGMAX : f32 f16 : R=32768/32 : InputTensor=$T[$R,4096] OutputTensor=u32[$R,1] Axes=[1] AxisDirection=INCREASING
ARGMAX : f32 f16 : R=32768 : InputTensor=$T[$R,4096] OutputTensor=u32[1,4096] Axes=[0] AxisDirection=INCREASING note=columns
CUMULATIVE_SUMMATION : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Axis=1 AxisDirection=INCREASING
CUMULATIVE_PRODUCT : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Axis=1 AxisDirection=INCREASING in0=0.99:1.01
CUMULATIVE_SUMMATION : f32 f16 : R=16384 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Axis=0 AxisDirection=INCREASING passes=1.5 note=columns
CUMULATIVE_SUMMATION : f32 f16 i32 : N=67108864/65536 : InputTensor=$T[1,$N] OutputTensor=$T[1,$N] Axis=1 AxisDirection=INCREASING passes=1.5 note=one_row
TOP_K : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputValueTensor=$T[$R,8] OutputIndexTensor=u32[$R,8] Axis=1 K=8
TOP_K1 : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputValueTensor=$T[$R,8] OutputIndexTensor=u32[$R,8] Axis=1 K=8 AxisDirection=DECREASING
TOP_K1 : f32 f16 : R=2048/16 : InputTensor=$T[$R,4096] OutputValueTensor=$T[$R,4096] OutputIndexTensor=u32[$R,4096] Axis=1 K=4096 AxisDirection=INCREASING note=sort
TOP_K1 : f32 f16 : N=16777216/65536 : InputTensor=$T[1,$N] OutputValueTensor=$T[1,8] OutputIndexTensor=u32[1,8] Axis=1 K=8 AxisDirection=DECREASING note=one_row
TOP_K1 : f32 f16 : N=4194304/16384 : InputTensor=$T[1,$N] OutputValueTensor=$T[1,$N] OutputIndexTensor=u32[1,$N] Axis=1 K=$N AxisDirection=INCREASING passes=5 note=sort_of_one_row
)";

constexpr std::string_view kNormalization = R"(
BATCH_NORMALIZATION : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] MeanTensor=$T[1,64,1,1] VarianceTensor=$T[1,64,1,1] ScaleTensor=$T[1,64,1,1] BiasTensor=$T[1,64,1,1] OutputTensor=$T[$R,64,56,56] Spatial=1 Epsilon=0.00001 in2=0.5:1.5
BATCH_NORMALIZATION : f32 f16 : R=320 : InputTensor=$T[$R,64,56,56]{200704,1,3584,64} MeanTensor=$T[1,64,1,1] VarianceTensor=$T[1,64,1,1] ScaleTensor=$T[1,64,1,1] BiasTensor=$T[1,64,1,1] OutputTensor=$T[$R,64,56,56]{200704,1,3584,64} Spatial=1 Epsilon=0.00001 in2=0.5:1.5 note=channels_last
BATCH_NORMALIZATION_TRAINING : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] ScaleTensor=$T[1,64,1,1] BiasTensor=$T[1,64,1,1] OutputTensor=$T[$R,64,56,56] OutputMeanTensor=$T[1,64,1,1] OutputVarianceTensor=$T[1,64,1,1] Epsilon=0.00001 passes=1.5
BATCH_NORMALIZATION_GRAD : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] InputGradientTensor=$T[$R,64,56,56] MeanTensor=$T[1,64,1,1] VarianceTensor=$T[1,64,1,1] ScaleTensor=$T[1,64,1,1] OutputGradientTensor=$T[$R,64,56,56] OutputScaleGradientTensor=$T[1,64,1,1] OutputBiasGradientTensor=$T[1,64,1,1] Epsilon=0.00001 in3=0.5:1.5
BATCH_NORMALIZATION_TRAINING_GRAD : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] InputGradientTensor=$T[$R,64,56,56] MeanTensor=$T[1,64,1,1] VarianceTensor=$T[1,64,1,1] ScaleTensor=$T[1,64,1,1] OutputGradientTensor=$T[$R,64,56,56] OutputScaleGradientTensor=$T[1,64,1,1] OutputBiasGradientTensor=$T[1,64,1,1] Epsilon=0.00001 in3=0.5:1.5 passes=1.67
MEAN_VARIANCE_NORMALIZATION : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,56,56] CrossChannel=0 NormalizeVariance=1 Epsilon=0.00001
MEAN_VARIANCE_NORMALIZATION : f32 f16 : R=320 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,56,56] CrossChannel=1 NormalizeVariance=1 Epsilon=0.00001 passes=1.5 note=across_channels
MEAN_VARIANCE_NORMALIZATION1 : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] ScaleTensor=$T[1,4096] BiasTensor=$T[1,4096] OutputTensor=$T[$R,4096] Axes=[1] NormalizeVariance=1 Epsilon=0.00001
MEAN_VARIANCE_NORMALIZATION1 : f32 f16 : R=8192 : InputTensor=$T[$R,16384] OutputTensor=$T[$R,16384] Axes=[1] NormalizeVariance=1 Epsilon=0.00001
MEAN_VARIANCE_NORMALIZATION1 : f32 f16 : M=4096 : InputTensor=$T[$M,4096] OutputTensor=$T[$M,4096] Axes=[1] NormalizeVariance=1 Epsilon=0.00001
MEAN_VARIANCE_NORMALIZATION2 : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] ScaleTensor=$T[1,4096] OutputTensor=$T[$R,4096] Axes=[1] UseMean=0 UseVariance=1 Epsilon=0.00001 note=RMS
MEAN_VARIANCE_NORMALIZATION2 : f32 f16 : R=320 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,56,56] Axes=[2,3] UseMean=1 UseVariance=1 Epsilon=0.00001
LP_NORMALIZATION : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Axis=1 Epsilon=0.00001 P=2
LOCAL_RESPONSE_NORMALIZATION : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,56,56] CrossChannel=1 LocalSize=5 Alpha=0.0001 Beta=0.75 Bias=1
LOCAL_RESPONSE_NORMALIZATION : f32 f16 : R=320 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,56,56] CrossChannel=0 LocalSize=3 Alpha=0.0001 Beta=0.75 Bias=1 note=within_channels
LOCAL_RESPONSE_NORMALIZATION_GRAD : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] InputGradientTensor=$T[$R,64,56,56] OutputGradientTensor=$T[$R,64,56,56] CrossChannel=1 LocalSize=5 Alpha=0.0001 Beta=0.75 Bias=1
ACTIVATION_SOFTMAX ACTIVATION_LOG_SOFTMAX ACTIVATION_HARDMAX : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096]
ACTIVATION_SOFTMAX1 ACTIVATION_LOG_SOFTMAX1 ACTIVATION_HARDMAX1 : f32 f16 : R=16384/16 : InputTensor=$T[$R,4096] OutputTensor=$T[$R,4096] Axes=[1]
ACTIVATION_SOFTMAX1 : f32 f16 : R=8192 : InputTensor=$T[$R,16384] OutputTensor=$T[$R,16384] Axes=[1]
ACTIVATION_SOFTMAX1 : f32 f16 : M=4096 : InputTensor=$T[$M,4096] OutputTensor=$T[$M,4096] Axes=[1]
ACTIVATION_SOFTMAX1 : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,56,56] Axes=[1] note=channels
)";

constexpr std::string_view kWindows = R"(
AVERAGE_POOLING : f32 f16 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] Strides=[2,2] WindowSize=[3,3] StartPadding=[1,1] EndPadding=[0,0] IncludePadding=0
AVERAGE_POOLING : f32 f16 : R=1280/4 : InputTensor=$T[$R,2048,7,7] OutputTensor=$T[$R,2048,1,1] Strides=[1,1] WindowSize=[7,7] StartPadding=[0,0] EndPadding=[0,0] IncludePadding=0 note=global
AVERAGE_POOLING1 : f32 f16 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] Strides=[2,2] WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1] IncludePadding=0
LP_POOLING : f32 f16 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] Strides=[2,2] WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0] P=2
LP_POOLING1 : f32 f16 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] Strides=[2,2] WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1] P=2
MAX_POOLING : f32 f16 u8 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] Strides=[2,2] WindowSize=[3,3] StartPadding=[1,1] EndPadding=[0,0]
MAX_POOLING : f32 f16 : R=512 : InputTensor=$T[$R,16,112,112]{200704,1,1792,16} OutputTensor=$T[$R,16,56,56]{50176,1,896,16} Strides=[2,2] WindowSize=[3,3] StartPadding=[1,1] EndPadding=[0,0] note=channels_last
MAX_POOLING1 : f32 f16 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] OutputIndicesTensor=u32[$R,16,56,56] Strides=[2,2] WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0]
MAX_POOLING2 : f32 f16 : R=320/1 : InputTensor=$T[$R,64,56,56] OutputTensor=$T[$R,64,56,56] Strides=[1,1] WindowSize=[3,3] StartPadding=[1,1] EndPadding=[1,1] Dilations=[1,1]
AVERAGE_POOLING_GRAD : f32 f16 : R=512/1 : InputGradientTensor=$T[$R,16,56,56] OutputGradientTensor=$T[$R,16,112,112] Strides=[2,2] WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0] IncludePadding=0
MAX_POOLING_GRAD : f32 f16 : R=320/1 : InputTensor=$T[$R,16,112,112] InputGradientTensor=$T[$R,16,56,56] OutputGradientTensor=$T[$R,16,112,112] Strides=[2,2] WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1]
MAX_UNPOOLING : f32 f16 : R=512/1 : InputTensor=$T[$R,16,56,56] IndicesTensor=u32[$R,16,56,56] OutputTensor=$T[$R,16,112,112] in1=ramp:4
QUANTIZED_LINEAR_AVERAGE_POOLING : u8 : R=512/1 : InputTensor=$T[$R,16,112,112] InputScaleTensor=f32[1] InputZeroPointTensor=$T[1] OutputScaleTensor=f32[1] OutputZeroPointTensor=$T[1] OutputTensor=$T[$R,16,56,56] Strides=[2,2] WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0] Dilations=[1,1] IncludePadding=0 in1=0.01:0.02 in3=0.01:0.02
UPSAMPLE_2D : f32 f16 : R=512/1 : InputTensor=$T[$R,16,56,56] OutputTensor=$T[$R,16,112,112] ScaleSize=[2,2] InterpolationMode=NEAREST_NEIGHBOR
UPSAMPLE_2D : f32 f16 : R=512 : InputTensor=$T[$R,16,56,56] OutputTensor=$T[$R,16,112,112] ScaleSize=[2,2] InterpolationMode=LINEAR note=linear
RESAMPLE : f32 f16 : R=512/1 : InputTensor=$T[$R,16,56,56] OutputTensor=$T[$R,16,112,112] InterpolationMode=LINEAR Scales=[1,1,2,2]
RESAMPLE1 : f32 f16 : R=512/1 : InputTensor=$T[$R,16,56,56] OutputTensor=$T[$R,16,112,112] InterpolationMode=LINEAR Scales=[1,1,2,2] InputPixelOffsets=[0.5,0.5,0.5,0.5] OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5]
RESAMPLE2 : f32 f16 u8 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] InterpolationMode=LINEAR RoundingDirection=INCREASING Scales=[1,1,0.5,0.5] InputPixelOffsets=[0.5,0.5,0.5,0.5] OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5] note=down
RESAMPLE2 : f32 f16 : R=512 : InputTensor=$T[$R,16,56,56] OutputTensor=$T[$R,16,112,112] InterpolationMode=NEAREST_NEIGHBOR RoundingDirection=DECREASING Scales=[1,1,2,2] InputPixelOffsets=[0.5,0.5,0.5,0.5] OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5] note=nearest
RESAMPLE3 : f32 f16 : R=512/1 : InputTensor=$T[$R,16,112,112] OutputTensor=$T[$R,16,56,56] InterpolationMode=LINEAR RoundingDirection=INCREASING Scales=[1,1,0.5,0.5] InputPixelOffsets=[0.5,0.5,0.5,0.5] OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5] Antialiased=1 note=antialiased
RESAMPLE_GRAD : f32 f16 : R=512/1 : InputGradientTensor=$T[$R,16,112,112] OutputGradientTensor=$T[$R,16,56,56] InterpolationMode=LINEAR Scales=[1,1,2,2] InputPixelOffsets=[0.5,0.5,0.5,0.5] OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5]
RESAMPLE_GRAD1 : f32 f16 : R=512/1 : InputGradientTensor=$T[$R,16,112,112] OutputGradientTensor=$T[$R,16,56,56] InterpolationMode=LINEAR RoundingDirection=INCREASING Scales=[1,1,2,2] InputPixelOffsets=[0.5,0.5,0.5,0.5] OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5]
ROI_POOLING : f32 f16 : N=4096/16 : InputTensor=$T[1,256,56,56] ROITensor=$T[1,1,$N,5] OutputTensor=$T[$N,256,7,7] SpatialScale=1 PooledSize=[7,7] in1=0:0,0:27,0:27,28:55,28:55
ROI_ALIGN : f32 f16 : N=2048/16 : InputTensor=$T[8,256,56,56] ROITensor=$T[$N,4] BatchIndicesTensor=u32[$N] OutputTensor=$T[$N,256,7,7] ReductionFunction=AVERAGE InterpolationMode=LINEAR SpatialScaleX=1 SpatialScaleY=1 MinimumSamplesPerOutput=2 MaximumSamplesPerOutput=2 in1=0:27,0:27,28:55,28:55 in2=0:7
ROI_ALIGN1 : f32 f16 : N=2048/16 : InputTensor=$T[8,256,56,56] ROITensor=$T[$N,4] BatchIndicesTensor=u32[$N] OutputTensor=$T[$N,256,7,7] ReductionFunction=AVERAGE InterpolationMode=LINEAR SpatialScaleX=1 SpatialScaleY=1 InputPixelOffset=0.5 OutputPixelOffset=-0.5 MinimumSamplesPerOutput=2 MaximumSamplesPerOutput=2 AlignRegionsToCorners=0 in1=0:27,0:27,28:55,28:55 in2=0:7
ROI_ALIGN_GRAD : f32 f16 : N=512/16 : InputGradientTensor=$T[$N,64,7,7] ROITensor=$T[$N,4] BatchIndicesTensor=u32[$N] OutputGradientTensor=$T[8,64,56,56] ReductionFunction=AVERAGE InterpolationMode=LINEAR SpatialScaleX=1 SpatialScaleY=1 InputPixelOffset=0.5 OutputPixelOffset=-0.5 MinimumSamplesPerOutput=2 MaximumSamplesPerOutput=2 AlignRegionsToCorners=0 in2=0:27,0:27,28:55,28:55 in3=0:7
)";

}  // namespace

const std::vector<std::string_view>& rooflineTable() {
  static const std::vector<std::string_view> families{kUnary,    kBinary,        kProducts, kMovement,
                                                      kIndexing, kNormalization, kWindows};
  return families;
}

}  // namespace dimple::tool
