// When which bytes of a temporary or persistent resource hold what.
#include <algorithm>
#include <map>
#include <utility>

#include "clients/dimple/plan_account.h"

namespace dimple::tool {
namespace {

struct Block {
  std::string label;  // of the dispatch that made it
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t pitch = 0;  // of the rows that are written, of tensors that are joined
  size_t first = 0;
  size_t last = 0;
  bool ended = false;  // other bytes lie there since

  uint64_t end() const { return offset + bytes; }
  bool overlaps(const BufferRange& range) const { return offset < range.offset + range.bytes && range.offset < end(); }
};

// Whether a range stands in for an absent operand: kernels have a word of another operand bound there.
bool standsIn(const BufferRange& range, const Dispatch& dispatch) {
  return range.bytes <= 4 && std::ranges::any_of(dispatch.buffers, [&](const BufferRange& other) {
           return other.kind == range.kind && other.bytes > range.bytes && other.offset <= range.offset &&
                  range.offset < other.offset + other.bytes;
         });
}

// Follows dispatches in order.
class Blocks {
 public:
  void read(const BufferRange& range, size_t dispatch) {
    for (Block& block : blocks_)
      if (!block.ended && block.overlaps(range)) block.last = dispatch;
  }

  // Parts of one tensor that several dispatches write are one block: those that continue a dispatch, and those that
  // write other rows of the same pitch.
  void write(const BufferRange& range, size_t dispatch, const Dispatch& by) {
    for (Block& block : blocks_) {
      if (block.ended || !block.overlaps(range)) continue;
      const bool isPart =
          (by.continues && block.last + 1 >= dispatch) || (range.rows.pitch && range.rows.pitch == block.pitch);
      if (!isPart) {
        block.ended = true;
        continue;
      }
      const uint64_t end = std::max(block.end(), range.offset + range.bytes);
      block.offset = std::min(block.offset, range.offset);
      block.bytes = end - block.offset;
      block.last = dispatch;
      return;
    }
    blocks_.push_back({by.label, range.offset, range.bytes, range.rows.pitch, dispatch, dispatch});
  }

  const std::vector<Block>& all() const { return blocks_; }

 private:
  std::vector<Block> blocks_;
};

}  // namespace

Json temporaryBlocks(std::span<const Dispatch> dispatches) {
  Blocks blocks;
  for (size_t d = 0; d < dispatches.size(); ++d) {
    for (const BufferRange& range : dispatches[d].buffers)
      if (range.kind == SlotKind::Temporary && !range.writes && !standsIn(range, dispatches[d])) blocks.read(range, d);
    for (const BufferRange& range : dispatches[d].buffers)
      if (range.kind == SlotKind::Temporary && range.writes && !standsIn(range, dispatches[d]))
        blocks.write(range, d, dispatches[d]);
  }
  Json list = Json::array();
  for (const Block& block : blocks.all())
    list.push_back({{"label", block.label},
                    {"offset", block.offset},
                    {"bytes", block.bytes},
                    {"first", block.first},
                    {"last", block.last}});
  return list;
}

Json persistentBlocks(std::span<const Dispatch> dispatches) {
  std::map<uint64_t, std::pair<uint64_t, std::string>> known;  // by offset: bytes and label
  for (const Dispatch& dispatch : dispatches)
    for (const BufferRange& range : dispatch.buffers) {
      if (range.kind != SlotKind::Persistent || standsIn(range, dispatch)) continue;
      const auto at = known.try_emplace(range.offset, 0, dispatch.label).first;
      at->second.first = std::max(at->second.first, range.bytes);
    }
  std::vector<Block> sorted;
  sorted.reserve(known.size());
  for (const auto& [offset, block] : known) sorted.push_back({block.second, offset, block.first});
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Block::bytes);
  Json list = Json::array();
  for (const Block& block : sorted)
    list.push_back({{"label", block.label}, {"offset", block.offset}, {"bytes", block.bytes}});
  return list;
}

}  // namespace dimple::tool
