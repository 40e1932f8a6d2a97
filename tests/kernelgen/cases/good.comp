// access: r rw
// line: spec 0 OP operators
// line: spec 1 FUSED 0 operators
// line: spec 2 SIZE 64
// kernels.txt: case * 0 112 64 r,rw 64x1x1 20 portable
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#include "directml_enums.glsl"
layout(constant_id = 0) const uint OP = DML_OPERATOR_ELEMENT_WISE_ADD;
layout(constant_id = 1) const uint FUSED = 0;
layout(local_size_x = 64) in;
layout(constant_id = 2) const uint SIZE = 64;
layout(set = 0, binding = 0, std430) readonly buffer A { int64_t a[]; };
layout(set = 0, binding = 1, std430) buffer Y { double y[]; };
layout(set = 1, binding = 0, std140) uniform Parameters { uvec4 parameters[4]; };
layout(push_constant) uniform Push { uint count; uint base; uvec4 dims[6]; } push;
double activate(uint op, double x) {
  switch (op) {
    case DML_OPERATOR_ACTIVATION_RELU: return max(x, double(0));
    default: return x;
  }
}
void main() {
  const uint i = gl_GlobalInvocationID.x * SIZE + parameters[3].w + push.dims[5].w;
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_ADD: y[i] += double(a[i]); break;
#ifdef NEVER
    case DML_OPERATOR_ELEMENT_WISE_MULTIPLY: y[i] *= double(a[i]); break;
#endif
    case DML_OPERATOR_ELEMENT_WISE_SUBTRACT: y[i] -= activate(FUSED, double(a[i])); break;
  }
}
