// Tensors of indices: UINT32, INT32, UINT64 or INT64.
layout(set = 0, binding = BINDING_indices, std430) readonly buffer indicesBuffer { uint indices[]; };

// kind: bit 0 set for 64-bit elements, bit 1 for signed ones. Negative indices count from `size`, the end of their
// dimension. False if the index lies outside 0..size - 1 after that; `index` is then the nearest one inside. Without
// branches but that on the kind, so that loads that follow do not wait for it; with INDEX_IN_TWO_WORDS without that, too:
// a second word is always read.
bool loadIndex(uint kind, uint element, uint size, out uint index) {
  const bool isWide = (kind & 1u) != 0u;
  const bool isSigned = (kind & 2u) != 0u;
  const uint low = indices[isWide ? element * 2u : element];
  const uint extension = uint(int(low) >> 31);
  uint high = isSigned ? extension : 0u;
#ifdef INDEX_IN_TWO_WORDS
  const uint second = indices[isWide ? element * 2u + 1u : element];
  high = isWide ? second : high;
#else
  if (isWide) high = indices[element * 2u + 1u];
#endif
  const bool hasSign = (high >> 31) != 0u;
  const bool isNegative = isSigned && hasSign;
  const uint fromEnd = low + size;
  const uint highFromEnd = high + uint(fromEnd < low);
  const uint rest = isNegative ? highFromEnd : high;
  const uint place = isNegative ? fromEnd : low;
  const uint last = size - 1u;
  const uint nearest = isNegative ? 0u : last;
  const bool isInside = rest == 0u && place < size;
  index = isInside ? place : nearest;
  return isInside;
}
