// How attention_cooperative.comp brings queries, keys and values to shared memory, eight elements at a time.
layout(set = 0, binding = BINDING_q, std430) readonly buffer qVectorBuffer { uvec4 qVectors[]; };
layout(set = 0, binding = BINDING_k, std430) readonly buffer kVectorBuffer { uvec4 kVectors[]; };
layout(set = 0, binding = BINDING_v, std430) readonly buffer vVectorBuffer { uvec4 vVectors[]; };

const uint kItemsK = KEYS * KEY_SIZE / 8u;
const uint kItemsV = KEYS * VALUE_SIZE / 8u;
const uint kLoadsK = (kItemsK + (INVOCATIONS - 1u)) / INVOCATIONS;
const uint kLoadsV = (kItemsV + (INVOCATIONS - 1u)) / INVOCATIONS;
uvec4 loadedK[kLoadsK];
uvec4 loadedV[kLoadsV];

uvec4 eightOf(uint raws[8]) {
  return uvec4(raws[0] | raws[1] << 16, raws[2] | raws[3] << 16, raws[4] | raws[5] << 16, raws[6] | raws[7] << 16);
}

// Of a query that does not exist, or whose channels do not, zeros.
uvec4 loadQueryVector(uint batch, uint head, uint query, uint channel) {
  const uvec4 at = uvec4(batch, head, query, channel) * parameters[0];
  const bool exists = query < push.queries && channel < push.keySize;
  return exists ? qVectors[(parameters[6].x + at.x + at.y + at.z + channel) / 8u] : uvec4(0u);
}

uvec4 loadQueryElements(uint batch, uint head, uint query, uint channel) {
  if (query >= push.queries) return uvec4(0u);
  uint raws[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i)
    raws[i] = channel + i < push.keySize ? toRaw(atQuery(batch, head, query, channel + i)) & 0xffffu : 0u;
  return eightOf(raws);
}

// Of keys from `first` on; the last one stands for those behind it. Single elements outside are loaded from others and
// then made zeros: such loads overlap.
void loadKeys(uint lane, uint base, uint first) {
  const uvec2 stride = parameters[1].zw;
  [[unroll]] for (uint n = 0u; n < kLoadsK; ++n) {
    const uint item = lane + n * INVOCATIONS;
    const uint key = min(first + item / (KEY_SIZE / 8u), push.keys - 1u);
    const uint channel = item % (KEY_SIZE / 8u) * 8u;
    if ((READS & kKeyVectors) != 0u) {
      const bool exists = (READS & kWholeMatrices) != 0u || channel < push.keySize;
      loadedK[n] = exists ? kVectors[base / 8u + key * (stride.x / 8u) + channel / 8u] : uvec4(0u);
    } else {
      uint raws[8];
      [[unroll]] for (uint i = 0u; i < 8u; ++i) {
        const bool exists = channel + i < push.keySize;
        raws[i] = loadRaw_k(exists ? base + key * stride.x + (channel + i) * stride.y : base);
        raws[i] = exists ? raws[i] : 0u;
      }
      loadedK[n] = eightOf(raws);
    }
  }
}

void loadValues(uint lane, uint base, uint first) {
  const uvec2 stride = parameters[2].zw;
  [[unroll]] for (uint n = 0u; n < kLoadsV; ++n) {
    const uint item = lane + n * INVOCATIONS;
    const uint key = min(first + item / (VALUE_SIZE / 8u), push.keys - 1u);
    const uint channel = item % (VALUE_SIZE / 8u) * 8u;
    if ((READS & kValueVectors) != 0u) {
      const bool exists = (READS & kWholeMatrices) != 0u || channel < push.valueSize;
      loadedV[n] = exists ? vVectors[base / 8u + key * (stride.x / 8u) + channel / 8u] : uvec4(0u);
    } else {
      uint raws[8];
      [[unroll]] for (uint i = 0u; i < 8u; ++i) {
        const bool exists = channel + i < push.valueSize;
        raws[i] = loadRaw_v(exists ? base + key * stride.x + (channel + i) * stride.y : base);
        raws[i] = exists ? raws[i] : 0u;
      }
      loadedV[n] = eightOf(raws);
    }
  }
}

void storeKeys(uint lane) {
  [[unroll]] for (uint n = 0u; n < kLoadsK; ++n) {
    const uint item = lane + n * INVOCATIONS;
    if (kItemsK % INVOCATIONS == 0u || item < kItemsK)
      staged[item / (KEY_SIZE / 8u) * kPitchK + item % (KEY_SIZE / 8u)] = loadedK[n];
  }
}

// The values of keys from `first` on, zeros behind the last key.
void storeValues(uint lane, uint first) {
  if (first + KEYS > push.keys)
    [[unroll]] for (uint n = 0u; n < kLoadsV; ++n)
      if (first + (lane + n * INVOCATIONS) / (VALUE_SIZE / 8u) >= push.keys) loadedV[n] = uvec4(0u);
  [[unroll]] for (uint n = 0u; n < kLoadsV; ++n) {
    const uint item = lane + n * INVOCATIONS;
    if (kItemsV % INVOCATIONS == 0u || item < kItemsV)
      staged[kValuesAt + item / (VALUE_SIZE / 8u) * kPitchV + item % (VALUE_SIZE / 8u)] = loadedV[n];
  }
}
