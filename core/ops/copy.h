// Copies between buffers and fills of them: the base of every operator that moves elements without changing them.
#pragma once

#include "core/plan/plan_builder.h"

namespace dimple {

// Adds a dispatch that copies an element for each position of `walk` from operand 0 to operand 1, both of `type`'s
// width. Only what the walk touches of the two ranges is bound, so that copies to different parts of a buffer need not
// wait for each other.
Status addCopy(PlanBuilder& builder, DataType type, Walk walk, const BufferRange& from, const BufferRange& to);

// All elements of the only input, each to the same coordinates of the only output.
MovedPart wholePart(const Operation& op);

// The plan of an operator that moves the parts that its schema says.
Status planParts(const Operation& op, PlanBuilder& builder);

// An element's bytes, repeated to 64 bits as the kernels that fill take them.
using FillPattern = std::array<uint32_t, 2>;
FillPattern fillPattern(DataType type, const DML_SCALAR_UNION& value);
// The same of a FLOAT attribute: integers are truncated and saturated, NaN becomes 0; floats are rounded.
FillPattern fillPattern(DataType type, float value);

// Adds a dispatch that stores the pattern at each position of `walk`'s operand 0.
Status addFill(PlanBuilder& builder, DataType type, const Walk& walk, const FillPattern& pattern,
               const BufferRange& to);

// Adds dispatches that copy `from.bytes` bytes, whole words, as they are.
Status addWordCopy(std::vector<Dispatch>& dispatches, const BufferRange& from, const BufferRange& to,
                   const Target& target);

// Rewrites a plan so that an input is copied at initialization into the persistent resource and read from there.
Status keepInput(Plan& plan, uint32_t inputIndex, const Tensor& tensor, const Target& target);

}  // namespace dimple
