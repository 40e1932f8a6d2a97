// Attention over keys and values that lie in one tensor each (kernels/attention).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/operation.h"
#include "core/plan/plan_builder.h"

namespace dimple {

// How a kernel steps through the heads of a tensor, or of a part of one that is stacked.
struct Heads {
  BufferRange range;
  uint32_t first = 0;
  uint32_t batch = 0, head = 0, position = 0, channel = 0;  // strides

  std::array<uint32_t, 4> strides() const { return {batch, head, position, channel}; }
};

struct Attended {
  // A tensor that may be absent, and its strides as kernels/attention/scores.glsl takes them.
  struct Addend {
    std::optional<BufferRange> range;
    std::array<uint32_t, 4> strides{};
  };

  DataType type{};
  uint32_t batch = 0;
  uint32_t queries = 0;
  uint32_t keys = 0;
  uint32_t keySize = 0;  // channels of a head's queries and keys
  uint32_t valueSize = 0;
  uint32_t heads = 0;
  uint32_t headsPerKey = 1;  // that share one of key and value
  float scale = 1;
  float filterValue = 0;
  uint32_t maskType = 0;
  Heads query, key, value, output;
  Addend bias;  // of queries; those of keys and values are in them
  Addend mask, relative;
  Addend lengths;
};

// Adds one dispatch, or two where few queries are split along the keys.
Status addAttention(PlanBuilder& builder, const Attended& attended);

// Attention of tensors whose last sizes are {batch, head, position, channel}, at any strides: queries, keys, values,
// and maybe what is added to scores, {batch, head, query, key}.
Operation attentionOperation(float scale, std::vector<Tensor> inputs, const Tensor& output, TensorNames names);
// Whether such an operation goes to matrices of subgroups, which take less than two products and a softmax; in other
// kernels it takes as long.
bool attendsByMatrices(const Operation& attention, const Target& target);

}  // namespace dimple
