// How kernels that store an element for each position of a walk (kernels/common/each.glsl) go through it.
#pragma once

#include <optional>

#include "core/ops/elementwise.h"

namespace dimple {

enum class MoveUnit { Element, Vector, Run };

// What an invocation stores at a time.
struct Moves {
  MoveUnit unit;
  Walk walk;           // through vectors, if these are what is stored
  uint64_t items;      // invocations
  KernelElement type;  // of a kernel that moves bits
};

// Vectors where the operands of the mask lie in vectors along the innermost dimension and the others stand still along
// it, else runs where operand `output` is dense, as far as the kernel has such forms.
struct MoveForms {
  bool vectors;
  bool runs;
};
Moves movesOf(const PlanBuilder& builder, MoveForms has, const Walk& walk, DataType type, uint32_t vectorOperands,
              uint32_t output);

template <class Kernel>
Moves movesOf(const PlanBuilder& builder, const Walk& walk, DataType type, uint32_t vectorOperands, uint32_t output) {
  using Form = typename Kernel::Form;
  return movesOf(builder, {requires { Form::Vectors;
}
, requires { Form::Runs; }
}  // namespace dimple
, walk, type, vectorOperands, output);
}

template <class Kernel>
typename Kernel::Form formOf(MoveUnit unit) {
  using Form = typename Kernel::Form;
  if constexpr (requires { Form::Vectors; })
    if (unit == MoveUnit::Vector) return Form::Vectors;
  if constexpr (requires { Form::Runs; })
    if (unit == MoveUnit::Run) return Form::Runs;
  return Form::Strided;
}

}  // namespace dimple
