// The functions of one of the three compute types. Included once for each: what a type alone would tell apart is named
// after the type by the macros that stand before.
#include "elementwise/attributes.glsl"
#include "elementwise/saturated.glsl"
#include "elementwise/unary_functions.glsl"
#include "elementwise/binary_functions.glsl"
#include "elementwise/predicate_functions.glsl"
