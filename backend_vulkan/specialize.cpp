#include "backend_vulkan/specialize.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace dimple::vulkan {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kSpecId = 1;  // decoration

enum Op : uint16_t {
  OpName = 5,
  OpMemberName = 6,
  OpLine = 8,
  OpEntryPoint = 15,
  OpTypeInt = 21,
  OpConstantTrue = 41,
  OpConstantFalse = 42,
  OpConstant = 43,
  OpSpecConstantTrue = 48,
  OpSpecConstantFalse = 49,
  OpSpecConstant = 50,
  OpSpecConstantOp = 52,
  OpFunction = 54,
  OpFunctionEnd = 56,
  OpFunctionCall = 57,
  OpStore = 62,
  OpCopyMemory = 63,
  OpCopyMemorySized = 64,
  OpDecorate = 71,
  OpMemberDecorate = 72,
  OpLogicalEqual = 164,
  OpLogicalNotEqual = 165,
  OpLogicalOr = 166,
  OpLogicalAnd = 167,
  OpLogicalNot = 168,
  OpSelect = 169,
  OpIEqual = 170,
  OpINotEqual = 171,
  OpUGreaterThan = 172,
  OpUGreaterThanEqual = 174,
  OpULessThan = 176,
  OpULessThanEqual = 178,
  OpBitwiseOr = 197,
  OpBitwiseAnd = 199,
  OpControlBarrier = 224,
  OpMemoryBarrier = 225,
  OpAtomicStore = 228,
  OpPhi = 245,
  OpLoopMerge = 246,
  OpSelectionMerge = 247,
  OpLabel = 248,
  OpBranch = 249,
  OpBranchConditional = 250,
  OpSwitch = 251,
  OpKill = 252,
  OpReturn = 253,
  OpReturnValue = 254,
  OpUnreachable = 255,
  OpNoLine = 317,
  OpDecorateId = 332,
  OpCooperativeMatrixStoreKHR = 4458,
};

using Instruction = std::span<const uint32_t>;

// Words that are read of an instruction without looking at its length.
size_t wordsOf(uint16_t op) {
  switch (op) {
    case OpLabel:
    case OpBranch:
      return 2;
    case OpName:
    case OpDecorate:
    case OpDecorateId:
    case OpConstantTrue:
    case OpConstantFalse:
    case OpFunction:
    case OpPhi:
    case OpSelectionMerge:
    case OpSwitch:
      return 3;
    case OpEntryPoint:
    case OpMemberName:
    case OpMemberDecorate:
    case OpTypeInt:
    case OpConstant:
    case OpSpecConstant:
    case OpSpecConstantOp:
    case OpFunctionCall:
    case OpLoopMerge:
    case OpBranchConditional:
      return 4;
    default:
      return 1;
  }
}

uint16_t opOf(Instruction i) { return static_cast<uint16_t>(i[0] & 0xffff); }
uint32_t headOf(uint16_t op, size_t words) { return static_cast<uint32_t>(words << 16) | op; }

bool terminates(Instruction i) { return opOf(i) >= OpBranch && opOf(i) <= OpUnreachable; }

// The ID that an instruction of a function defines; 0: none.
uint32_t resultOf(Instruction i) {
  if (terminates(i)) return 0;
  switch (opOf(i)) {
    case OpLabel:
      return i[1];
    case OpLine:
    case OpNoLine:
    case OpFunctionEnd:
    case OpStore:
    case OpCopyMemory:
    case OpCopyMemorySized:
    case OpControlBarrier:
    case OpMemoryBarrier:
    case OpAtomicStore:
    case OpCooperativeMatrixStoreKHR:
    case OpLoopMerge:
    case OpSelectionMerge:
      return 0;
    default:
      return i.size() > 2 ? i[2] : 0;
  }
}

// The instruction about whose ID an annotation speaks, which goes with it.
bool annotates(uint16_t op) {
  return op == OpName || op == OpMemberName || op == OpDecorate || op == OpMemberDecorate || op == OpDecorateId;
}

struct Block {
  uint32_t label = 0;
  std::vector<Instruction> body;  // without the label, the merge instruction and the terminator
  Instruction merge;              // empty: none
  Instruction terminator;
  std::vector<uint32_t> targets;       // that may be taken
  std::optional<uint32_t> onlyTarget;  // of a selection whose outcome is known
  bool live = false;                   // may be executed
  bool keepsMerge = false;             // still has its merge instruction
};

struct Function {
  std::vector<Instruction> head;  // OpFunction and its parameters
  std::vector<Block> blocks;
  std::unordered_map<uint32_t, size_t> byLabel;
  bool live = false;

  uint32_t id() const { return head.front()[2]; }
  Block* find(uint32_t label) {
    const auto found = byLabel.find(label);
    return found == byLabel.end() ? nullptr : &blocks[found->second];
  }
};

std::vector<uint32_t> targetsOf(Instruction terminator) {
  switch (opOf(terminator)) {
    case OpBranch:
      return {terminator[1]};
    case OpBranchConditional:
      return {terminator[2], terminator[3]};
    case OpSwitch: {
      // Literals are of one word; of longer ones a half is no label, which the caller notices.
      std::vector<uint32_t> targets{terminator[2]};
      for (size_t i = 4; i < terminator.size(); i += 2) targets.push_back(terminator[i]);
      return targets;
    }
    default:
      return {};
  }
}

class Module {
 public:
  explicit Module(bool unroll) : unroll_(unroll) {}

  // False where the module is not one of those that this file understands.
  bool read(std::span<const uint32_t> words, std::span<const Specialization> values) {
    if (words.size() < kHeaderWords || words[0] != kMagic) return false;
    header_ = words.first(kHeaderWords);
    Function* function = nullptr;
    for (size_t at = kHeaderWords; at < words.size();) {
      const size_t count = words[at] >> 16;
      if (count < wordsOf(static_cast<uint16_t>(words[at] & 0xffff)) || count > words.size() - at) return false;
      const Instruction i = words.subspan(at, count);
      at += count;
      if (opOf(i) == OpFunction) {
        if (function) return false;
        function = &functions_.emplace_back();
        byId_[i[2]] = functions_.size() - 1;
      }
      if (!function) {
        readGlobal(i, values);
        continue;
      }
      if (opOf(i) == OpFunctionEnd) {
        if (function->blocks.empty() || function->blocks.back().terminator.empty()) return false;
        function = nullptr;
      } else if (!readLocal(i, *function)) {
        return false;
      }
    }
    return !function && !functions_.empty() && entry_ != 0 && intConstant_ != 0 && byId_.contains(entry_);
  }

  bool prune() {
    std::vector<uint32_t> open{entry_};
    while (!open.empty()) {
      const uint32_t id = open.back();
      open.pop_back();
      const auto found = byId_.find(id);
      if (found == byId_.end()) return false;
      Function& function = functions_[found->second];
      if (function.live) continue;
      function.live = true;
      if (!follow(function)) return false;
      chooseMerges(function);
      for (const Block& block : function.blocks)
        for (const Instruction i : block.body)
          if (block.live && opOf(i) == OpFunctionCall) open.push_back(i[3]);
    }
    return true;
  }

  std::vector<uint32_t> write() {
    std::vector<uint32_t> code;
    for (Function& function : functions_)
      if (function.live) writeFunction(function, code);
    const std::unordered_set<uint32_t> gone = goneIds();

    std::vector<uint32_t> module(header_.begin(), header_.end());
    for (const Instruction i : globals_) {
      if (annotates(opOf(i)) && gone.contains(i[1])) continue;
      module.insert(module.end(), i.begin(), i.end());
      if (const uint32_t* value = valueOf(i.size() > 2 ? i[2] : 0); value && opOf(i) == OpSpecConstant)
        module.back() = *value;
    }
    module.insert(module.end(), code.begin(), code.end());
    return module;
  }

 private:
  void readGlobal(Instruction i, std::span<const Specialization> values) {
    globals_.push_back(i);
    const auto given = [&](uint32_t id) -> std::optional<uint32_t> {
      const auto spec = specIds_.find(id);
      if (spec == specIds_.end()) return std::nullopt;
      for (const Specialization& value : values)
        if (value.id == spec->second) return value.value;
      return std::nullopt;
    };
    switch (opOf(i)) {
      case OpEntryPoint:
        entry_ = i[2];
        break;
      case OpDecorate:
        if (i.size() == 4 && i[2] == kSpecId) specIds_[i[1]] = i[3];
        break;
      case OpTypeInt:
        if (i[2] == 32) ints_.insert(i[1]);
        break;
      case OpConstantTrue:
        constants_[i[2]] = 1;
        break;
      case OpConstantFalse:
        constants_[i[2]] = 0;
        break;
      // A boolean's default stands in its opcode, which nothing here rewrites.
      case OpConstant:
      case OpSpecConstant:
        if (!ints_.contains(i[1])) break;
        constants_[i[2]] = opOf(i) == OpConstant ? i[3] : given(i[2]).value_or(i[3]);
        if (opOf(i) == OpConstant) intConstant_ = i[2];
        break;
      case OpSpecConstantOp:
        evaluate(static_cast<uint16_t>(i[3]), i[2], i.subspan(4));
        break;
      default:
        break;
    }
  }

  static bool readLocal(Instruction i, Function& function) {
    if (opOf(i) == OpLabel) {
      if (!function.blocks.empty() && function.blocks.back().terminator.empty()) return false;
      function.byLabel[i[1]] = function.blocks.size();
      function.blocks.emplace_back().label = i[1];
      return true;
    }
    if (function.blocks.empty()) {
      function.head.push_back(i);
      return true;
    }
    Block& block = function.blocks.back();
    if (!block.terminator.empty()) return false;
    if (terminates(i))
      block.terminator = i;
    else if (opOf(i) == OpSelectionMerge || opOf(i) == OpLoopMerge)
      block.merge = i;
    else
      block.body.push_back(i);
    return true;
  }

  // Null: not known.
  const uint32_t* valueOf(uint32_t id) const {
    const auto found = constants_.find(id);
    return found == constants_.end() ? nullptr : &found->second;
  }

  // Records the value of `id` where its operands are known.
  void evaluate(uint16_t op, uint32_t id, Instruction operands) {
    if (operands.empty()) return;
    const uint32_t* a = valueOf(operands[0]);
    const uint32_t* b = operands.size() > 1 ? valueOf(operands[1]) : nullptr;
    const auto set = [&](uint32_t value) { constants_[id] = value; };
    if (op == OpLogicalAnd && ((a && !*a) || (b && !*b))) return set(0);
    if (op == OpLogicalOr && ((a && *a) || (b && *b))) return set(1);
    if (!a) return;
    if (op == OpLogicalNot) return set(!*a);
    if (op == OpSelect && operands.size() == 3) {
      if (const uint32_t* chosen = valueOf(operands[*a ? 1 : 2])) set(*chosen);
      return;
    }
    if (!b) return;
    const uint32_t x = *a;
    const uint32_t y = *b;
    switch (op) {
      case OpLogicalAnd:
      case OpBitwiseAnd:
        return set(x & y);
      case OpLogicalOr:
      case OpBitwiseOr:
        return set(x | y);
      case OpLogicalEqual:
      case OpIEqual:
        return set(x == y);
      case OpLogicalNotEqual:
      case OpINotEqual:
        return set(x != y);
      case OpUGreaterThan:
        return set(x > y);
      case OpUGreaterThanEqual:
        return set(x >= y);
      case OpULessThan:
        return set(x < y);
      case OpULessThanEqual:
        return set(x <= y);
      default:
        return;
    }
  }

  // Finds what may be executed. A block that another one dominates comes behind it, so that one pass suffices.
  bool follow(Function& function) {
    function.blocks.front().live = true;
    for (Block& block : function.blocks) {
      if (!block.live) continue;
      for (const Instruction i : block.body)
        if (i.size() > 3 && opOf(i) >= OpLogicalEqual && opOf(i) <= OpBitwiseAnd) evaluate(opOf(i), i[2], i.subspan(3));
      const Instruction end = block.terminator;
      const bool loop = !block.merge.empty() && opOf(block.merge) == OpLoopMerge;
      const bool selection = !block.merge.empty() && !loop;
      if (selection && !function.find(block.merge[1])) return false;
      if (loop && (!function.find(block.merge[1]) || !function.find(block.merge[2]))) return false;
      const uint32_t* condition = selection && end.size() > 1 ? valueOf(end[1]) : nullptr;
      if (condition && opOf(end) == OpBranchConditional) {
        block.onlyTarget = end[*condition ? 2 : 3];
      } else if (condition && opOf(end) == OpSwitch) {
        block.onlyTarget = end[2];
        for (size_t i = 3; i + 1 < end.size(); i += 2)
          if (end[i] == *condition) block.onlyTarget = end[i + 1];
      }
      block.targets = block.onlyTarget ? std::vector{*block.onlyTarget} : targetsOf(end);
      block.keepsMerge = !block.merge.empty();
      for (const uint32_t target : block.targets) {
        Block* next = function.find(target);
        if (!next) return false;
        next->live = true;
      }
    }
    // What a loop that never repeats would carry around has no source left.
    return std::none_of(function.blocks.begin(), function.blocks.end(), [&](const Block& block) {
      const bool loop = block.live && !block.merge.empty() && opOf(block.merge) == OpLoopMerge;
      return loop && !function.find(block.merge[2])->live && !block.body.empty() && opOf(block.body.front()) == OpPhi;
    });
  }

  // A selection with a known outcome needs no merge instruction, unless an inner construct leaves it from inside: such
  // a branch is allowed only to the merge block of a selection or loop around it. Inner ones are decided first.
  static void chooseMerges(Function& function) {
    for (size_t n = function.blocks.size(); n-- > 0;) {
      Block& block = function.blocks[n];
      if (!block.live || !block.onlyTarget) continue;
      const uint32_t merge = block.merge[1];
      std::unordered_set<uint32_t> outer;  // blocks of the branch that no construct inside it holds
      std::vector<uint32_t> open{*block.onlyTarget};
      while (!open.empty()) {
        const uint32_t label = open.back();
        open.pop_back();
        if (label == merge || !outer.insert(label).second) continue;
        const Block& inner = *function.find(label);
        if (inner.keepsMerge)
          open.push_back(inner.merge[1]);
        else
          open.insert(open.end(), inner.targets.begin(), inner.targets.end());
      }
      block.keepsMerge = std::any_of(function.blocks.begin(), function.blocks.end(), [&](const Block& other) {
        return other.live && &other != &block && !outer.contains(other.label) &&
               std::find(other.targets.begin(), other.targets.end(), merge) != other.targets.end();
      });
    }
  }

  void writeFunction(Function& function, std::vector<uint32_t>& code) {
    const auto put = [&](Instruction i) { code.insert(code.end(), i.begin(), i.end()); };
    const auto putWords = [&](std::initializer_list<uint32_t> words) { code.insert(code.end(), words); };
    // Blocks that merge instructions name exist, if only for that.
    std::unordered_set<uint32_t> named;
    std::unordered_map<uint32_t, uint32_t> headers;  // of loops, by continue target
    std::unordered_map<uint32_t, std::unordered_set<uint32_t>> sources;
    for (const Block& block : function.blocks) {
      if (!block.live) continue;
      for (const uint32_t target : block.targets) sources[target].insert(block.label);
      if (!block.keepsMerge) continue;
      named.insert(block.merge[1]);
      if (opOf(block.merge) != OpLoopMerge) continue;
      named.insert(block.merge[2]);
      headers[block.merge[2]] = block.label;
      sources[block.label].insert(block.merge[2]);
    }
    for (const Instruction i : function.head) put(i);
    for (const Instruction i : function.head) kept_.insert(resultOf(i));
    for (const Block& block : function.blocks) {
      if (!block.live && !named.contains(block.label)) continue;
      putWords({headOf(OpLabel, 2), block.label});
      kept_.insert(block.label);
      if (!block.live) {
        if (const auto header = headers.find(block.label); header != headers.end())
          putWords({headOf(OpBranch, 2), header->second});
        else
          putWords({headOf(OpUnreachable, 1)});
        continue;
      }
      for (const Instruction i : block.body) {
        kept_.insert(resultOf(i));
        if (opOf(i) != OpPhi) {
          put(i);
          continue;
        }
        const size_t head = code.size();
        putWords({0, i[1], i[2]});
        for (size_t w = 3; w + 1 < i.size(); w += 2)
          if (sources[block.label].contains(i[w + 1])) putWords({i[w], i[w + 1]});
        code[head] = headOf(OpPhi, code.size() - head);
      }
      if (block.keepsMerge) {
        put(block.merge);
        constexpr uint32_t kDontUnroll = 2;
        if (!unroll_ && opOf(block.merge) == OpLoopMerge && block.merge.size() == 4) code.back() = kDontUnroll;
      }
      if (!block.onlyTarget)
        put(block.terminator);
      else if (block.keepsMerge)
        putWords({headOf(OpSwitch, 3), intConstant_, *block.onlyTarget});
      else
        putWords({headOf(OpBranch, 2), *block.onlyTarget});
    }
    putWords({headOf(OpFunctionEnd, 1)});
  }

  std::unordered_set<uint32_t> goneIds() const {
    std::unordered_set<uint32_t> gone;
    const auto add = [&](uint32_t id) {
      if (id != 0 && !kept_.contains(id)) gone.insert(id);
    };
    for (const Function& function : functions_) {
      for (const Instruction i : function.head) add(resultOf(i));
      for (const Block& block : function.blocks) {
        add(block.label);
        for (const Instruction i : block.body) add(resultOf(i));
      }
    }
    return gone;
  }

  const bool unroll_;
  std::span<const uint32_t> header_;
  std::vector<Instruction> globals_;
  std::vector<Function> functions_;
  std::unordered_map<uint32_t, size_t> byId_;  // functions
  uint32_t entry_ = 0;
  uint32_t intConstant_ = 0;  // some constant of 32 bits
  std::unordered_set<uint32_t> ints_;
  std::unordered_map<uint32_t, uint32_t> specIds_;
  std::unordered_map<uint32_t, uint32_t> constants_;  // 32-bit integers, and booleans as 0 or 1
  std::unordered_set<uint32_t> kept_;                 // IDs that the code written defines
};

}  // namespace

std::vector<uint32_t> specialize(std::span<const uint32_t> words, std::span<const Specialization> values, bool unroll) {
  Module module(unroll);
  if (!module.read(words, values) || !module.prune()) return {words.begin(), words.end()};
  return module.write();
}

}  // namespace dimple::vulkan
