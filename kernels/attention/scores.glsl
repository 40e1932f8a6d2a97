// What kernels of attention bind, and what becomes of a score. Include after types.glsl and directml_enums.glsl.
//   parameters[0..3]   strides {batch, head, position, channel} of query, key, value and output
//   parameters[4]      {batch, head, query, key} strides of the relative position bias
//   parameters[5]      the same of a BOOLEAN mask; of others {row, batch}
//   parameters[6]      {first elements of query, key and value, stride of the bias}
//   parameters[7].x    stride of the lengths
// VECTOR: query, key, value and output are bound as vectors of so many elements.
// headsPerKey: heads of the query that share one of key and value. flags: what is given, below.
#include "common/grid.glsl"
#include "common/math.glsl"

#if !VECTOR
TENSOR_IN(q)
TENSOR_IN(k)
TENSOR_IN(v)
TENSOR_OUT(y)
#endif
TENSOR_IN(bias)
layout(set = 0, binding = BINDING_mask, std430) readonly buffer maskBuffer { uint mask[]; };
TENSOR_IN(relative)

const uint kHasBias = 1u;
const uint kHasRelative = 2u;
#include "attention/lengths.glsl"

float queryBias(uint head, uint channel) {
  return fromRaw(loadRaw_bias((head * push.keySize + channel) * parameters[6].w));
}

#if !VECTOR
float atQuery(uint batch, uint head, uint query, uint channel) {
  const uvec4 at = uvec4(batch, head, query, channel) * parameters[0];
  const float value = fromRaw(loadRaw_q(parameters[6].x + at.x + at.y + at.z + at.w));
  return (push.flags & kHasBias) == 0u ? value : value + queryBias(head, channel);
}
#endif

// What a mask makes of the score of a key at a query, `product` and its relative position bias. Masks of lengths put
// MaskFilterValue in the place of the bias, the others add to both.
float masked(float product, float relative, uint batch, uint head, uint query, uint key) {
  const float score = product + relative;
  const float filterValue = uintBitsToFloat(push.filterValue);
  const uvec4 strides = parameters[5];
  switch (push.maskType) {
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN: {
      const uvec4 at = uvec4(batch, head, query, key) * strides;
      const int given = int(mask[at.x + at.y + at.z + at.w]);
      return given == 1 ? score : score + filterValue * (1.0 - float(given));
    }
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH:
      return key < mask[batch * strides.y] ? score : product + filterValue;
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START:
      return key >= mask[strides.x + batch * strides.y] && key < mask[batch * strides.y] ? score
                                                                                          : product + filterValue;
    case DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END: {
      // {lengths of keys, starts of queries, their end, starts of keys, their end}: positions in all batches in turn.
      const uint batches = strides.z;
      const uint queryAt = batch * push.queries + query;
      const uint keyAt = batch * push.keys + key;
      if (queryAt < mask[(batches + batch) * strides.x] || queryAt >= mask[(batches + batch + 1u) * strides.x])
        return score;
      const uint first = mask[(2u * batches + 1u + batch) * strides.x];
      return keyAt >= first && keyAt - first < mask[batch * strides.x] ? score : score + filterValue;
    }
  }
  return score;
}

// The score of a key at a query from the product of their channels.
float scoreFrom(float product, uint batch, uint head, uint query, uint key) {
  const float sum = product * uintBitsToFloat(push.scale);
  float relative = 0.0;
  if ((push.flags & kHasRelative) != 0u) {
    const uvec4 bias1 = uvec4(batch, head, query, key) * parameters[4];
    relative = fromRaw(loadRaw_relative(bias1.x + bias1.y + bias1.z + bias1.w));
  }
  if ((push.flags & kHasLengths) != 0u) {
    const int last = int(lengths[batch * parameters[7].x]) + int(query);
    const float score = sum + relative;
    return int(key) <= last ? score : score + uintBitsToFloat(push.filterValue);
  }
  return masked(sum, relative, batch, head, query, key);
}
