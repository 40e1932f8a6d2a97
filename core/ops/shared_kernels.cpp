#include "core/ops/shared_kernels.h"

namespace dimple {

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

}  // namespace dimple
