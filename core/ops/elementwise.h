// Plans that several families share: an output element from the input elements at the same coordinates.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/ops/blocks.h"
#include "core/plan/plan_builder.h"

namespace dimple {

// What one dispatch of an element-wise operator covers.
struct ElementPart {
  kernels::WalkWords walk;               // of packed tensors without dimensions, of rows through vectors
  uint32_t uniformMask;                  // of several inputs, those that are one element
  std::span<const BufferRange> buffers;  // the inputs, then the output
  bool packed = false;                   // all others are dense or lie in rows, and there is a kernel for that
  bool vectors = false;                  // the walk is one through vectors, as VectorUse says
  bool runs = false;                     // an invocation takes a run of them
  bool rows = false;                     // they lie in rows
  std::optional<Blocks> blocks{};        // an invocation takes one of them; `walk` counts them
};
using ElementCall = std::function<KernelCall(const ElementPart&)>;

// Elements that an invocation takes of most kernels for packed tensors: a vector of 16 bytes.
inline uint32_t vectorElements(DataType type) { return 128 / bitWidth(type); }

// A number as an integer of a type: truncated and saturated, NaN becomes 0.
uint64_t saturated(double value, DataType type);

// The unsigned type of `bytes` bytes.
DataType unsignedType(uint32_t bytes);

// A kernel that takes a vector of so many elements of some operands at a time, where the innermost dimension allows it.
struct VectorUse {
  uint32_t elements = 0;  // 0: there is none
  uint32_t operands = 0;  // bits of those; the others stand still along that dimension
  bool orRuns = false;    // else a kernel that stores a run of so many elements, where the output is dense
  // What takesRows() and takesBlocks() speak of: rows of the vectors that the kernel for packed tensors takes, or else
  // blocks (kernels/elementwise/row_places.glsl, blocks.glsl).
  bool orRows = false;
  uint32_t rowElements = 0;  // of a row that an invocation takes; 0: as many as of packed tensors
  bool orBlocks = false;
  bool whole = false;  // the kernel for packed tensors takes nothing but whole vectors
};

// Whether operators have kernels for rows of vectors. Vulkan has chains in their place, and what takes elements one by
// one takes software drivers less time to compile.
bool takesRows(const Target& target);

// Whether so many elements have kernels for blocks of vectors: the same, or on Vulkan those that keep a GPU busy, where
// blocks in registers take less time than a chain's tiles in shared memory.
bool takesBlocks(const Target& target, uint64_t elements);

// Elements that an invocation takes of kernels that convert vectors between types of at most 32 bits: four where the
// results are 32 bits wide, so that neighbours store vectors side by side. 0 where takesRows() says that there are
// none.
uint32_t convertedElements(const Target& target, std::initializer_list<DataType> inputs, DataType output);

// Whether runs of `number` elements each, out of so many elements, keep the device busy. If there are fewer, one
// element per invocation is faster.
bool areManyRuns(const Target& target, uint64_t elements, uint32_t number);

// Adds a dispatch for each part of a walk through inputs and an output, the last operand, in whatever order suits the
// output. An invocation takes an element, or `packedElements` of a packed part; 0 if the operator has no kernel for
// packed tensors.
Status addElements(PlanBuilder& builder, Walk walk, std::span<const WalkOperand> operands, uint32_t packedElements,
                   const ElementCall& call, VectorUse use = {});

// The plan of an operator with one output that walks through it and these inputs.
Status planElements(const Operation& op, PlanBuilder& builder, std::initializer_list<size_t> inputs,
                    uint32_t packedElements, const ElementCall& call, VectorUse use = {});

// One tensor in, one out, with an optional ScaleBias and up to two FLOAT attributes. The kernel is told the operator.
Status planUnary(const Operation& op, PlanBuilder& builder);

// Replaces the elements of the only output, which a dispatch has stored, by what an activation makes of them.
Status activateOutput(const Operation& op, PlanBuilder& builder, const Activation& activation);

// Of such an operator that is the identity.
std::vector<MovedPart> partsOfIdentity(const Operation& op);

// Two tensors in, one out, of one data type, with an optional fused activation.
Status planBinary(const Operation& op, PlanBuilder& builder);

// Of ELEMENT_WISE_* operators: POW; what is asked of one element or of two, with answers of another type; IF.
Status planPow(const Operation& op, PlanBuilder& builder);
Status planPredicate(const Operation& op, PlanBuilder& builder);
Status planSelect(const Operation& op, PlanBuilder& builder);

// Null where there is none, or it is the identity.
const DML_SCALE_BIAS* scaleBias(const Operation& op);

}  // namespace dimple
