#include "tools/kernelgen/contract.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tools/kernelgen/spirv.h"

namespace kernelgen {

namespace {

constexpr uint32_t kImport = 11, kExtInst = 12, kTypeFloat = 22, kTypeVector = 23, kFunction = 54, kDecorate = 71,
                   kCompositeConstruct = 80, kNegate = 127, kAdd = 129, kSubtract = 131, kMultiply = 133,
                   kVectorTimesScalar = 142, kLabel = 248;
constexpr uint32_t kDecorationNoContraction = 42;
constexpr uint32_t kFma = 50;
constexpr size_t kBound = 3;  // word of the header

struct Product {
  uint32_t a, b;
  bool scaled;  // the second is a scalar, the first a vector
};

class Contraction {
 public:
  explicit Contraction(std::span<const uint32_t> words)
      : words_(words), result_(words.begin(), words.begin() + kHeaderWords) {}

  std::vector<uint32_t> run() {
    forEachInstruction(words_, [&](uint32_t op, std::span<const uint32_t> instruction) { note(op, instruction); });
    if (import_ == 0) return {words_.begin(), words_.end()};
    forEachInstruction(words_, [&](uint32_t op, std::span<const uint32_t> instruction) { find(op, instruction); });
    forEachInstruction(words_, [&](uint32_t op, std::span<const uint32_t> instruction) { write(op, instruction); });
    return std::move(result_);
  }

 private:
  void note(uint32_t op, std::span<const uint32_t> words) {
    switch (op) {
      case kImport:
        import_ = words[1];  // GLSL.std.450 is the only one that GLSL makes
        break;
      case kTypeFloat:
        if (words[2] == 32) components_[words[1]] = 1;
        break;
      case kTypeVector:
        if (components_.contains(words[2])) components_[words[1]] = words[3];
        break;
      case kDecorate:
        if (words[2] == kDecorationNoContraction) precise_.insert(words[1]);
        break;
      case kFunction:
        inFunctions_ = true;
        break;
      default:
        break;
    }
    // A literal counts as a use of the id that it equals, which at worst leaves a product alone.
    if (inFunctions_)
      for (size_t i = 1; i < words.size(); ++i) ++appearances_[words[i]];
  }

  // Products of a block that are read once, and the sums that read them.
  void find(uint32_t op, std::span<const uint32_t> words) {
    if (op == kLabel) products_.clear();
    if (op != kMultiply && op != kVectorTimesScalar && op != kAdd && op != kSubtract) return;
    const uint32_t id = words[2];
    if (!components_.contains(words[1]) || precise_.contains(id)) return;
    if (op == kMultiply || op == kVectorTimesScalar) {
      // Once where it is made, once where it is read.
      if (appearances_[id] == 2) products_[id] = {words[3], words[4], op == kVectorTimesScalar};
      return;
    }
    for (const size_t place : {4u, 3u}) {
      const auto found = products_.find(words[place]);
      if (found == products_.end()) continue;
      sums_[id] = found->second;
      contracted_.insert(found->first);
      return;
    }
  }

  void write(uint32_t op, std::span<const uint32_t> words) {
    const bool makesValue = (op == kMultiply || op == kVectorTimesScalar || op == kAdd || op == kSubtract);
    if (makesValue && contracted_.contains(words[2])) return;
    const auto sum = makesValue ? sums_.find(words[2]) : sums_.end();
    if (sum == sums_.end()) {
      result_.insert(result_.end(), words.begin(), words.end());
      return;
    }
    const uint32_t type = words[1];
    auto [a, b, scaled] = sum->second;
    const bool isSecond = contracted_.contains(words[4]);
    uint32_t addend = isSecond ? words[3] : words[4];
    if (scaled) {
      std::vector<uint32_t> operands(components_.at(type), b);
      b = make(kCompositeConstruct, type, operands);
    }
    if (op == kSubtract && isSecond) a = make(kNegate, type, {&a, 1});
    if (op == kSubtract && !isSecond) addend = make(kNegate, type, {&addend, 1});
    emit(kExtInst, {type, words[2], import_, kFma, a, b, addend});
  }

  uint32_t make(uint32_t op, uint32_t type, std::span<const uint32_t> operands) {
    const uint32_t id = result_[kBound]++;
    std::vector<uint32_t> rest{type, id};
    rest.insert(rest.end(), operands.begin(), operands.end());
    emit(op, rest);
    return id;
  }
  void emit(uint32_t op, const std::vector<uint32_t>& rest) {
    result_.push_back(uint32_t(rest.size() + 1) << 16 | op);
    result_.insert(result_.end(), rest.begin(), rest.end());
  }

  std::span<const uint32_t> words_;
  std::vector<uint32_t> result_;
  uint32_t import_ = 0;
  bool inFunctions_ = false;
  std::map<uint32_t, uint32_t> components_;  // of types of FLOAT32
  std::set<uint32_t> precise_;
  std::map<uint32_t, uint32_t> appearances_;
  std::map<uint32_t, Product> products_, sums_;
  std::set<uint32_t> contracted_;
};

}  // namespace

std::vector<uint32_t> contractProducts(std::span<const uint32_t> words) { return Contraction(words).run(); }

}  // namespace kernelgen
