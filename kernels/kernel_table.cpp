#include "kernels/kernel_table.h"

namespace dimple {

const KernelInfo* findKernel(KernelId id) {
  const auto index = kernelIndex(id);
  return index ? &kernelTable()[*index] : nullptr;
}

}  // namespace dimple
