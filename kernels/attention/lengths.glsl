// How many keys a cache holds. Where kHasLengths is set, parameters[7].x is the stride of the batches' lengths.
layout(set = 0, binding = BINDING_lengths, std430) readonly buffer lengthsBuffer { uint lengths[]; };
const uint kHasLengths = 4u;

// Keys behind the lengths of a cache get MaskFilterValue, which leaves no weight to them if it is as low as this. They
// are not read then: that part of the cache may hold anything.
const float kLeavesNothing = -10000.0;
uint keysToRead(uint batch) {
  if ((push.flags & kHasLengths) == 0u || !(uintBitsToFloat(push.filterValue) <= kLeavesNothing)) return push.keys;
  const int past = int(lengths[batch * parameters[7].x]);
  return past < 0 ? push.keys : min(push.keys, uint(past) + push.queries);
}
