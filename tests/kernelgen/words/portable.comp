#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"

layout(local_size_x = 1) in;
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uint y[]; };

void main() { y[push.low] = uint(push.wide) + uint(push.factor * HALF_STEP) + uint(push.delta + SHIFT); }
