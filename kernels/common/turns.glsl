// SET_EACH: values[i] = value for all elements of an array, in a loop, which has one copy of the code. `value` calls the
// element values[OWN_TURN].
#ifndef OWN_TURN
#if DIMPLE_HLSL
// What a loop leaves for its next turn. libvkd3d assigns the variables of a loop one after the other, and before what
// follows the loop reads them: wrong for those that take each other's values, and for the last turn's where DXC reads
// bits of the variable instead. These are made by an operation with a zero of which DXC knows no bit.
uint turned(uint x) { return x ^ uint(int(gl_WorkGroupID.x) >> 31); }
int turned(int x) { return int(turned(uint(x))); }
float turned(float x) { return uintBitsToFloat(turned(floatBitsToUint(x))); }

// The element is always the first, and the array turns: software drivers make a branch for each element of an array that
// has a variable index.
#define OWN_TURN 0u
#define SET_EACH(values, count, value)                                                 \
  [[dont_unroll]] for (uint turn = 0u; turn < (count); ++turn) {                       \
    const float last = value;                                                          \
    [[unroll]] for (uint i = 1u; i < (count); ++i) values[i - 1u] = turned(values[i]); \
    values[(count) - 1u] = turned(last);                                               \
  }
// An index of vectors that a loop sums up. DXC would have the loop sum up bytes instead, of which vkd3d-proton does not
// know that they are multiples of 16: it would load a vector in four parts.
#define SUMMED_INDEX(i) turned(i)
#else
#define turned(x) (x)
#define SUMMED_INDEX(i) (i)
#define OWN_TURN i
#define SET_EACH(values, count, value) \
  [[dont_unroll]] for (uint i = 0u; i < (count); ++i) values[i] = value;
#endif
#endif
