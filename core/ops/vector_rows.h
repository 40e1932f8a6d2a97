// Kernels of rows whose elements lie in vectors of 16 bytes (kernels/common/rows.glsl).
#pragma once

#include "core/caps.h"
#include "core/layout.h"
#include "core/plan/plan_builder.h"
#include "core/tensor.h"

namespace dimple {

// How a row is read: by a workgroup that holds it, by one whose invocations are chosen, fewer or more, or twice. None
// has a reason.
enum class RowReads { None, Held, HeldShort, HeldWide, Twice };

struct VectorRows {
  RowReads reads = RowReads::None;
  uint32_t invocations = kGroupSize;  // of a workgroup; of forms for which they are chosen
  uint32_t lanes = kGroupSize;        // of them, that have a row
  const char* refusal = nullptr;

  bool choosesInvocations() const { return reads == RowReads::HeldShort || reads == RowReads::HeldWide; }
  uint32_t rowsOfGroup() const { return reads == RowReads::HeldShort ? invocations / lanes : 1; }
};

// The form of a family that reads rows so.
template <class Form>
constexpr Form formOf(RowReads reads) {
  switch (reads) {
    case RowReads::HeldShort:
      return Form::ShortRows;
    case RowReads::HeldWide:
      return Form::WideRows;
    case RowReads::Twice:
      return Form::LongRows;
    default:
      return Form::Rows;
  }
}

// Whether an operand's elements along a row of `reduced` are its neighbours, and rows begin with a vector of `number`.
bool isInVectors(uint32_t number, const Walk& kept, const Walk& reduced, uint32_t operand);

// For rows of operands 0 and 1, both in vectors.
VectorRows chooseVectorRows(DataType type, const Walk& kept, const Walk& reduced, const Caps& caps);

}  // namespace dimple
