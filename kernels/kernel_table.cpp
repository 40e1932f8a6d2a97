#include "kernels/kernel_table.h"

#include <algorithm>

namespace dimple {

const KernelInfo* findKernel(std::string_view name) {
  const auto table = kernelTable();
  const auto found = std::ranges::lower_bound(table, name, {}, &KernelInfo::name);
  return found != table.end() && found->name == name ? &*found : nullptr;
}

}  // namespace dimple
