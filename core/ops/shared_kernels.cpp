#include "core/ops/shared_kernels.h"

namespace dimple {
namespace {

bool isLongActivation(DML_OPERATOR_TYPE type) {
  switch (type) {
#define LONG_ACTIVATION(type, value) case type:
#define SHORT_ACTIVATION(type, value)
#include "kernels/common/activation_list.glsl"
#undef LONG_ACTIVATION
#undef SHORT_ACTIVATION
    return true;
    default:
      return false;
  }
}

}  // namespace

bool activatesApart(const Target& target, DML_OPERATOR_TYPE activation) {
  return sharesKernels(target) && isLongActivation(activation);
}

}  // namespace dimple
