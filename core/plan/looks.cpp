#include "core/plan/looks.h"

#include "core/plan/kernel_call.h"
#include "kernels/interfaces/look_at_halves.h"
#include "kernels/interfaces/look_at_places.h"

namespace dimple {
namespace {

constexpr uint32_t kInvocations = 256;

Dispatch oneGroup(const KernelCall& call) {
  Dispatch dispatch;
  dispatch.kernel = call.kernel;
  dispatch.specialization = call.specialization;
  dispatch.push = {1, 1, 1, 0};
  dispatch.buffers = call.buffers;
  dispatch.groupSize = kInvocations;
  return dispatch;
}

}  // namespace

Dispatch lookAtPlaces(const MatrixShape& shape, uint32_t subgroupSize, const BufferRange& known) {
  return oneGroup(kernels::LookAtPlaces{.type = KernelType::U32,
                                        .spec = {.subgroup = subgroupSize,
                                                 .sizeRows = shape.rows,
                                                 .sizeColumns = shape.columns,
                                                 .sizeDepth = shape.depth,
                                                 .invocations = kInvocations},
                                        .known = known});
}

Dispatch lookAtHalves(const BufferRange& known) {
  static_assert(kHalfAnswers == kInvocations);
  return oneGroup(kernels::LookAtHalves{.type = KernelType::F16, .known = known});
}

}  // namespace dimple
