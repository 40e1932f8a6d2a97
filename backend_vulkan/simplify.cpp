#include "backend_vulkan/simplify.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "backend_vulkan/spirv_code.h"

namespace dimple::vulkan {
namespace {

using namespace spirv;

using Names = std::unordered_map<uint32_t, uint32_t>;

// Whether an instruction may be left out if nothing uses its result.
bool isPure(uint16_t op) {
  return op == OpExtInst || op == OpVariable || op == OpLoad || op == OpAccessChain || op == OpPhi ||
         (op >= OpVectorExtractDynamic && op <= OpCopyObject) || (op >= OpConvertFToU && op <= OpBitCount);
}

class Simplifier {
 public:
  bool run(std::span<const uint32_t> words, const Names& known) {
    if (!code_.read(words)) return false;
    bound_ = code_.header[kBoundWord];
    readGlobals();
    for (FunctionCode& function : code_.functions) replaceKnown(function, known);
    if (!renameAll()) return false;
    FunctionCode& main = *code_.byId.at(code_.entry);
    if (!inlineCalls(main)) return false;
    for (FunctionCode& function : code_.functions) {
      mergeBlocks(function);
      if (!rename(function)) return false;
      // A value that is handed on may itself come from one that is handed on.
      for (int pass = 0; pass < 2; ++pass) {
        handOn(function);
        if (!rename(function)) return false;
      }
    }
    return findUsed(main);
  }

  std::vector<uint32_t> write() const {
    std::vector<uint32_t> code;
    std::unordered_set<uint32_t> defined;  // in functions
    const auto put = [&](Instruction i) {
      code.insert(code.end(), i.begin(), i.end());
      defined.insert(resultOf(i));
    };
    for (const FunctionCode& function : code_.functions) {
      if (!used_.contains(function.id())) continue;
      for (const Instruction i : function.head) put(i);
      for (const Block& block : function.blocks) {
        put(std::array{headOf(OpLabel, 2), block.label});
        for (const Instruction i : block.body)
          if (isKept(i)) put(i);
        if (!block.merge.empty()) put(block.merge);
        put(block.terminator);
      }
      code.push_back(headOf(OpFunctionEnd, 1));
    }
    // A literal may be equal to the ID of what is not written.
    const auto isDefined = [&](uint32_t id) {
      return defined.contains(id) || (used_.contains(id) && globals_.contains(id));
    };
    std::vector<uint32_t> module(code_.header.begin(), code_.header.end());
    module[kBoundWord] = bound_;
    const auto putGlobal = [&](Instruction i) { module.insert(module.end(), i.begin(), i.end()); };
    bool annotated = false;
    for (const Instruction i : code_.globals) {
      const uint16_t op = opOf(i);
      // Annotations come before types.
      if (op >= OpTypeVoid && !annotates(op) && !std::exchange(annotated, true))
        for (const Instruction own : annotations_)
          if (isDefined(own[1])) putGlobal(own);
      if (op == OpEntryPoint)
        putEntryPoint(i, module);
      else if (annotates(op) ? isDefined(i[1]) : isUsedGlobal(i))
        putGlobal(i);
    }
    module.insert(module.end(), code.begin(), code.end());
    return module;
  }

 private:
  // Collects the IDs of constants by type and value.
  void readGlobals() {
    for (const Instruction i : code_.globals) {
      const uint16_t op = opOf(i);
      if (annotates(op)) annotationsOf_[i[1]].push_back(i);
      if (op == OpTypeInt && i[2] == 32) ints_.insert(i[1]);
      if (op == OpTypeBool && i.size() == 2) bools_.insert(i[1]);
      if (op == OpConstant && i.size() == 4) constants_.try_emplace({i[1], i[3]}, i[2]);
      if (op == OpTypeStruct || op == OpTypeArray) composites_[i[1]] = 0;
      if (op == OpTypeVector && i.size() == 4) composites_[i[1]] = i[3];
      if (op == OpConstantTrue || op == OpConstantFalse) constants_.try_emplace({i[1], op == OpConstantTrue}, i[2]);
    }
  }

  std::optional<uint32_t> constantOf(uint32_t type, uint32_t value) {
    const bool isInt = ints_.contains(type);
    if (!isInt && !bools_.contains(type)) return std::nullopt;
    const auto [found, isNew] = constants_.try_emplace({type, value}, bound_);
    if (isNew) {
      const uint32_t id = bound_++;
      code_.globals.push_back(isInt ? own({headOf(OpConstant, 4), type, id, value})
                                    : own({headOf(value ? OpConstantTrue : OpConstantFalse, 3), type, id}));
    }
    return found->second;
  }

  Instruction own(std::vector<uint32_t> words) { return owned_.emplace_back(std::move(words)); }

  void replaceKnown(const FunctionCode& function, const Names& known) {
    const auto replace = [&](Instruction i) {
      const auto found = known.find(resultOf(i));
      if (found == known.end() || i.size() < 3) return;
      if (const auto constant = constantOf(i[1], found->second)) same_[found->first] = *constant;
    };
    for (size_t p = 1; p < function.head.size(); ++p) replace(function.head[p]);
    for (const Block& block : function.blocks)
      for (const Instruction i : block.body) replace(i);
  }

  // Returns what an ID finally stands for.
  uint32_t resolved(uint32_t id) const {
    // In an invalid module, IDs may stand for each other.
    for (size_t turn = 0; turn <= same_.size(); ++turn) {
      const auto found = same_.find(id);
      if (found == same_.end()) return id;
      id = found->second;
    }
    return id;
  }

  bool rename(FunctionCode& function) {
    if (same_.empty()) return true;
    bool complete = true;
    const auto apply = [&](Instruction& i) {
      const size_t result = resultOf(i) != 0 && opOf(i) != OpLabel ? 2 : 0;
      bool changes = false;
      complete &= forEachId(i, [&](size_t w) { changes |= w != result && same_.contains(i[w]); });
      if (!changes) return;
      std::vector<uint32_t> words(i.begin(), i.end());
      forEachId(i, [&](size_t w) {
        if (w != result) words[w] = resolved(words[w]);
      });
      i = own(std::move(words));
    };
    for (Block& block : function.blocks) {
      for (Instruction& i : block.body) apply(i);
      if (!block.merge.empty()) apply(block.merge);
      apply(block.terminator);
    }
    return complete;
  }
  bool renameAll() {
    return std::ranges::all_of(code_.functions, [&](FunctionCode& function) { return rename(function); });
  }

  // Whether its only return is where it ends, in no selection or loop.
  static bool returnsAtEnd(const FunctionCode& function) {
    const auto returns = [](const Block& block) {
      return opOf(block.terminator) == OpReturn || opOf(block.terminator) == OpReturnValue;
    };
    return returns(function.blocks.back()) && std::ranges::count_if(function.blocks, returns) == 1;
  }

  // Replaces calls by the code that they execute.
  bool inlineCalls(FunctionCode& function) {
    if (!visited_.insert(function.id()).second) return true;
    std::vector<Instruction> variables;
    for (size_t b = 0; b < function.blocks.size(); ++b)
      for (size_t n = 0; n < function.blocks[b].body.size(); ++n) {
        const Instruction i = function.blocks[b].body[n];
        if (opOf(i) != OpFunctionCall) continue;
        const auto found = code_.byId.find(i[3]);
        // In an invalid module, a function may call itself.
        if (found == code_.byId.end() || found->second == &function || bound_ > kMaxBound) return false;
        FunctionCode& callee = *found->second;
        if (!inlineCalls(callee)) return false;
        // The header of a loop keeps its merge instruction.
        if (!returnsAtEnd(callee) || (callee.blocks.size() > 1 && function.blocks[b].isLoop())) continue;
        if (!splice(function, b, n, callee, variables)) return false;
        --n;
      }
    std::vector<Instruction>& first = function.blocks.front().body;
    first.insert(first.begin(), variables.begin(), variables.end());
    // This comes before the copy, because results of calls stand for values of this function.
    return rename(function);
  }

  // Replaces a call, the n-th instruction of a block, by a copy of `callee`.
  bool splice(FunctionCode& function, size_t b, size_t n, const FunctionCode& callee,
              std::vector<Instruction>& variables) {
    const Instruction call = function.blocks[b].body[n];
    if (call.size() != callee.head.size() + 3) return false;
    Names names;
    for (size_t p = 1; p < callee.head.size(); ++p) names[callee.head[p][2]] = call[p + 3];
    std::vector<Block> copies;
    if (!copyBlocks(callee, names, variables, copies)) return false;
    Block& last = copies.back();
    if (opOf(last.terminator) == OpReturnValue) same_[call[2]] = last.terminator[1];

    Block& before = function.blocks[b];
    std::vector<Instruction> rest(before.body.begin() + static_cast<ptrdiff_t>(n) + 1, before.body.end());
    before.body.resize(n);
    before.body.insert(before.body.end(), copies[0].body.begin(), copies[0].body.end());
    if (copies.size() == 1) {
      before.body.insert(before.body.end(), rest.begin(), rest.end());
      return true;
    }
    last.body.insert(last.body.end(), rest.begin(), rest.end());
    last.merge = std::exchange(before.merge, copies[0].merge);
    last.terminator = std::exchange(before.terminator, copies[0].terminator);
    for (Block& block : function.blocks) replaceSource(block, before.label, last.label);
    replaceSource(last, before.label, last.label);
    for (size_t k = 1; k < copies.size(); ++k) replaceSource(copies[k], copies[0].label, before.label);
    function.blocks.insert(function.blocks.begin() + static_cast<ptrdiff_t>(b) + 1,
                           std::make_move_iterator(copies.begin() + 1), std::make_move_iterator(copies.end()));
    return true;
  }

  bool copyBlocks(const FunctionCode& from, Names& names, std::vector<Instruction>& variables,
                  std::vector<Block>& copies) {
    const auto name = [&](uint32_t id) {
      if (id == 0 || !names.emplace(id, bound_).second) return;
      // This includes copies that are copied again.
      const std::vector<Instruction> annotations = annotationsOf_[id];
      for (const Instruction i : annotations) {
        std::vector<uint32_t> words(i.begin(), i.end());
        words[1] = bound_;
        annotations_.push_back(annotationsOf_[bound_].emplace_back(own(std::move(words))));
      }
      ++bound_;
    };
    for (const Block& block : from.blocks) {
      name(block.label);
      for (const Instruction i : block.body) name(resultOf(i));
    }
    bool complete = true;
    const auto copied = [&](Instruction i) -> Instruction {
      auto words = renamed(i, names);
      complete &= words.has_value();
      return words ? own(std::move(*words)) : i;
    };
    for (const Block& block : from.blocks) {
      Block& copy = copies.emplace_back();
      copy.label = names.at(block.label);
      for (const Instruction i : block.body) {
        if (opOf(i) != OpVariable) {
          copy.body.push_back(copied(i));
          continue;
        }
        if (i.size() < 4) return false;
        variables.push_back(copied(i.size() > 4 ? own({headOf(OpVariable, 4), i[1], i[2], i[3]}) : i));
        // In a loop, the variable begins anew each time.
        if (i.size() > 4) copy.body.push_back(own({headOf(OpStore, 3), names.at(i[2]), i[4]}));
      }
      if (!block.merge.empty()) copy.merge = copied(block.merge);
      copy.terminator = copied(block.terminator);
    }
    return complete;
  }

  // Replaces one source block of phi values by another.
  void replaceSource(Block& block, uint32_t from, uint32_t to) {
    for (Instruction& i : block.body) {
      if (opOf(i) != OpPhi) continue;
      std::vector<uint32_t> words(i.begin(), i.end());
      for (size_t w = 4; w < words.size(); w += 2)
        if (words[w] == from) words[w] = to;
      i = own(std::move(words));
    }
  }

  // Joins two blocks if the first leads only to the second, and only the first leads there.
  void mergeBlocks(FunctionCode& function) {
    std::unordered_map<uint32_t, size_t> sources;
    std::unordered_set<uint32_t> named;  // by merge instructions
    std::unordered_map<uint32_t, size_t> places;
    for (size_t b = 0; b < function.blocks.size(); ++b) {
      const Block& block = function.blocks[b];
      places[block.label] = b;
      for (const uint32_t target : targetsOf(block.terminator)) ++sources[target];
      if (!block.merge.empty()) named.insert(block.merge[1]);
      if (block.isLoop()) named.insert(block.merge[2]);
    }
    std::vector<bool> gone(function.blocks.size());
    for (size_t b = 0; b < function.blocks.size(); ++b) {
      Block& block = function.blocks[b];
      while (!gone[b] && block.merge.empty() && opOf(block.terminator) == OpBranch) {
        const uint32_t label = block.terminator[1];
        const auto place = places.find(label);
        if (place == places.end() || place->second <= b || sources[label] != 1 || named.contains(label)) break;
        Block& next = function.blocks[place->second];
        for (const Instruction i : next.body) {
          if (opOf(i) == OpPhi && i.size() > 3)
            same_[i[2]] = i[3];
          else
            block.body.push_back(i);
        }
        block.merge = next.merge;
        block.terminator = next.terminator;
        same_[label] = block.label;
        gone[place->second] = true;
      }
    }
    size_t b = 0;
    std::erase_if(function.blocks, [&](const Block&) { return gone[b++]; });
  }

  // Finds variables that are only loaded and stored as a whole.
  static std::unordered_map<uint32_t, size_t> plainVariables(const FunctionCode& function) {
    std::unordered_map<uint32_t, size_t> stores;
    for (const Block& block : function.blocks)
      for (const Instruction i : block.body)
        if (opOf(i) == OpVariable && i.size() == 4 && i[3] == kFunctionStorage) stores[i[2]] = 0;
    for (const Block& block : function.blocks)
      for (const Instruction i : block.body) {
        const uint16_t op = opOf(i);
        if (op == OpVariable || (op == OpLoad && i.size() == 4)) continue;
        const bool whole = op == OpStore && i.size() == 3;
        if (whole)
          if (const auto found = stores.find(i[1]); found != stores.end()) ++found->second;
        for (size_t w = whole ? 2 : 1; w < i.size(); ++w) stores.erase(i[w]);
      }
    return stores;
  }

  // Replaces a loaded value by the stored one, if the store is in the same block, or if it is the only one and lies in
  // the first block. Replaces extracted members of composites by the values that they were made of.
  void handOn(FunctionCode& function) {
    const auto plain = plainVariables(function);
    std::unordered_map<uint32_t, uint32_t> always;
    std::unordered_map<uint32_t, Instruction> composed;
    for (size_t b = 0; b < function.blocks.size(); ++b) {
      std::unordered_map<uint32_t, uint32_t> stored;
      for (const Instruction i : function.blocks[b].body) {
        const uint16_t op = opOf(i);
        if (op == OpStore && i.size() == 3) {
          const auto found = plain.find(i[1]);
          if (found == plain.end()) continue;
          stored[i[1]] = i[2];
          if (b == 0 && found->second == 1) always[i[1]] = i[2];
        } else if (op == OpLoad && i.size() == 4) {
          if (const auto here = stored.find(i[3]); here != stored.end())
            same_[i[2]] = here->second;
          else if (const auto first = always.find(i[3]); first != always.end())
            same_[i[2]] = first->second;
        } else if (op == OpCompositeConstruct && i.size() > 3) {
          // A vector may be made of vectors.
          const auto parts = composites_.find(i[1]);
          if (parts != composites_.end() && (parts->second == 0 || parts->second == i.size() - 3)) composed[i[2]] = i;
        } else if (op == OpCompositeExtract && i.size() == 5) {
          if (const auto from = composed.find(resolved(i[3])); from != composed.end() && i[4] + 3 < from->second.size())
            same_[i[2]] = from->second[i[4] + 3];
        }
      }
    }
  }

  // Returns what an instruction before functions defines. 0 means that it defines nothing and stays.
  static uint32_t globalResult(Instruction i) {
    const uint16_t op = opOf(i);
    if ((op >= OpTypeVoid && op <= OpTypePipe) || op == OpTypeCooperativeMatrixKHR) return i.size() > 1 ? i[1] : 0;
    const bool isValue = (op >= OpConstantTrue && op <= OpSpecConstantOp) || op == OpVariable || op == OpUndef;
    return isValue && i.size() > 2 ? i[2] : 0;
  }
  bool isUsedGlobal(Instruction i) const {
    const uint32_t result = globalResult(i);
    return result == 0 || used_.contains(result);
  }

  // Finds what is used, beginning with what must be done. Returns false if an instruction is not known well enough.
  bool findUsed(const FunctionCode& main) {
    for (const Instruction i : code_.globals) {
      if (const uint32_t result = globalResult(i); result != 0) globals_[result] = i;
      if (opOf(i) == OpDecorate && i.size() == 4 && i[2] == kBuiltIn) sizes_.insert(i[1]);
    }
    for (const FunctionCode& function : code_.functions)
      for (const Block& block : function.blocks)
        for (const Instruction i : block.body)
          if (isPure(opOf(i)) && i.size() > 2) pure_[i[2]] = i;
    for (const Instruction i : code_.globals) {
      if (annotates(opOf(i)) || opOf(i) == OpEntryPoint) continue;
      // Any word may be an ID. The size of workgroups is a constant that nothing names.
      const uint32_t result = globalResult(i);
      if (result != 0 && sizes_.contains(result) && opOf(i) != OpVariable) open_.push_back(result);
      if (result == 0) open_.insert(open_.end(), i.begin() + 1, i.end());
    }
    open_.push_back(main.id());
    bool complete = true;
    while (!open_.empty()) {
      const uint32_t id = open_.back();
      open_.pop_back();
      complete &= use(id);
    }
    return complete;
  }

  bool openAll(Instruction i) {
    return forEachId(i, [&](size_t w) { open_.push_back(i[w]); });
  }

  bool use(uint32_t id) {
    if (!used_.insert(id).second) return true;
    if (const auto found = globals_.find(id); found != globals_.end())
      open_.insert(open_.end(), found->second.begin() + 1, found->second.end());
    if (const auto found = pure_.find(id); found != pure_.end()) {
      const Instruction i = found->second;
      if (!openAll(i)) return false;
      if (opOf(i) == OpVariable && i.size() > 4) open_.push_back(i[4]);  // what it begins with
    }
    if (const auto found = stored_.find(id); found != stored_.end())
      open_.insert(open_.end(), found->second.begin(), found->second.end());
    const auto function = code_.byId.find(id);
    return function == code_.byId.end() || useFunction(*function->second);
  }

  bool useFunction(const FunctionCode& function) {
    const auto plain = plainVariables(function);
    bool complete = true;
    for (const Instruction i : function.head) complete &= openAll(i);
    if (function.head[0].size() > 4) open_.push_back(function.head[0][4]);  // its type
    for (const Block& block : function.blocks) {
      for (const Instruction i : block.body) {
        if (opOf(i) == OpStore && i.size() == 3 && plain.contains(i[1])) {
          // A store is used if its variable is, which a literal equal to its ID may have said before.
          plain_.insert(i[1]);
          stored_[i[1]].push_back(i[2]);
          if (used_.contains(i[1])) open_.push_back(i[2]);
        } else if (!isPure(opOf(i))) {
          complete &= openAll(i);
        }
      }
      if (!block.merge.empty()) complete &= openAll(block.merge);
      complete &= openAll(block.terminator);
    }
    return complete;
  }

  bool isKept(Instruction i) const {
    if (opOf(i) == OpStore) return i.size() != 3 || !plain_.contains(i[1]) || used_.contains(i[1]);
    return !isPure(opOf(i)) || (i.size() > 2 && used_.contains(i[2]));
  }

  // Writes the remaining variables.
  void putEntryPoint(Instruction i, std::vector<uint32_t>& module) const {
    size_t end = 3;  // of the name, which a zero ends
    const auto endsHere = [](uint32_t word) {
      return (word & 0xff) == 0 || (word & 0xff00) == 0 || (word & 0xff0000) == 0 || (word & 0xff000000) == 0;
    };
    while (end < i.size() && !endsHere(i[end])) ++end;
    end = std::min(end + 1, i.size());
    std::vector<uint32_t> words(i.begin(), i.begin() + static_cast<ptrdiff_t>(end));
    for (size_t w = end; w < i.size(); ++w)
      if (used_.contains(i[w])) words.push_back(i[w]);
    words[0] = headOf(OpEntryPoint, words.size());
    module.insert(module.end(), words.begin(), words.end());
  }

  static constexpr uint32_t kMaxBound = 1u << 22;

  ModuleCode code_;
  uint32_t bound_ = 0;                                           // the next ID
  std::deque<std::vector<uint32_t>> owned_;                      // instructions
  std::unordered_set<uint32_t> ints_, bools_;                    // types
  std::unordered_map<uint32_t, uint32_t> composites_;            // types, and of how many numbers vectors are
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> constants_;  // by type and value
  std::unordered_map<uint32_t, std::vector<Instruction>> annotationsOf_;
  std::vector<Instruction> annotations_;  // of copies
  Names same_;                            // IDs, and what stands for them
  std::unordered_set<uint32_t> visited_;  // functions

  std::unordered_set<uint32_t> used_, sizes_, plain_;
  std::vector<uint32_t> open_;                                  // to be followed
  std::unordered_map<uint32_t, Instruction> globals_, pure_;    // by result
  std::unordered_map<uint32_t, std::vector<uint32_t>> stored_;  // values, by variable
};

}  // namespace

std::vector<uint32_t> simplify(std::span<const uint32_t> module, const std::unordered_map<uint32_t, uint32_t>& known) {
  Simplifier simplifier;
  if (!simplifier.run(module, known)) return {module.begin(), module.end()};
  return simplifier.write();
}

}  // namespace dimple::vulkan
