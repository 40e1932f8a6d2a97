#include "clients/dimple/bench_contents.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "clients/files/failure.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// A multiple of the ranges that take turns and no power of two, so that rows differ.
constexpr uint64_t kPeriod = 256 * 4095;

// The finalizer of SplitMix64.
uint64_t randomBits(size_t input, uint64_t element) {
  uint64_t bits = (element * 16 + input + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

uint64_t elementBits(DataType type, double value) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      return halfBits(value);
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      return std::bit_cast<uint64_t>(value);
    default:
      return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

struct Range {
  double low, high;

  double at(DataType type, uint64_t bits) const {
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
    return isFloat(type) ? low + (high - low) * unit : std::floor(low + (high - low + 1) * unit);
  }
};

double numberOf(std::string_view text, std::string_view rule) {
  const auto number = parseNumber<double>(text);
  if (!number) throw RunError(cat("\"", rule, "\" is not a rule for contents."));
  return *number;
}

std::vector<Range> rangesOf(std::string_view rule) {
  std::vector<Range> ranges;
  for (std::string_view rest = rule; !rest.empty();) {
    const std::string_view range = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), range.size() + 1));
    const size_t colon = std::min(range.find(':'), range.size());
    ranges.push_back(
        {numberOf(range.substr(0, colon), rule), numberOf(range.substr(std::min(range.size(), colon + 1)), rule)});
  }
  return ranges;
}

// Each number below `count` once: a step without a common divisor.
uint64_t stepThrough(uint64_t count) {
  uint64_t step = count * 5 / 8 + 1;
  while (std::gcd(step, count) > 1) ++step;
  return step;
}

// A number that a rule names behind a word; 0: it names another.
uint64_t behind(std::string_view rule, std::string_view word) {
  return rule.starts_with(word) ? static_cast<uint64_t>(numberOf(rule.substr(word.size()), rule)) : 0;
}

std::vector<std::byte> makePeriod(const BenchContents::Key& key, uint64_t bytes) {
  const uint32_t width = std::max(1u, bitWidth(key.type) / 8);
  const uint64_t count = behind(key.rule, "order:");
  const uint64_t ramp = behind(key.rule, "ramp:");
  const uint64_t step = count ? stepThrough(count) : 0;
  const bool isRandom = !count && !ramp;
  const bool anyBits = isRandom && key.rule.empty() && !isFloat(key.type);
  const std::vector<Range> ranges =
      isRandom && !anyBits ? rangesOf(key.rule.empty() ? "-1:1" : key.rule) : std::vector<Range>();
  const uint64_t elements = (bytes + width - 1) / width;
  const uint64_t period = count ? count : ramp ? elements : kPeriod;
  std::vector<std::byte> values(static_cast<size_t>(std::min(elements, period) * width));
  for (uint64_t i = 0; i < values.size() / width; ++i) {
    const uint64_t random = isRandom ? randomBits(key.input, i) : 0;
    const uint64_t bits = count     ? i * step % count
                          : ramp    ? i * ramp
                          : anyBits ? random
                                    : elementBits(key.type, ranges[i % ranges.size()].at(key.type, random));
    std::memcpy(&values[static_cast<size_t>(i * width)], &bits, width);
  }
  return values;
}

}  // namespace

void BenchContents::reserve(const Key& key, uint64_t bytes) {
  uint64_t& known = held_[key].bytes;
  known = std::max(known, (bytes + 3) / 4 * 4);
}

BenchContents::Held& BenchContents::made(const Key& key) {
  Held& held = held_.at(key);
  if (held.period.empty()) held.period = makePeriod(key, held.bytes);
  return held;
}

ID3D12Resource* BenchContents::buffer(const Key& key) {
  Held& held = made(key);
  if (!held.buffer) {
    held.buffer = createBuffer(device_, held.bytes);
    device_.check(device_.context().Upload(held.buffer.get(), 0, held.period.data(),
                                           std::min<uint64_t>(held.period.size(), held.bytes)),
                  "A buffer cannot be uploaded");
    multiply(held);
  }
  return held.buffer.get();
}

// Doubles what is there until all is.
void BenchContents::multiply(const Held& held) const {
  for (uint64_t done = held.period.size(); done < held.bytes;) {
    const uint64_t more = std::min(done, held.bytes - done);
    Com<ID3D12Resource> copied = createBuffer(device_, more);
    Com<ID3D12GraphicsCommandList> list;
    UINT64 fence = 0;
    const auto copy = [&](ID3D12Resource* to, uint64_t at, ID3D12Resource* from) {
      device_.check(device_.context().CreateCommandList(list.put()), "A command list cannot be made");
      list->CopyBufferRegion(to, at, from, 0, more);
      device_.check(list->Close(), "A command list cannot be closed");
      device_.check(device_.context().Execute(list.get(), &fence), "The command list cannot be executed");
      device_.check(device_.context().Wait(fence), "The work did not complete");
    };
    // A buffer is not in two states at once.
    copy(copied.get(), 0, held.buffer.get());
    copy(held.buffer.get(), done, copied.get());
    done += more;
  }
}

std::vector<std::byte> BenchContents::host(const Key& key, uint64_t bytes) {
  const std::vector<std::byte>& period = made(key).period;
  std::vector<std::byte> values(static_cast<size_t>(bytes));
  for (size_t at = 0; at < values.size(); at += period.size())
    std::copy_n(period.begin(), std::min(period.size(), values.size() - at),
                values.begin() + static_cast<std::ptrdiff_t>(at));
  return values;
}

}  // namespace dimple::tool
