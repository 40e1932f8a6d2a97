#include "core/graph/warm_ups.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/checked.h"
#include "core/directml.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint64_t kCacheBytes = 64 << 20;
constexpr size_t kMinPipelines = 10;
constexpr double kMinWorkBeside = 1 << 28;  // multiply-adds: beside less, a warm-up takes longer than what it saves
constexpr double kMaxWork = 1 << 15;        // of a workgroup that ends soon without Dispatch::brief
constexpr size_t kMostBarriers = 3;         // between a warm-up and its dispatch
constexpr uint64_t kMaxWrittenBytes = 32 << 20;  // by warm-ups between two barriers

uint64_t groupsOf(const Dispatch& dispatch) {
  return uint64_t{dispatch.groups[0]} * dispatch.groups[1] * dispatch.groups[2];
}

// The first dispatches of all pipelines.
std::vector<size_t> firstOfPipelines(std::span<const Dispatch> dispatches) {
  using Constants = std::vector<std::pair<uint32_t, uint32_t>>;
  std::set<std::tuple<size_t, Constants, std::vector<uint32_t>>> seen;
  std::vector<size_t> firsts;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const Dispatch& dispatch = dispatches[i];
    Constants constants;
    for (const Specialization& s : dispatch.specialization) constants.emplace_back(s.id, s.value);
    if (seen.emplace(kernelIndex(dispatch.kernel).value(), std::move(constants), dispatch.fixed).second)
      firsts.push_back(i);
  }
  return firsts;
}

// Whether the workgroups of a dispatch run all at once.
bool isSmall(std::span<const Dispatch> dispatches, size_t i, const Caps& caps) {
  const bool hasParts = i + 1 < dispatches.size() && dispatches[i + 1].continues;
  return !hasParts && !dispatches[i].continues && groupsOf(dispatches[i]) <= caps.workgroups;
}

// Where the dispatches that stand between the same two barriers begin.
class Intervals {
 public:
  explicit Intervals(std::span<const Dispatch> dispatches) {
    for (size_t i = 0; i < dispatches.size(); ++i)
      if (i == 0 || dispatches[i].barrierBefore) begins_.push_back(i);
  }
  // Of the intervals before that of a dispatch, the last `most` at most and without the first of all, in order.
  std::span<const size_t> beginsBefore(size_t dispatch, size_t most) const {
    const auto own = static_cast<size_t>(std::ranges::upper_bound(begins_, dispatch) - begins_.begin() - 1);
    const size_t count = std::min(std::max<size_t>(own, 1) - 1, most);
    return std::span(begins_).subspan(own - count, count);
  }

 private:
  std::vector<size_t> begins_;
};

// The multiply-adds of the dispatches from one to the next barrier.
double workFrom(std::span<const Dispatch> dispatches, size_t begin) {
  double work = dispatches[begin].work;
  for (size_t i = begin + 1; i < dispatches.size() && !dispatches[i].barrierBefore; ++i) work += dispatches[i].work;
  return work;
}

bool endsSoon(const Dispatch& dispatch) {
  return !dispatch.brief.empty() || dispatch.work <= kMaxWork * static_cast<double>(groupsOf(dispatch));
}

// The dispatch before which a warm-up of another one comes, if there is one beside which it gains: of workgroups that
// are not brief, a product that could be. Without estimates, one barrier ahead.
std::optional<size_t> placeFor(std::span<const Dispatch> dispatches, size_t dispatch, const Intervals& intervals,
                               bool estimates) {
  const auto before = intervals.beginsBefore(dispatch, estimates ? kMostBarriers : 1);
  const auto gains = [&](size_t begin) {
    if (!estimates) return true;
    const bool hasBrief = !dispatches[dispatch].brief.empty() || !dispatches[begin].brief.empty();
    return hasBrief && workFrom(dispatches, begin) >= kMinWorkBeside;
  };
  if (estimates && !endsSoon(dispatches[dispatch])) return {};
  const auto last = std::ranges::find_if(before.rbegin(), before.rend(), gains);
  return last == before.rend() ? std::nullopt : std::optional(*last);
}

class WarmUps {
 public:
  explicit WarmUps(Plan& plan) : plan_(plan), ownBytes_(alignUp(plan.temporaryBytes, DML_TEMPORARY_BUFFER_ALIGNMENT)) {}

  // One of a dispatch, after a barrier if `before` begins with one. Those before the same dispatch are added one after
  // another.
  void add(size_t dispatch, size_t before) {
    if (added_.empty() || added_.back().first != before) writtenBytes_ = 0;
    if (auto warmUp = detached(plan_.execution[dispatch])) added_.emplace_back(before, std::move(*warmUp));
  }

  void insert() {
    // From the last to the first, so that places stay valid. The first of those at one place takes over the barrier.
    for (auto next = added_.rbegin(); next != added_.rend(); ++next) {
      auto& [before, warmUp] = *next;
      warmUp.barrierBefore = std::exchange(plan_.execution[before].barrierBefore, false);
      plan_.execution.insert(plan_.execution.begin() + static_cast<ptrdiff_t>(before), std::move(warmUp));
    }
  }

 private:
  // A workgroup that neither waits for other dispatches nor writes what they read. None if there are too few persistent
  // bytes to read, or too many to write.
  std::optional<Dispatch> detached(Dispatch dispatch) {
    uint64_t written = writtenBytes_;
    for (BufferRange& range : dispatch.buffers) {
      if (range.writes) {
        range = {SlotKind::Temporary, 0, ownBytes_ + written, range.bytes, true};
        written = alignUp(written + range.bytes, DML_TEMPORARY_BUFFER_ALIGNMENT);
      } else if (range.kind == SlotKind::Temporary || range.kind == SlotKind::Output) {
        if (range.bytes > plan_.persistentBytes) return {};
        range = {SlotKind::Persistent, 0, 0, range.bytes, false};
      }
    }
    if (written > kMaxWrittenBytes) return {};
    writtenBytes_ = written;
    plan_.temporaryBytes = std::max(plan_.temporaryBytes, ownBytes_ + written);
    dispatch.label = cat(dispatch.label, " (warm-up)");
    dispatch.work /= static_cast<double>(groupsOf(dispatch));
    dispatch.groups = {1, 1, 1};
    dispatch.continues = false;
    if (!dispatch.brief.empty()) std::ranges::copy(dispatch.brief, dispatch.push.end() - std::ssize(dispatch.brief));
    return dispatch;
  }

  Plan& plan_;
  const uint64_t ownBytes_;                         // where temporary memory of warm-ups begins
  uint64_t writtenBytes_ = 0;                       // of it, by those before the same dispatch
  std::vector<std::pair<size_t, Dispatch>> added_;  // by the dispatch before which they come
};

}  // namespace

void addWarmUps(Plan& plan, std::span<const size_t> numbersOnly, const Target& target) {
  const auto& execution = plan.execution;
  const bool asked = target.caps.coldCode || !target.options.estimates;
  if (!target.options.warmUps || !asked || execution.empty()) return;
  const std::vector<size_t> firsts = firstOfPipelines(execution);
  const auto small = std::ranges::count_if(firsts, [&](size_t i) { return isSmall(execution, i, target.caps); });
  const bool atOnce = target.options.estimates && static_cast<size_t>(small) * 4 >= firsts.size() * 3;
  if (target.options.estimates && (firsts.size() < kMinPipelines || totalsOf(execution).bytes < kCacheBytes)) return;
  const Intervals intervals(execution);
  std::vector<std::pair<size_t, size_t>> places;  // the dispatch before which a warm-up comes, and its own
  for (const size_t i : firsts) {
    if (!std::ranges::binary_search(numbersOnly, i)) continue;
    if (atOnce) {
      if (i > 0 && isSmall(execution, i, target.caps)) places.emplace_back(0, i);
    } else if (const auto before = placeFor(execution, i, intervals, target.options.estimates)) {
      places.emplace_back(*before, i);
    }
  }
  std::ranges::sort(places);
  WarmUps warmUps(plan);
  for (const auto& [before, i] : places) warmUps.add(i, before);
  warmUps.insert();
}

}  // namespace dimple
