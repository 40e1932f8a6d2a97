#include "tests/conformance/plan_check.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/text.h"

namespace dimple::testing {
namespace {

// Bytes that were written: begins and ends of ranges that neither overlap nor touch.
class Written {
 public:
  void add(uint64_t begin, uint64_t end) {
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.begin() && std::prev(next)->second >= begin) --next;
    while (next != ranges_.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace(begin, end);
  }
  bool holds(uint64_t begin, uint64_t end) const {
    const auto next = ranges_.upper_bound(begin);
    return next != ranges_.begin() && std::prev(next)->second >= end;
  }

 private:
  std::map<uint64_t, uint64_t> ranges_;
};

}  // namespace

std::string firstUnwritten(const Plan& plan, uint64_t padding) {
  Written persistent;
  for (const bool execution : {false, true}) {
    Written temporary;
    const uint64_t temporaryBytes = execution ? plan.temporaryBytes : plan.initializationBytes;
    for (const Dispatch& dispatch : execution ? plan.execution : plan.initialization) {
      const auto wrong = [&](const BufferRange& range, const char* what) {
        return cat(markerOf(dispatch), execution ? " of the execution " : " of the initialization ", what, " (bytes ",
                   range.offset, " to ", range.offset + range.bytes, ").");
      };
      const auto writtenTo = [&](const BufferRange& range) -> Written* {
        if (range.kind == SlotKind::Persistent) return &persistent;
        return range.kind == SlotKind::Temporary ? &temporary : nullptr;
      };
      // What a kernel does not read may be bound to what it writes.
      for (const BufferRange& range : dispatch.buffers)
        if (Written* written = range.writes ? writtenTo(range) : nullptr)
          written->add(range.offset, range.offset + range.bytes);
      for (const BufferRange& range : dispatch.buffers) {
        const uint64_t end = range.offset + range.bytes;
        if (range.kind == SlotKind::Temporary && end > temporaryBytes)
          return wrong(range, "exceeds its temporary memory");
        if (range.kind == SlotKind::Persistent && end > plan.persistentBytes)
          return wrong(range, "exceeds the persistent resource");
        if (range.kind == SlotKind::Output && !execution) return wrong(range, "has an output");
        if (range.writes) {
          if (range.kind == SlotKind::Input || (range.kind == SlotKind::Persistent && execution))
            return wrong(range, "writes what it may only read");
        } else if (const Written* written = writtenTo(range);
                   written && !written->holds(range.offset, end - std::min(padding, range.bytes - 4))) {
          return wrong(range, "reads what nothing has written");
        }
      }
    }
  }
  return {};
}

}  // namespace dimple::testing
