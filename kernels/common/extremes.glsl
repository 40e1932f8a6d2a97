// The lesser and the greater of two numbers, or the number beside a NaN; either of two zeros. For numbers that are no
// denormals, such as those of FLOAT16: the functions of GLSL leave NaN open.
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(set = "GLSL.std.450", id = 79) float lesserNumber(float a, float b);
spirv_instruction(set = "GLSL.std.450", id = 80) float greaterNumber(float a, float b);
