#include "core/plan/matrix_places.h"

#include "core/plan/kernel_call.h"
#include "kernels/interfaces/look_at_places.h"

namespace dimple {

Dispatch lookAtPlaces(const MatrixShape& shape, uint32_t subgroupSize, const BufferRange& known) {
  constexpr uint32_t kInvocations = 256;
  const KernelCall call = kernels::LookAtPlaces{.type = KernelType::U32,
                                                .spec = {.subgroup = subgroupSize,
                                                         .sizeRows = shape.rows,
                                                         .sizeColumns = shape.columns,
                                                         .sizeDepth = shape.depth,
                                                         .invocations = kInvocations},
                                                .known = known};
  Dispatch dispatch;
  dispatch.kernel = call.kernel;
  dispatch.specialization = call.specialization;
  dispatch.push = {1, 1, 1, 0};
  dispatch.buffers = call.buffers;
  dispatch.groupSize = kInvocations;
  return dispatch;
}

}  // namespace dimple
