#include "core/plan.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>

#include "core/text.h"

namespace dimple {
namespace {

// Bytes of buffers.
class TouchedBytes {
 public:
  void add(const BufferRange& range) {
    Place begin = beginOf(range);
    uint64_t end = range.offset + range.bytes;
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.begin() && touches(std::prev(next), begin)) begin = (--next)->first;
    while (next != ranges_.end() && isWithin(next, begin, end)) {
      end = std::max(end, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace_hint(next, begin, end);
  }
  bool overlaps(const BufferRange& range) const {
    const Place begin = beginOf(range);
    const auto next = ranges_.upper_bound(begin);
    if (next != ranges_.end() && sameBuffer(next->first, begin) && next->first.offset < range.offset + range.bytes)
      return true;
    if (next == ranges_.begin()) return false;
    const auto before = std::prev(next);
    return sameBuffer(before->first, begin) && before->second > range.offset;
  }
  void clear() { ranges_.clear(); }

 private:
  struct Place {
    SlotKind kind;
    uint32_t index;
    uint64_t offset;
    auto operator<=>(const Place&) const = default;
  };
  using Ranges = std::map<Place, uint64_t>;  // to the end; none overlap or touch

  static Place beginOf(const BufferRange& range) { return {range.kind, range.index, range.offset}; }
  static bool sameBuffer(const Place& a, const Place& b) { return a.kind == b.kind && a.index == b.index; }
  static bool touches(Ranges::const_iterator before, const Place& place) {
    return sameBuffer(before->first, place) && before->second >= place.offset;
  }
  static bool isWithin(Ranges::const_iterator next, const Place& begin, uint64_t end) {
    return sameBuffer(next->first, begin) && next->first.offset <= end;
  }

  Ranges ranges_;
};

void appendDispatch(std::string& out, const Dispatch& d) {
  static constexpr std::string_view kKinds[] = {"input", "output", "temporary", "persistent"};
  if (d.barrierBefore) out += "  barrier\n";
  out += cat("  ", markerOf(d));
  for (const auto& s : d.specialization) out += cat(" spec", s.id, "=", s.value);
  out += cat(" groups=", d.groups[0], "x", d.groups[1], "x", d.groups[2], " push=[");
  for (size_t i = 0; i < d.push.size(); ++i) out += cat(i ? " " : "", d.push[i]);
  out += cat("] parameters@", d.parameterOffset);
  for (const auto& b : d.buffers)
    out += cat(" ", kKinds[static_cast<size_t>(b.kind)], b.index, b.writes ? ":rw" : ":r", "+", b.offset, "/", b.bytes);
  out += d.continues ? " continues\n" : "\n";
}

}  // namespace

std::string_view featureName(Feature feature) {
  switch (feature) {
    case Feature::Int8:
      return "8-bit integer arithmetic (shaderInt8)";
    case Feature::Int16:
      return "16-bit integer arithmetic (shaderInt16)";
    case Feature::Int64:
      return "64-bit integer arithmetic (shaderInt64)";
    case Feature::Float16:
      return "16-bit floating-point arithmetic (shaderFloat16)";
    case Feature::Float64:
      return "64-bit floating-point arithmetic (shaderFloat64)";
    case Feature::Storage8:
      return "8-bit storage (storageBuffer8BitAccess)";
    case Feature::Storage16:
      return "16-bit storage (storageBuffer16BitAccess)";
    case Feature::SubgroupBasic:
      return "basic subgroup operations";
    case Feature::SubgroupVote:
      return "subgroup votes";
    case Feature::SubgroupArithmetic:
      return "subgroup arithmetic";
    case Feature::SubgroupBallot:
      return "subgroup ballots";
    case Feature::SubgroupShuffle:
      return "subgroup shuffles";
    case Feature::CooperativeMatrix:
      return "cooperative matrices (cooperativeMatrix)";
    case Feature::MemoryModel:
      return "the Vulkan memory model (vulkanMemoryModel)";
  }
  return "a feature that Dimple does not use";
}

std::string markerOf(const Dispatch& dispatch) {
  return dispatch.label.empty() ? dispatch.kernel : cat(dispatch.label, ": ", dispatch.kernel);
}

uint32_t Plan::descriptorCount(std::span<const Dispatch> dispatches) {
  size_t count = 0;
  for (const auto& d : dispatches) count += d.buffers.size();
  return static_cast<uint32_t>(count);
}

Status checkDispatch(const Dispatch& dispatch, const KernelInterface& kernel, const Caps& caps) {
  if (kernel.bindings != dispatch.buffers.size() || kernel.groupSize != dispatch.groupSize ||
      kernel.pushWords != dispatch.push.size())
    return Error{ErrorCode::Internal,
                 cat("Kernel ", dispatch.kernel, " declares ", kernel.bindings, " bindings, ", kernel.pushWords,
                     " push words and ", kernel.groupSize, " invocations; its dispatch has ", dispatch.buffers.size(),
                     ", ", dispatch.push.size(), " and ", dispatch.groupSize, ".")};
  if (const uint32_t missing = kernel.features & ~caps.features) {
    const auto feature = static_cast<Feature>(missing & (~missing + 1));  // the lowest bit
    return Error{ErrorCode::Unsupported,
                 cat("Kernel ", dispatch.kernel, " needs ", featureName(feature), ", which this device lacks.")};
  }
  return {};
}

PlanTotals totalsOf(std::span<const Dispatch> dispatches) {
  PlanTotals totals;
  for (const Dispatch& dispatch : dispatches) {
    ++totals.dispatches;
    totals.barriers += dispatch.barrierBefore;
    for (const BufferRange& range : dispatch.buffers) totals.bytes += range.bytes;
  }
  return totals;
}

std::string planText(const Plan& plan) {
  std::string out = cat("temporary ", plan.temporaryBytes, " persistent ", plan.persistentBytes, " parameters ",
                        plan.parameters.size() * 4, "\n");
  if (!plan.initialization.empty()) {
    out += plan.initializationBytes ? cat("initialize, temporary ", plan.initializationBytes, "\n") : "initialize\n";
    for (const auto& d : plan.initialization) appendDispatch(out, d);
  }
  out += "execute\n";
  for (const auto& d : plan.execution) appendDispatch(out, d);
  return out;
}

std::string passedOverText(const Plan& plan) {
  std::string out;
  for (const PassedOver& p : plan.passedOver) {
    out += cat("  not ", p.kernel);
    if (p.tile[0] != 0) out += cat(" in tiles of ", p.tile[0], " x ", p.tile[1]);
    out += cat(": ", p.reason, "\n");
  }
  return out;
}

void deriveBarriers(std::span<Dispatch> dispatches, bool aliased) {
  // Since the last barrier.
  TouchedBytes written, touched;
  bool readsInput = false;
  bool writesOutput = false;
  const auto waits = [&](const BufferRange& now) {
    if ((now.writes ? touched : written).overlaps(now)) return true;
    if (!aliased) return false;
    return now.kind == SlotKind::Input ? writesOutput : now.kind == SlotKind::Output && now.writes && readsInput;
  };
  for (Dispatch& dispatch : dispatches) {
    if (dispatch.continues) continue;
    dispatch.barrierBefore = std::ranges::any_of(dispatch.buffers, waits);
    if (dispatch.barrierBefore) {
      written.clear();
      touched.clear();
      readsInput = writesOutput = false;
    }
    for (const BufferRange& range : dispatch.buffers) {
      touched.add(range);
      if (range.writes) written.add(range);
      readsInput |= range.kind == SlotKind::Input;
      writesOutput |= range.kind == SlotKind::Output && range.writes;
    }
  }
}

}  // namespace dimple
