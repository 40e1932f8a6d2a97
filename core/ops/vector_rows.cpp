#include "core/ops/vector_rows.h"

#include <algorithm>
#include <bit>

#include "core/checked.h"
#include "core/ops/elementwise.h"
#include "core/ops/shared_kernels.h"

namespace dimple {

bool isInVectors(uint32_t number, const Walk& kept, const Walk& reduced, uint32_t operand) {
  if (reduced.rank != 1 || reduced.strides[0][operand] != 1 || reduced.sizes[0] % number != 0) return false;
  for (uint32_t d = 0; d < kept.rank; ++d)
    if (kept.strides[d][operand] % number != 0) return false;
  return (kept.base[operand] + reduced.base[operand]) % number == 0;
}

VectorRows chooseVectorRows(DataType type, const Walk& kept, const Walk& reduced, const Target& target) {
  const Caps& caps = target.caps;
  const uint32_t number = vectorElements(type);
  if (!isInVectors(number, kept, reduced, 0) || !isInVectors(number, kept, reduced, 1))
    return {.refusal = "Its rows are not in vectors."};
  const auto elements = static_cast<uint32_t>(reduced.count());
  // HELD in kernels/manifest.txt.
  constexpr uint32_t kHeldShort = 8;
  constexpr uint32_t kFewestShort = 64;
  constexpr uint32_t kLeastGroup = 32;  // invocations: a subgroup of many devices
  // Below, more than half of a workgroup would be idle that is not made smaller.
  if (elements < number * kGroupSize / 2) {
    if (elements < kFewestShort || caps.maxInvocations == 0) return {.refusal = "Its rows are short."};
    const auto needed = static_cast<uint32_t>(divideUp(elements, kHeldShort));
    const uint32_t lanes = std::bit_ceil(std::max(needed, kLeastGroup));
    // Many small workgroups take long to start; few large ones leave the device idle.
    const uint64_t most = std::max<uint64_t>(kept.count() / (4 * uint64_t{caps.workgroups}), 1);
    const auto rows = static_cast<uint32_t>(std::min<uint64_t>(kGroupSize / lanes, std::bit_floor(most)));
    return {.reads = RowReads::HeldShort, .invocations = lanes * rows, .lanes = lanes};
  }
  constexpr uint32_t kHeld = 16;
  if (elements <= kHeld * kGroupSize) return {.reads = RowReads::Held};
  for (uint32_t invocations = kGroupSize; invocations <= caps.maxInvocations; invocations *= 2)
    if (elements <= kHeldWide * invocations) return {.reads = RowReads::HeldWide, .invocations = invocations};
  if (caps.maxInvocations == 0 && !sharesKernels(target)) {
    if (elements <= kHeldWide * 512) return {.reads = RowReads::HeldBy512, .invocations = 512};
    if (elements <= kHeldWide * 1024) return {.reads = RowReads::HeldBy1024, .invocations = 1024};
  }
  return {.reads = RowReads::Twice};
}

std::optional<Operation> withCasts(const Operation& op, const Tensor& input, const Tensor& output,
                                   const Tensor& factor) {
  auto normalization = normalizationWithCasts(op, input, output, factor);
  if (normalization || factor.present()) return normalization;
  if (auto reduction = reductionWithCasts(op, input, output)) return reduction;
  return softmaxWithCasts(op, input, output);
}

}  // namespace dimple
