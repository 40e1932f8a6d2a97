#include "backend_vulkan/specialize.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "backend_vulkan/simplify.h"
#include "backend_vulkan/spirv_code.h"

namespace dimple::vulkan {
namespace {

using namespace spirv;

class Module {
 public:
  Module(std::span<const uint32_t> fixed, bool unroll) : fixed_(fixed), unroll_(unroll) {}

  // Returns false if this file does not understand the module.
  bool read(std::span<const uint32_t> words, std::span<const Specialization> values) {
    if (!code_.read(words)) return false;
    bound_ = code_.header[kBoundWord];
    for (const Instruction i : code_.globals) readGlobal(i, values);
    return intConstant_ != 0;
  }

  bool prune() { return follow(*code_.byId.at(code_.entry)); }

  // The types of results: integers of 32 bits and booleans.
  const std::unordered_map<uint32_t, uint32_t>& known() const { return constants_; }

  std::vector<uint32_t> write() {
    std::vector<uint32_t> code;
    for (FunctionCode& function : code_.functions)
      if (function.live) writeFunction(function, code);
    const std::unordered_set<uint32_t> gone = goneIds();

    std::vector<uint32_t> module(code_.header.begin(), code_.header.end());
    module[kBoundWord] = bound_;
    bool annotated = false;
    for (const Instruction i : code_.globals) {
      // Annotations come before types.
      if (opOf(i) >= OpTypeVoid && !annotates(opOf(i)) && !std::exchange(annotated, true))
        for (const Instruction own : annotations_)
          if (!gone.contains(own[1])) module.insert(module.end(), own.begin(), own.end());
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
    const auto given = [&](uint32_t id) -> std::optional<uint32_t> {
      const auto spec = specIds_.find(id);
      if (spec == specIds_.end()) return std::nullopt;
      for (const Specialization& value : values)
        if (value.id == spec->second) return value.value;
      return std::nullopt;
    };
    switch (opOf(i)) {
      case OpDecorate:
        if (i.size() == 4 && i[2] == kSpecId) specIds_[i[1]] = i[3];
        if (i.size() == 4 && i[2] == kDescriptorSet && i[3] == 1) parameterBlock_ = i[1];
        if (i.size() == 3 || i[2] != kSpecId) annotationsOf_[i[1]].push_back(i);
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
      // The default of a boolean is in its opcode, which is not rewritten here.
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

  // Returns null if it is not known.
  const uint32_t* valueOf(uint32_t id) const {
    const auto found = constants_.find(id);
    return found == constants_.end() ? nullptr : &found->second;
  }

  // Records the value of `id` if its operands are known.
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
      case OpBitwiseXor:
        return set(x ^ y);
      case OpIAdd:
        return set(x + y);
      case OpISub:
        return set(x - y);
      case OpIMul:
        return set(x * y);
      case OpUDiv:
        return y ? set(x / y) : void();
      case OpUMod:
        return y ? set(x % y) : void();
      case OpShiftRightLogical:
        return y < 32 ? set(x >> y) : void();
      case OpShiftLeftLogical:
        return y < 32 ? set(x << y) : void();
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

  // Finds the blocks that may be executed, here and in called functions. A block that another one dominates comes
  // behind it, so that one pass suffices.
  bool follow(FunctionCode& function) {
    function.live = true;
    function.blocks.front().live = true;
    findSingleStores(function);
    for (Block& block : function.blocks) {
      if (!block.live) continue;
      for (Instruction& i : block.body) {
        if (opOf(i) == OpPhi) chooseSource(function, block, i);
        if (!interpret(i)) return false;
      }
      if (!choose(function, block)) return false;
    }
    readResult(function);
    chooseMerges(function);
    // A value that a loop would carry around has no source left if the loop never repeats.
    return std::none_of(function.blocks.begin(), function.blocks.end(), [&](const Block& block) {
      return block.live && block.isLoop() && !function.find(block.merge[2])->live && !block.body.empty() &&
             opOf(block.body.front()) == OpPhi;
    });
  }

  // A value is known if it is the same for every block from which this one may be reached. The block that repeats a
  // loop comes behind it.
  void chooseSource(FunctionCode& function, const Block& block, Instruction phi) {
    std::optional<uint32_t> known;
    for (size_t w = 3; w + 1 < phi.size(); w += 2) {
      const Block* source = function.find(phi[w + 1]);
      if (!source || source >= &block) return;
      if (std::ranges::find(source->targets, block.label) == source->targets.end()) continue;
      const uint32_t* value = valueOf(phi[w]);
      if (!value || (known && *known != *value)) return;
      known = *value;
    }
    if (known) constants_[phi[2]] = *known;
  }

  // Returns the blocks to which a block may lead.
  static bool mayLead(FunctionCode& function, Block& block) {
    for (const uint32_t target : block.targets) {
      Block* next = function.find(target);
      if (!next) return false;
      next->live = true;
    }
    return true;
  }

  bool choose(FunctionCode& function, Block& block) {
    const Instruction end = block.terminator;
    const bool selection = !block.merge.empty() && !block.isLoop();
    if (selection && !function.find(block.merge[1])) return false;
    if (block.isLoop() && (!function.find(block.merge[1]) || !function.find(block.merge[2]))) return false;
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
    return mayLead(function, block);
  }

  // Finds variables that are stored once as a whole, and otherwise only loaded. If the stored value is known, loads
  // return it.
  void findSingleStores(const FunctionCode& function) {
    std::unordered_map<uint32_t, int> stores;
    for (const Block& block : function.blocks)
      for (const Instruction i : block.body)
        if (opOf(i) == OpVariable && i.size() == 4 && i[3] == kFunctionStorage) stores[i[2]] = 0;
    const auto find = [&](uint32_t word) { return stores.find(word); };
    for (const Block& block : function.blocks)
      for (const Instruction i : block.body) {
        if (opOf(i) == OpVariable || opOf(i) == OpLoad) continue;
        const bool store = opOf(i) == OpStore && i.size() > 2;
        for (size_t w = 1; w < i.size(); ++w)
          if (const auto found = find(i[w]); found != stores.end()) found->second += store && w == 1 ? 1 : 2;
      }
    for (const auto& [id, count] : stores)
      if (count == 1) storedOnce_.insert(id);
  }

  // Records the result of an instruction, if it is known. Returns false if the module is not understood.
  bool interpret(Instruction& i) {
    const uint16_t op = opOf(i);
    if (op == OpFunctionCall) return call(i);
    if (op == OpStore && i.size() > 2 && storedOnce_.contains(i[1])) {
      if (const uint32_t* value = valueOf(i[2])) stored_[i[1]] = *value;
    } else if (op == OpLoad && i.size() > 3) {
      if (const auto found = stored_.find(i[3]); found != stored_.end()) constants_[i[2]] = found->second;
      if (const auto place = places_.find(i[3]); place != places_.end()) readFixed(i[2], place->second);
    } else if (op == OpAccessChain && i.size() > 5 && i[3] == parameterBlock_) {
      findPlace(i);
    } else if (op == OpCompositeExtract && i.size() == 5) {
      if (const auto vector = vectors_.find(i[3]); vector != vectors_.end() && vector->second + i[4] < fixed_.size())
        constants_[i[2]] = fixed_[vector->second + i[4]];
    } else if (i.size() > 3 && ((op >= OpIAdd && op <= OpUMod) || (op >= OpLogicalEqual && op <= OpBitwiseAnd))) {
      evaluate(op, i[2], i.subspan(3));
    }
    return true;
  }

  // The words of the parameter block are the vectors of its only member.
  struct Place {
    uint32_t word;
    bool vector;
  };
  void findPlace(Instruction chain) {
    const uint32_t* vector = valueOf(chain[5]);
    const uint32_t* component = chain.size() > 6 ? valueOf(chain[6]) : nullptr;
    if (vector && *vector < fixed_.size() && (component || chain.size() == 6))
      places_[chain[2]] = {*vector * 4 + (component ? *component : 0), chain.size() == 6};
  }
  void readFixed(uint32_t id, const Place& place) {
    if (place.vector)
      vectors_[id] = place.word;
    else if (place.word < fixed_.size())
      constants_[id] = fixed_[place.word];
  }

  // Follows a call, which gets a separate copy of the function for the known arguments.
  bool call(Instruction& i) {
    const auto found = code_.byId.find(i[3]);
    if (found == code_.byId.end()) return false;
    FunctionCode* callee = found->second;
    std::vector<uint32_t> key{i[3]};
    for (size_t a = 4; a < i.size(); ++a)
      if (const uint32_t* value = valueOf(i[a])) key.insert(key.end(), {static_cast<uint32_t>(a - 4), *value});
    constexpr size_t kMaxClones = 4096;
    if (key.size() > 1 && clones_.size() < kMaxClones) {
      const auto [clone, isNew] = clones_.try_emplace(key);
      if (isNew) clone->second = cloneOf(*callee, std::span(key).subspan(1));
      if (clone->second) {
        callee = clone->second;
        std::vector<uint32_t>& words = owned_.emplace_back(i.begin(), i.end());
        words[3] = callee->id();
        i = words;
      }
    }
    if (!callee->live && !follow(*callee)) return false;
    if (callee->result) constants_[i[2]] = *callee->result;
    return true;
  }

  // Returns a copy for the `known` arguments, as pairs of index and value. Returns null if an instruction is not known
  // well enough.
  FunctionCode* cloneOf(const FunctionCode& from, std::span<const uint32_t> known) {
    std::unordered_map<uint32_t, uint32_t> names;
    const auto name = [&](uint32_t id) {
      if (id != 0) names.emplace(id, bound_++);
    };
    for (const Instruction i : from.head) name(resultOf(i));
    for (const Block& block : from.blocks) {
      name(block.label);
      for (const Instruction i : block.body) name(resultOf(i));
    }
    FunctionCode copy;
    bool complete = true;
    const auto copied = [&](Instruction i) -> Instruction {
      auto words = renamed(i, names);
      complete &= words.has_value();
      return words ? Instruction(owned_.emplace_back(std::move(*words))) : i;
    };
    for (const Instruction i : from.head) copy.head.push_back(copied(i));
    for (const Block& block : from.blocks) {
      Block& own = copy.blocks.emplace_back();
      own.label = names.at(block.label);
      copy.byLabel[own.label] = copy.blocks.size() - 1;
      for (const Instruction i : block.body) own.body.push_back(copied(i));
      if (!block.merge.empty()) own.merge = copied(block.merge);
      own.terminator = copied(block.terminator);
    }
    if (!complete) return nullptr;
    for (size_t k = 0; k + 1 < known.size(); k += 2) {
      if (known[k] + 1 >= copy.head.size()) return nullptr;
      constants_[copy.head[known[k] + 1][2]] = known[k + 1];
    }
    for (const auto& [id, own] : names)
      for (const Instruction i : annotationsOf_[id]) {
        std::vector<uint32_t>& words = owned_.emplace_back(i.begin(), i.end());
        words[1] = own;
        annotations_.push_back(words);
      }
    FunctionCode& kept = code_.functions.emplace_back(std::move(copy));
    return code_.byId[kept.id()] = &kept;
  }

  void readResult(FunctionCode& function) const {
    bool first = true;
    for (const Block& block : function.blocks) {
      if (!block.live || opOf(block.terminator) != OpReturnValue) continue;
      const uint32_t* value = valueOf(block.terminator[1]);
      if (!value || (!first && function.result != *value)) {
        function.result.reset();
        return;
      }
      function.result = *value;
      first = false;
    }
  }

  // A selection with a known outcome needs no merge instruction, unless an inner construct leaves it from inside: such
  // a branch is allowed only to the merge block of a selection or loop around it. Inner ones are decided first.
  static void chooseMerges(FunctionCode& function) {
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

  void writeFunction(FunctionCode& function, std::vector<uint32_t>& code) {
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
    for (const FunctionCode& function : code_.functions) {
      for (const Instruction i : function.head) add(resultOf(i));
      for (const Block& block : function.blocks) {
        add(block.label);
        for (const Instruction i : block.body) add(resultOf(i));
      }
    }
    return gone;
  }

  const std::span<const uint32_t> fixed_;  // words of the parameter block
  const bool unroll_;
  ModuleCode code_;
  uint32_t bound_ = 0;           // the next ID
  uint32_t intConstant_ = 0;     // some constant of 32 bits
  uint32_t parameterBlock_ = 0;  // a variable
  std::unordered_set<uint32_t> ints_;
  std::unordered_map<uint32_t, uint32_t> specIds_;
  std::unordered_map<uint32_t, uint32_t> constants_;  // 32-bit integers, and booleans as 0 or 1
  std::unordered_set<uint32_t> kept_;                 // IDs that the code written defines

  std::unordered_set<uint32_t> storedOnce_;                // variables
  std::unordered_map<uint32_t, uint32_t> stored_;          // what is known of them
  std::unordered_map<uint32_t, Place> places_;             // of pointers
  std::unordered_map<uint32_t, uint32_t> vectors_;         // where loaded ones begin in the parameter block
  std::map<std::vector<uint32_t>, FunctionCode*> clones_;  // by function and arguments
  std::deque<std::vector<uint32_t>> owned_;                // instructions of clones
  std::unordered_map<uint32_t, std::vector<Instruction>> annotationsOf_;
  std::vector<Instruction> annotations_;  // of clones
};

}  // namespace

std::vector<uint32_t> specialize(std::span<const uint32_t> words, std::span<const Specialization> values,
                                 std::span<const uint32_t> fixed, bool unroll) {
  std::vector<uint32_t> made(words.begin(), words.end());
  // Once functions are inlined, more of the values that they pass to each other are known: in a program, much more.
  for (int round = 0; round < (fixed.empty() ? 1 : 2); ++round) {
    Module module(fixed, unroll);
    if (!module.read(made, values) || !module.prune()) break;
    made = simplify(module.write(), module.known());
  }
  return made;
}

}  // namespace dimple::vulkan
