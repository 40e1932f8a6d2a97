// Kernels of rows whose elements lie in vectors of 16 bytes (kernels/common/rows.glsl).
#pragma once

#include <optional>

#include "core/caps.h"
#include "core/layout.h"
#include "core/operation.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/tensor.h"

namespace dimple {

// Elements that an invocation holds of wide rows: HELD in kernels/manifest.txt.
constexpr uint32_t kHeldWide = 32;

// How a row is read: by a workgroup that holds it, by one whose invocations are chosen, fewer or more, by one of 512 or
// 1024 where they cannot be chosen, or twice. None has a reason.
enum class RowReads { None, Held, HeldShort, HeldWide, HeldBy512, HeldBy1024, Twice };

struct VectorRows {
  RowReads reads = RowReads::None;
  uint32_t invocations = kGroupSize;  // of a workgroup; of forms for which they are chosen
  uint32_t lanes = kGroupSize;        // of them, that have a row
  const char* refusal = nullptr;

  bool saysInvocations() const {
    return reads != RowReads::None && reads != RowReads::Held && reads != RowReads::Twice;
  }
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
    case RowReads::HeldBy512:
      return Form::RowsOf512;
    case RowReads::HeldBy1024:
      return Form::RowsOf1024;
    case RowReads::Twice:
      return Form::LongRows;
    default:
      return Form::Rows;
  }
}

// ... of FLOAT32 that may be read or stored as FLOAT16. Rows that are read twice have none.
template <class Form>
constexpr Form castFormOf(RowReads reads) {
  switch (reads) {
    case RowReads::HeldShort:
      return Form::CastShortRows;
    case RowReads::HeldWide:
      return Form::CastWideRows;
    default:
      return Form::CastRows;
  }
}

// Whether an operand's elements along a row of `reduced` are its neighbours, and rows begin with a vector of `number`.
bool isInVectors(uint32_t number, const Walk& kept, const Walk& reduced, uint32_t operand);

// For rows of operands 0 and 1, both in vectors.
VectorRows chooseVectorRows(DataType type, const Walk& kept, const Walk& reduced, const Target& target);

// Whether rows of FLOAT32 that are chosen may be read or stored as FLOAT16: where workgroups hold them, and modules are
// SPIR-V.
inline bool mayCast(const VectorRows& chosen, const Caps& caps) {
  return chosen.reads != RowReads::None && chosen.reads != RowReads::Twice && caps.maxInvocations != 0;
}

inline Error noCasts() { return {ErrorCode::Unsupported, "No kernel casts its rows."}; }

// An operator of FLOAT32 whose first input and output are of other types, FLOAT16, which its kernel casts. `factor`, if
// it is present(), is FLOAT16, and multiplies results once they are FLOAT16. No value if it has no such kernel.
std::optional<Operation> withCasts(const Operation& op, const Tensor& input, const Tensor& output,
                                   const Tensor& factor = {});
std::optional<Operation> normalizationWithCasts(const Operation& op, const Tensor& input, const Tensor& output,
                                                const Tensor& factor);
std::optional<Operation> reductionWithCasts(const Operation& op, const Tensor& input, const Tensor& output);
std::optional<Operation> softmaxWithCasts(const Operation& op, const Tensor& input, const Tensor& output);

}  // namespace dimple
