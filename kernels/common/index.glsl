// Tensors of indices: UINT32, INT32, UINT64 or INT64.
layout(set = 0, binding = BINDING_indices, std430) readonly buffer indicesBuffer { uint indices[]; };

// kind: bit 0 set for 64-bit elements, bit 1 for signed ones. Negative indices count from `size`, the end of their
// dimension. False if the index lies outside 0..size - 1 after that; `index` is then the nearest one inside.
bool loadIndex(uint kind, uint element, uint size, out uint index) {
  const bool wide = (kind & 1u) != 0u;
  uint low = indices[wide ? element * 2u : element];
  uint high = wide ? indices[element * 2u + 1u] : 0u;
  if ((kind & 2u) != 0u) {
    if (!wide) high = uint(int(low) >> 31);
    if (int(high) < 0) {
      const uint sum = low + size;
      high += sum < low ? 1u : 0u;
      low = sum;
      if (int(high) < 0) {
        index = 0u;
        return false;
      }
    }
  }
  const bool inside = high == 0u && low < size;
  index = inside ? low : size - 1u;
  return inside;
}
