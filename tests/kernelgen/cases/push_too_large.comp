// line: buffer w u32 y
// expect: The kernel case has a push block of 136 bytes, above the limit of 128.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { uint w0; uint w1; uint w2; uint w3; uint w4; uint w5; uint w6; uint w7; uint w8; uint w9; uint w10; uint w11; uint w12; uint w13; uint w14; uint w15; uint w16; uint w17; uint w18; uint w19; uint w20; uint w21; uint w22; uint w23; uint w24; uint w25; uint w26; uint w27; uint w28; uint w29; uint w30; uint w31; uint w32; uint w33; } push;
void main() { y[0] = push.w33; }
