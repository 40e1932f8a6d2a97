#include "backend_vulkan/spirv_code.h"

namespace dimple::vulkan::spirv {
namespace {

// Instructions in functions whose operands are all IDs.
bool hasIdsAlone(uint16_t op) {
  switch (op) {
    case OpFunctionParameter:
    case OpFunctionCall:
    case OpAccessChain:
    case OpVectorExtractDynamic:
    case OpVectorInsertDynamic:
    case OpCompositeConstruct:
    case OpCopyObject:
    case OpControlBarrier:
    case OpMemoryBarrier:
    case OpPhi:
    case OpLabel:
    case OpBranch:
    case OpKill:
    case OpReturn:
    case OpReturnValue:
    case OpUnreachable:
      return true;
    default:
      return (op >= OpConvertFToU && op <= OpBitcast) || (op >= OpSNegate && op <= OpSMulExtended) ||
             (op >= OpAny && op <= OpFUnordGreaterThanEqual) || (op >= OpShiftRightLogical && op <= OpBitCount) ||
             (op >= OpAtomicLoad && op <= OpAtomicXor);
  }
}

// Returns the first word of an instruction behind which there are only literals, or 0 if it is not known.
size_t literalsFrom(uint16_t op) {
  switch (op) {
    case OpSelectionMerge:
      return 2;
    case OpStore:
    case OpVariable:
    case OpFunction:
    case OpLoopMerge:
      return 3;
    case OpLoad:
    case OpCompositeExtract:
    case OpBranchConditional:
      return 4;
    case OpVectorShuffle:
    case OpCompositeInsert:
      return 5;
    default:
      return 0;
  }
}

}  // namespace

size_t leastWords(uint16_t op) {
  switch (op) {
    case OpLabel:
    case OpBranch:
    case OpReturnValue:
      return 2;
    case OpName:
    case OpDecorate:
    case OpDecorateId:
    case OpConstantTrue:
    case OpConstantFalse:
    case OpFunction:
    case OpFunctionParameter:
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

bool annotates(uint16_t op) {
  return op == OpName || op == OpMemberName || op == OpDecorate || op == OpMemberDecorate || op == OpDecorateId;
}

size_t idsEnd(Instruction i) {
  const uint16_t op = opOf(i);
  const size_t end = hasIdsAlone(op) || op == OpExtInst ? i.size() : literalsFrom(op);
  return end > i.size() ? 0 : end;
}

std::optional<std::vector<uint32_t>> renamed(Instruction i, const std::unordered_map<uint32_t, uint32_t>& names) {
  std::vector<uint32_t> words(i.begin(), i.end());
  const bool known = forEachId(i, [&](size_t w) {
    if (const auto found = names.find(words[w]); found != names.end()) words[w] = found->second;
  });
  if (!known) return {};
  return words;
}

bool FunctionCode::read(Instruction i) {
  if (opOf(i) == OpLabel) {
    if (!blocks.empty() && blocks.back().terminator.empty()) return false;
    byLabel[i[1]] = blocks.size();
    blocks.emplace_back().label = i[1];
    return true;
  }
  if (blocks.empty()) {
    head.push_back(i);
    return true;
  }
  Block& block = blocks.back();
  if (!block.terminator.empty()) return false;
  if (terminates(i))
    block.terminator = i;
  else if (opOf(i) == OpSelectionMerge || opOf(i) == OpLoopMerge)
    block.merge = i;
  else
    block.body.push_back(i);
  return true;
}

bool ModuleCode::read(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords || words[0] != kMagic) return false;
  header = words.first(kHeaderWords);
  FunctionCode* function = nullptr;
  for (size_t at = kHeaderWords; at < words.size();) {
    const size_t count = words[at] >> 16;
    if (count < leastWords(static_cast<uint16_t>(words[at] & 0xffff)) || count > words.size() - at) return false;
    const Instruction i = words.subspan(at, count);
    at += count;
    if (opOf(i) == OpFunction) {
      if (function) return false;
      function = &functions.emplace_back();
      byId[i[2]] = function;
    }
    if (!function) {
      globals.push_back(i);
      if (opOf(i) == OpEntryPoint) entry = i[2];
    } else if (opOf(i) == OpFunctionEnd) {
      if (function->blocks.empty() || function->blocks.back().terminator.empty()) return false;
      function = nullptr;
    } else if (!function->read(i)) {
      return false;
    }
  }
  return !function && !functions.empty() && byId.contains(entry);
}

std::vector<uint32_t> targetsOf(Instruction terminator) {
  switch (opOf(terminator)) {
    case OpBranch:
      return {terminator[1]};
    case OpBranchConditional:
      return {terminator[2], terminator[3]};
    case OpSwitch: {
      // Literals have one word. Half of a longer literal is not a label, which the caller notices.
      std::vector<uint32_t> targets{terminator[2]};
      for (size_t i = 4; i < terminator.size(); i += 2) targets.push_back(terminator[i]);
      return targets;
    }
    default:
      return {};
  }
}

}  // namespace dimple::vulkan::spirv
