// line: buffer r i64 a
// line: buffer rw f64 y
// line: push u32 count base
// line: spec 0 structural u32 OP=DML_OPERATOR_ELEMENT_WISE_ADD operators
// line: spec 1 uniform u32 FUSED 0 operators
// line: spec 2 structural u32 SIZE=64 64
// kernels.txt: case * 0 24 64 r,rw 64x1x1 20 portable
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#include "directml_enums.glsl"
#include "interface.glsl"
layout(local_size_x = 64) in;
layout(set = 0, binding = BINDING_a, std430) readonly buffer aBuffer { int64_t a[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { double y[]; };
layout(set = 1, binding = 0, std140) uniform Parameters { uvec4 parameters[4]; };
double activate(uint op, double x) {
  switch (op) {
    case DML_OPERATOR_ACTIVATION_RELU: return max(x, double(0));
    default: return x;
  }
}
void main() {
  const uint i = gl_GlobalInvocationID.x * SIZE + parameters[3].w + push.base;
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_ADD: y[i] += double(a[i]); break;
#ifdef NEVER
    case DML_OPERATOR_ELEMENT_WISE_MULTIPLY: y[i] *= double(a[i]); break;
#endif
    case DML_OPERATOR_ELEMENT_WISE_SUBTRACT: y[i] -= activate(FUSED, double(a[i])); break;
  }
}
