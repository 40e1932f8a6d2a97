// SPIR-V modules as instructions, and their functions as blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace dimple::vulkan::spirv {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr size_t kBoundWord = 3;  // of the header: more than any ID

// Decorations.
constexpr uint32_t kSpecId = 1;
constexpr uint32_t kBuiltIn = 11;
constexpr uint32_t kDescriptorSet = 34;
// Storage classes.
constexpr uint32_t kFunctionStorage = 7;

enum Op : uint16_t {
  OpUndef = 1,
  OpName = 5,
  OpMemberName = 6,
  OpLine = 8,
  OpExtInst = 12,
  OpEntryPoint = 15,
  OpExecutionMode = 16,
  OpCapability = 17,
  OpTypeVoid = 19,
  OpTypeBool = 20,
  OpTypeInt = 21,
  OpTypeVector = 23,
  OpTypeArray = 28,
  OpTypeStruct = 30,
  OpTypePipe = 38,
  OpConstantTrue = 41,
  OpConstantFalse = 42,
  OpConstant = 43,
  OpSpecConstantTrue = 48,
  OpSpecConstantFalse = 49,
  OpSpecConstant = 50,
  OpSpecConstantOp = 52,
  OpFunction = 54,
  OpFunctionParameter = 55,
  OpFunctionEnd = 56,
  OpFunctionCall = 57,
  OpVariable = 59,
  OpLoad = 61,
  OpStore = 62,
  OpCopyMemory = 63,
  OpCopyMemorySized = 64,
  OpAccessChain = 65,
  OpDecorate = 71,
  OpMemberDecorate = 72,
  OpVectorExtractDynamic = 77,
  OpVectorInsertDynamic = 78,
  OpVectorShuffle = 79,
  OpCompositeConstruct = 80,
  OpCompositeExtract = 81,
  OpCompositeInsert = 82,
  OpCopyObject = 83,
  OpConvertFToU = 109,
  OpBitcast = 124,
  OpSNegate = 126,
  OpIAdd = 128,
  OpISub = 130,
  OpIMul = 132,
  OpUDiv = 134,
  OpUMod = 137,
  OpSMulExtended = 152,
  OpAny = 154,
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
  OpFUnordGreaterThanEqual = 191,
  OpShiftRightLogical = 194,
  OpShiftLeftLogical = 196,
  OpBitwiseOr = 197,
  OpBitwiseXor = 198,
  OpBitwiseAnd = 199,
  OpBitCount = 205,
  OpControlBarrier = 224,
  OpMemoryBarrier = 225,
  OpAtomicLoad = 227,
  OpAtomicStore = 228,
  OpAtomicXor = 242,
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
  OpTypeCooperativeMatrixKHR = 4456,
  OpCooperativeMatrixStoreKHR = 4458,
};

using Instruction = std::span<const uint32_t>;

inline uint16_t opOf(Instruction i) { return static_cast<uint16_t>(i[0] & 0xffff); }
constexpr uint32_t headOf(uint16_t op, size_t words) { return static_cast<uint32_t>(words << 16) | op; }
inline bool terminates(Instruction i) { return opOf(i) >= OpBranch && opOf(i) <= OpUnreachable; }

// Words that are read of an instruction without looking at its length.
size_t leastWords(uint16_t op);

// The ID that an instruction of a function defines; 0: none.
uint32_t resultOf(Instruction i);

// Whether it speaks about the ID in its first operand, with which it goes.
bool annotates(uint16_t op);

// The word behind an instruction's IDs, if its first operand is one and those that are none come last; the instruction
// of an extended set, a literal, does not count. Returns 0 if it is of none of the kinds whose literals are known.
size_t idsEnd(Instruction i);

// Calls `take` with the places of the IDs among the words of an instruction of a function. False if it is of none of
// the kinds whose literals are known.
template <class Take>
bool forEachId(Instruction i, const Take& take) {
  const uint16_t op = opOf(i);
  if (op == OpSwitch) {
    // Behind the selector and the default come pairs of a literal and a label.
    take(size_t{1});
    for (size_t w = 2; w < i.size(); w += 2) take(w);
    return true;
  }
  const size_t end = idsEnd(i);
  for (size_t w = 1; w < end; ++w)
    if (op != OpExtInst || w != 4) take(w);
  return end != 0;
}

// The instruction with the IDs that a map has for its own. No value if it is of none of the kinds whose literals are
// known.
std::optional<std::vector<uint32_t>> renamed(Instruction i, const std::unordered_map<uint32_t, uint32_t>& names);

struct Block {
  uint32_t label = 0;
  std::vector<Instruction> body;  // without the label, the merge instruction and the terminator
  Instruction merge;              // empty: none
  Instruction terminator;
  std::vector<uint32_t> targets;       // that may be taken
  std::optional<uint32_t> onlyTarget;  // of a selection whose outcome is known
  bool live = false;                   // may be executed
  bool keepsMerge = false;             // still has its merge instruction

  bool isLoop() const { return !merge.empty() && opOf(merge) == OpLoopMerge; }
};

struct FunctionCode {
  std::vector<Instruction> head;  // OpFunction and its parameters
  std::vector<Block> blocks;
  std::unordered_map<uint32_t, size_t> byLabel;
  bool live = false;
  std::optional<uint32_t> result;  // that every call returns

  uint32_t id() const { return head.front()[2]; }
  Block* find(uint32_t label) {
    const auto found = byLabel.find(label);
    return found == byLabel.end() ? nullptr : &blocks[found->second];
  }
  // Takes the next instruction between OpFunction, which is the first, and OpFunctionEnd. False if it has no place.
  bool read(Instruction i);
};

// Labels that an instruction at the end of a block names.
std::vector<uint32_t> targetsOf(Instruction terminator);

// What stands before functions, and these.
struct ModuleCode {
  Instruction header;
  std::vector<Instruction> globals;
  std::deque<FunctionCode> functions;  // addresses stay
  std::unordered_map<uint32_t, FunctionCode*> byId;
  uint32_t entry = 0;  // the function

  // False where the module is not one that this file understands.
  bool read(std::span<const uint32_t> words);
};

}  // namespace dimple::vulkan::spirv
