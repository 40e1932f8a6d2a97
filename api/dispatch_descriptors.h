// The descriptors that dispatches bind, in the order of what they refer to.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/plan.h"

namespace dimple::api {

constexpr size_t kSlotKinds = 4;

class DispatchDescriptors {
 public:
  // A descriptor, and the part of a bound slot that it refers to.
  struct Descriptor {
    uint32_t dispatch;
    uint32_t binding;
    uint32_t slot;
    uint64_t offset;
    uint64_t bytes;
  };

  explicit DispatchDescriptors(std::span<const Dispatch> dispatches);

  std::span<const Descriptor> of(SlotKind kind) const { return byKind_[static_cast<size_t>(kind)]; }
  // How many descriptors all of them are.
  uint32_t count() const { return count_; }

 private:
  const uint32_t count_;
  std::array<std::vector<Descriptor>, kSlotKinds> byKind_;
};

}  // namespace dimple::api
