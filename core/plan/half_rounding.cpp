#include "core/plan/half_rounding.h"

#include "core/plan/kernel_call.h"
#include "kernels/interfaces/look_at_halves.h"

namespace dimple {

Dispatch lookAtHalves(const BufferRange& known) {
  const KernelCall call = kernels::LookAtHalves{.type = KernelType::F16, .known = known};
  Dispatch dispatch;
  dispatch.kernel = call.kernel;
  dispatch.push = {1, 1, 1, 0};
  dispatch.buffers = call.buffers;
  dispatch.groupSize = kHalfAnswers;
  return dispatch;
}

}  // namespace dimple
