#include "kernels/kernel_id.h"

#include <algorithm>

namespace dimple {

std::optional<size_t> kernelIndex(KernelId id) {
  const auto names = kernelNames();
  const auto found = std::ranges::lower_bound(names, id, {}, &KernelName::id);
  if (found == names.end() || found->id != id) return {};
  return static_cast<size_t>(found - names.begin());
}

std::string_view kernelName(KernelId id) {
  const auto index = kernelIndex(id);
  return index ? kernelNames()[*index].name : std::string_view();
}

std::optional<KernelId> kernelNamed(std::string_view name) {
  const auto names = kernelNames();
  const auto found = std::ranges::find(names, name, &KernelName::name);
  if (found == names.end()) return {};
  return found->id;
}

}  // namespace dimple
