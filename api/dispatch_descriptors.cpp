#include "api/dispatch_descriptors.h"

namespace dimple::api {

DispatchDescriptors::DispatchDescriptors(std::span<const Dispatch> dispatches) {
  for (uint32_t d = 0; d < dispatches.size(); ++d) {
    if (Plan::sharesDescriptors(dispatches, d)) continue;
    for (uint32_t b = 0; b < dispatches[d].buffers.size(); ++b) {
      const BufferRange& range = dispatches[d].buffers[b];
      byKind_[static_cast<size_t>(range.kind)].push_back({d, b, range.index, range.offset, range.bytes});
    }
  }
}

uint32_t DispatchDescriptors::count() const {
  size_t count = 0;
  for (const auto& descriptors : byKind_) count += descriptors.size();
  return static_cast<uint32_t>(count);
}

}  // namespace dimple::api
