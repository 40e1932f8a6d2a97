// How kernels that store an element for each position of a walk (kernels/common/each.glsl) go through it.
#pragma once

#include "core/ops/elementwise.h"

namespace dimple {

// What an invocation stores: an element; a vector that is moved as it is, or made of elements of a row; a run of them.
enum class MoveUnit { Element, Vector, Row, Run };

struct Moves {
  MoveUnit unit;
  Walk walk;           // through vectors, if these are what is stored
  uint64_t items;      // invocations
  KernelElement type;  // of a kernel that moves bits
};

// The forms of a kernel that there are beside the one for elements. Masks of operands that lie in vectors along the
// innermost dimension, along which the others stand still; 0 where there is no such form.
struct MoveForms {
  uint32_t vectors = 0;
  uint32_t rows = 0;
  bool runs = false;  // of an output that is dense
};
Moves movesOf(const PlanBuilder& builder, const MoveForms& forms, const Walk& walk, DataType type, uint32_t output);

template <class Kernel>
typename Kernel::Form formOf(MoveUnit unit) {
  using Form = typename Kernel::Form;
  if constexpr (requires { Form::Vectors; })
    if (unit == MoveUnit::Vector) return Form::Vectors;
  if constexpr (requires { Form::Rows; })
    if (unit == MoveUnit::Row) return Form::Rows;
  if constexpr (requires { Form::Runs; })
    if (unit == MoveUnit::Run) return Form::Runs;
  return Form::Strided;
}

}  // namespace dimple
