#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Reduces `elements` input elements to each of `outputs` results. A task is one chunk of one output: a workgroup's with
// ROW, an invocation's without. With more than one chunk an output, the chunks write accumulators that a second
// dispatch reduces as its elements.
//   keptRank, reducedRank   walks at parameters[0] (operands: input, output) and parameters[reducedAt] (input)
//   divisor                 elements an average divides by
//   partials, firstPartial  partial results of an output, and which of them is the first chunk's
//   firstIndex              of the first element, among all that are reduced
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/walk.glsl"
#include "reduce/accumulator.glsl"

layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { RAW x[]; };

// Of element l among those that are reduced.
uint reducedOffset(uint l) {
  // One dimension needs no division.
  if (push.reducedRank <= 1u) return parameters[push.reducedAt].x + l * parameters[push.reducedAt + 2u].x;
  return walkOffsets(push.reducedAt, push.reducedRank, l).x;
}

Accumulator load(uint keptOffset, uint outputIndex, uint l) {
  if (READS_PARTIALS != 0u) {
    const uint at = (outputIndex * push.elements + l) * 2u;
    return Accumulator(wideFromRaw(x[at]), extraFromRaw(x[at + 1u]));
  }
  const uint at = keptOffset + reducedOffset(l);
#if T_BITS >= 32
  return fromElement(fromRaw(x[at]), push.firstIndex + l);
#else
  return fromElement(fromRaw(x[at / (32u / T_BITS)] >> (at % (32u / T_BITS) * T_BITS) & T_MASK), push.firstIndex + l);
#endif
}

void store(uint outputOffset, uint task, Accumulator a) {
  if (WRITES_PARTIALS != 0u) {
    storePartial(task, a);
    return;
  }
  if (kIsArg) {
    storeIndex(outputOffset, a);
    return;
  }
#if T == f16
  if (kStoresWide) {
    y[outputOffset] = wideToRaw(finish(a));
    return;
  }
#endif
  const RAW bits = toRaw(finish(a));
#if T_BITS == 64
  y[outputOffset * 2u] = bits.x;
  y[outputOffset * 2u + 1u] = bits.y;
#elif T_BITS == 32
  y[outputOffset] = bits;
#else
  const uint word = outputOffset / (32u / T_BITS);
  const uint shift = outputOffset % (32u / T_BITS) * T_BITS;
  atomicAnd(y[word], ~(T_MASK << shift));
  atomicOr(y[word], (bits & T_MASK) << shift);
#endif
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint task = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && task >= push.outputs * push.chunks) return;
  // Neighbouring invocations take neighbouring outputs, neighbouring workgroups neighbouring chunks.
  const uint outputIndex = ROW != 0u ? task / push.chunks : task % push.outputs;
  const uint chunk = ROW != 0u ? task % push.chunks : task / push.outputs;

  const uvec4 kept = walkOffsets(0u, push.keptRank, outputIndex);
  const uint begin = chunk * push.chunkLength;
  const uint count = min(push.chunkLength, push.elements - begin);
  Accumulator a = emptyAccumulator();
  if (ROW != 0u) {
    uint k = lane;
    // Four loads at a time are under way.
    for (; k < count && count - k > 3u * gl_WorkGroupSize.x; k += 4u * gl_WorkGroupSize.x) {
      const Accumulator b = load(kept.x, outputIndex, begin + k);
      const Accumulator c = load(kept.x, outputIndex, begin + k + gl_WorkGroupSize.x);
      const Accumulator d = load(kept.x, outputIndex, begin + k + 2u * gl_WorkGroupSize.x);
      const Accumulator e = load(kept.x, outputIndex, begin + k + 3u * gl_WorkGroupSize.x);
      a = combine(a, combine(combine(b, c), combine(d, e)));
    }
    for (; k < count; k += gl_WorkGroupSize.x) a = combine(a, load(kept.x, outputIndex, begin + k));
    a = combineOfGroup(a);
    if (lane != 0u) return;
  } else {
    uint k = 0u;
    for (; k + 4u <= count; k += 4u) {
      const Accumulator b = load(kept.x, outputIndex, begin + k);
      const Accumulator c = load(kept.x, outputIndex, begin + k + 1u);
      const Accumulator d = load(kept.x, outputIndex, begin + k + 2u);
      const Accumulator e = load(kept.x, outputIndex, begin + k + 3u);
      a = combine(a, combine(combine(b, c), combine(d, e)));
    }
    for (; k < count; ++k) a = combine(a, load(kept.x, outputIndex, begin + k));
  }
  store(kept.y, outputIndex * push.partials + push.firstPartial + chunk, a);
}
