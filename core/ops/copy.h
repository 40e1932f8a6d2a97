// Copies between buffers: the base of every operator that moves elements without changing them.
#pragma once

#include "core/plan_builder.h"

namespace dimple {

// Adds a dispatch that copies an element for each position of `walk` from operand 0 to operand 1, both of `type`'s
// width. `exclusive`: no other dispatch without a barrier between writes bytes of the same 32-bit words.
Status addCopy(PlanBuilder& builder, DataType type, Walk walk, const BufferRange& from, const BufferRange& to,
               bool exclusive = true);

// Rewrites a plan so that an input is copied at initialization into the persistent resource and read from there.
Status keepInput(Plan& plan, uint32_t inputIndex, const Tensor& tensor, const Caps& caps);

}  // namespace dimple
