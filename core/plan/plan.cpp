#include "core/plan/plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "core/checked.h"
#include "core/text.h"

namespace dimple {
namespace {

// Whole numbers, in intervals.
class Intervals {
 public:
  void add(uint64_t begin, uint64_t end) {
    auto next = all_.lower_bound(begin);
    if (next != all_.begin() && std::prev(next)->second >= begin) begin = (--next)->first;
    while (next != all_.end() && next->first <= end) {
      end = std::max(end, next->second);
      next = all_.erase(next);
    }
    all_.emplace_hint(next, begin, end);
  }
  bool overlap(uint64_t begin, uint64_t end) const {
    const auto next = all_.lower_bound(end);
    return next != all_.begin() && std::prev(next)->second > begin;
  }
  void add(const Intervals& others) {
    for (const auto& [begin, end] : others.all_) add(begin, end);
  }

 private:
  std::map<uint64_t, uint64_t> all_;  // from the first to behind the last; none overlap or touch
};

// Bytes of a buffer.
class TouchedBytes {
 public:
  void add(const BufferRange& range) {
    auto [begin, end] = boundsOf(range);
    Rowed rowed{end, range.rows.pitch, {}};
    auto next = firstOverlapping(begin);
    if (rowed.pitch == 0 || hasOtherPitch(next, end, rowed.pitch)) {
      whole_.add(begin, end);
      return;
    }
    for (; next != rowed_.end() && next->first < end; next = rowed_.erase(next)) {
      begin = std::min(begin, next->first);
      rowed.end = std::max(rowed.end, next->second.end);
      rowed.phases.add(next->second.phases);
    }
    eachPhase(range.rows, [&](uint64_t from, uint64_t to) { rowed.phases.add(from, to); });
    rowed_.emplace_hint(next, begin, std::move(rowed));
  }
  bool overlap(const BufferRange& range) const {
    const auto [begin, end] = boundsOf(range);
    if (whole_.overlap(begin, end)) return true;
    auto next = firstOverlapping(begin);
    if (hasOtherPitch(next, end, range.rows.pitch)) return true;
    bool found = false;
    for (; next != rowed_.end() && next->first < end; ++next)
      eachPhase(range.rows, [&](uint64_t from, uint64_t to) { found |= next->second.phases.overlap(from, to); });
    return found;
  }

 private:
  // Ranges with rows of one pitch, and what is touched of each pitch.
  struct Rowed {
    uint64_t end;
    uint32_t pitch;
    Intervals phases;
  };
  using AllRowed = std::map<uint64_t, Rowed>;  // by the first byte; none overlap

  AllRowed::const_iterator firstOverlapping(uint64_t begin) const {
    const auto next = rowed_.lower_bound(begin);
    return next != rowed_.begin() && std::prev(next)->second.end > begin ? std::prev(next) : next;
  }
  // The part of a range that is touched.
  static std::pair<uint64_t, uint64_t> boundsOf(const BufferRange& range) {
    const Rows& rows = range.rows;
    const uint64_t end = range.offset + range.bytes;
    if (rows.bytes == 0) return {range.offset, end};
    const uint64_t begin = std::max(range.offset, rows.first);
    return {begin, rows.pitch ? end : std::max(begin, std::min(end, rows.first + rows.bytes))};
  }
  template <class Visit>
  static void eachPhase(const Rows& rows, const Visit& visit) {
    const uint64_t from = rows.first % rows.pitch;
    const uint64_t to = from + rows.bytes;
    visit(from, std::min<uint64_t>(to, rows.pitch));
    if (to > rows.pitch) visit(0, to - rows.pitch);
  }
  bool hasOtherPitch(AllRowed::const_iterator next, uint64_t end, uint32_t pitch) const {
    for (; next != rowed_.end() && next->first < end; ++next)
      if (next->second.pitch != pitch) return true;
    return false;
  }

  Intervals whole_;
  AllRowed rowed_;
};

// Bytes of all buffers.
class TouchedBuffers {
 public:
  void add(const BufferRange& range) { buffers_[{range.kind, range.index}].add(range); }
  bool overlap(const BufferRange& range) const {
    const auto found = buffers_.find({range.kind, range.index});
    return found != buffers_.end() && found->second.overlap(range);
  }
  void clear() { buffers_.clear(); }

 private:
  std::map<std::pair<SlotKind, uint32_t>, TouchedBytes> buffers_;
};

void appendDispatch(std::string& out, const Dispatch& d) {
  static constexpr std::string_view kKinds[] = {"input", "output", "temporary", "persistent"};
  if (d.barrierBefore) out += "  barrier\n";
  out += cat("  ", markerOf(d));
  for (const auto& s : d.specialization) out += cat(" spec", s.id, "=", s.value);
  out += cat(" groups=", d.groups[0], "x", d.groups[1], "x", d.groups[2], " push=[");
  for (size_t i = 0; i < d.push.size(); ++i) out += cat(i ? " " : "", d.push[i]);
  out += cat("] parameters@", d.parameterOffset);
  for (const auto& b : d.buffers) {
    out += cat(" ", kKinds[static_cast<size_t>(b.kind)], b.index, b.writes ? ":rw" : ":r", "+", b.offset, "/", b.bytes);
    if (b.rows.bytes != 0) out += cat("(", b.rows.first, "/", b.rows.bytes, ")");
    if (b.rows.pitch != 0) out += cat("*", b.rows.pitch);
  }
  out += d.continues ? " continues\n" : "\n";
}

}  // namespace

std::string_view featureName(Feature feature) {
  static constexpr std::pair<Feature, std::string_view> kNames[] = {
      {Feature::Int8, "8-bit integer arithmetic (shaderInt8)"},
      {Feature::Int16, "16-bit integer arithmetic (shaderInt16)"},
      {Feature::Int64, "64-bit integer arithmetic (shaderInt64)"},
      {Feature::Float16, "16-bit floating-point arithmetic (shaderFloat16)"},
      {Feature::Float64, "64-bit floating-point arithmetic (shaderFloat64)"},
      {Feature::Storage8, "8-bit storage (storageBuffer8BitAccess)"},
      {Feature::Storage16, "16-bit storage (storageBuffer16BitAccess)"},
      {Feature::SubgroupBasic, "basic subgroup operations"},
      {Feature::SubgroupVote, "subgroup votes"},
      {Feature::SubgroupArithmetic, "subgroup arithmetic"},
      {Feature::SubgroupBallot, "subgroup ballots"},
      {Feature::SubgroupShuffle, "subgroup shuffles"},
      {Feature::CooperativeMatrix, "cooperative matrices (cooperativeMatrix)"},
      {Feature::MemoryModel, "the Vulkan memory model (vulkanMemoryModel)"},
      {Feature::DotProduct, "integer dot products (shaderIntegerDotProduct)"},
      {Feature::Push8, "8-bit push words (storagePushConstant8)"},
      {Feature::Push16, "16-bit push words (storagePushConstant16)"},
  };
  const auto found = std::ranges::find(kNames, feature, [](const auto& row) { return row.first; });
  return found == std::end(kNames) ? "a feature that Dimple does not use" : found->second;
}

Rows rowsOf(std::vector<std::pair<uint64_t, uint32_t>> dimensions, uint64_t start, uint32_t bits) {
  std::erase_if(dimensions, [](const auto& dimension) { return dimension.first == 0 || dimension.second == 1; });
  std::ranges::sort(dimensions);
  // Elements from the first to the last, of a row and of all; a pitch of 0 as long as none are left out.
  uint64_t row = 0, all = 1, pitch = 0;
  bool even = true;
  for (const auto& [stride, size] : dimensions) {
    if (pitch == 0 && stride > all) {
      row = all;
      pitch = stride;
    }
    even &= pitch == 0 || stride % pitch == 0;
    all += stride * (size - 1);
  }
  // In words, because kernels store elements of fewer bits by changing a word.
  const uint64_t first = start / 32;
  const auto wordsOf = [&](uint64_t elements) { return divideUp(start + elements * bits, 32) - first; };
  const uint64_t pitchWords = pitch * bits / 32;
  if (even && pitch * bits % 32 == 0 && wordsOf(row) < pitchWords && pitchWords <= UINT32_MAX / 4)
    return {first * 4, static_cast<uint32_t>(wordsOf(row) * 4), static_cast<uint32_t>(pitchWords * 4)};
  return wordsOf(all) <= UINT32_MAX / 4 ? Rows{first * 4, static_cast<uint32_t>(wordsOf(all) * 4), 0} : Rows{};
}

std::string markerOf(const Dispatch& dispatch) {
  const std::string_view kernel = kernelName(dispatch.kernel);
  return dispatch.label.empty() ? std::string(kernel) : cat(dispatch.label, ": ", kernel);
}

uint32_t Plan::descriptorCount(std::span<const Dispatch> dispatches) {
  size_t count = 0;
  for (size_t i = 0; i < dispatches.size(); ++i)
    if (!sharesDescriptors(dispatches, i)) count += dispatches[i].buffers.size();
  return static_cast<uint32_t>(count);
}

bool Plan::sharesDescriptors(std::span<const Dispatch> dispatches, size_t index) {
  return index > 0 &&
         std::ranges::equal(
             dispatches[index - 1].buffers, dispatches[index].buffers, [](const BufferRange& a, const BufferRange& b) {
               return std::tie(a.kind, a.index, a.offset, a.bytes) == std::tie(b.kind, b.index, b.offset, b.bytes);
             });
}

uint32_t groupSizeOf(std::span<const Specialization> specialization, uint32_t declared) {
  const auto invocations = std::ranges::find(specialization, kInvocationsId, &Specialization::id);
  return invocations == specialization.end() ? declared : invocations->value;
}

Status checkDispatch(const Dispatch& dispatch, const KernelInterface& kernel, const Caps& caps) {
  const std::string_view name = kernelName(dispatch.kernel);
  const uint32_t groupSize = groupSizeOf(dispatch.specialization, kernel.groupSize);
  if (kernel.bindings != dispatch.buffers.size() || groupSize != dispatch.groupSize ||
      kernel.pushWords != dispatch.push.size())
    return Error{ErrorCode::Internal,
                 cat("Kernel ", name, " declares ", kernel.bindings, " bindings, ", kernel.pushWords,
                     " push words and ", groupSize, " invocations; its dispatch has ", dispatch.buffers.size(), ", ",
                     dispatch.push.size(), " and ", dispatch.groupSize, ".")};
  for (uint32_t i = 0; i < kernel.bindings; ++i) {
    const bool writes = dispatch.buffers[i].writes;
    if ((writes ? kernel.writtenBindings : kernel.readBindings) >> i & 1) continue;
    return Error{ErrorCode::Internal, cat("Kernel ", name, " only ", writes ? "reads" : "writes", " binding ", i,
                                          "; its dispatch says that it ", writes ? "writes" : "reads", " it.")};
  }
  if (const uint32_t missing = kernel.features & ~caps.features) {
    const auto feature = static_cast<Feature>(missing & (~missing + 1));  // the lowest bit
    return Error{ErrorCode::Unsupported,
                 cat("Kernel ", name, " needs ", featureName(feature), ", which this device lacks.")};
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
  // What was touched since the last barrier.
  TouchedBuffers written, touched;
  bool readsInput = false;
  bool writesOutput = false;
  const auto waits = [&](const BufferRange& now) {
    if ((now.writes ? touched : written).overlap(now)) return true;
    if (!aliased) return false;
    return now.kind == SlotKind::Input ? writesOutput : now.kind == SlotKind::Output && now.writes && readsInput;
  };
  for (Dispatch& dispatch : dispatches) {
    // A dispatch that continues another one waits for the same dispatches as the first. Later dispatches wait for what
    // it touches.
    if (!dispatch.continues) dispatch.barrierBefore = std::ranges::any_of(dispatch.buffers, waits);
    if (!dispatch.continues && dispatch.barrierBefore) {
      written.clear();
      touched.clear();
      readsInput = writesOutput = false;
    }
    for (const BufferRange& range : dispatch.buffers) {
      // Nothing writes inputs.
      if (range.kind != SlotKind::Input) touched.add(range);
      if (range.writes) written.add(range);
      readsInput |= range.kind == SlotKind::Input;
      writesOutput |= range.kind == SlotKind::Output && range.writes;
    }
  }
}

}  // namespace dimple
