// Words of four operands of 8 bits. Unsigned elements and their zero points are taken less 128, so that all are signed.
const uint kUnsigned = 0x80808080u;
uint signedWord(uint word, uint kind) { return (kind & 4u) != 0u ? word : word ^ kUnsigned; }

// Rows of four bytes become columns.
uvec4 turned(uvec4 rows) {
  const uvec4 even = rows & 0x00ff00ffu;
  const uvec4 odd = (rows >> 8u) & 0x00ff00ffu;
  const uvec4 low = uvec4(even.xy | (even.yx << 8u), odd.xy | (odd.yx << 8u));
  const uvec4 high = uvec4(even.zw | (even.wz << 8u), odd.zw | (odd.wz << 8u));
  return uvec4((low.x & 0xffffu) | (high.x << 16u), (low.z & 0xffffu) | (high.z << 16u),
               (low.x >> 16u) | (high.x & 0xffff0000u), (low.z >> 16u) | (high.z & 0xffff0000u));
}

// A zero point less what the elements are less.
int shifted(uint zero, uint kind) { return int(zero) - ((kind & 4u) != 0u ? 0 : 128); }
