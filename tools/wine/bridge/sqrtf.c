#include <xmmintrin.h>

// libvkd3d asks for a version of it that older C libraries lack. Not by way of theirs, which has the same name.
float sqrtf(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
