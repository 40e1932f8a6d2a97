#include "api/dispatch_descriptors.h"

namespace dimple::api {

DispatchDescriptors::DispatchDescriptors(std::span<const Dispatch> dispatches)
    : count_(Plan::descriptorCount(dispatches)) {
  for (uint32_t d = 0; d < dispatches.size(); ++d) {
    if (Plan::sharesDescriptors(dispatches, d)) continue;
    for (uint32_t b = 0; b < dispatches[d].buffers.size(); ++b) {
      const BufferRange& range = dispatches[d].buffers[b];
      byKind_[static_cast<size_t>(range.kind)].push_back({d, b, range.index, range.offset, range.bytes});
    }
  }
}

}  // namespace dimple::api
