// SOFTMAX and its relatives, for operators that are followed by one.
#pragma once

#include <cstdint>

#include "core/directml.h"
#include "core/result.h"

namespace dimple {

class PlanBuilder;
struct BufferRange;
struct Tensor;

// Adds a dispatch that computes ACTIVATION_SOFTMAX, ACTIVATION_LOG_SOFTMAX or ACTIVATION_HARDMAX over the dimensions of
// `axisMask` from one range to another, which hold tensors of one type and of the same sizes.
Status addSoftmax(PlanBuilder& builder, DML_OPERATOR_TYPE function, const Tensor& x, const Tensor& y, uint32_t axisMask,
                  const BufferRange& from, const BufferRange& to);

}  // namespace dimple
