#include "core/plan/plan_builder.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/text.h"

namespace dimple {
namespace {

uint64_t wholeWords(uint64_t bytes) { return alignUp(bytes, 4); }

std::string nameOf(const Operation& op, const BufferRange& range) {
  if (range.kind == SlotKind::Input) return op.inputName(range.index);
  if (range.kind == SlotKind::Output) return op.outputName(range.index);
  return range.kind == SlotKind::Temporary ? "The temporary resource" : "The persistent resource";
}

// Kernels count elements in 32 bits and in steps, so a counter may exceed the last element by one step.
Status checkCounts(std::span<const Tensor> tensors, const auto& nameAt) {
  constexpr uint64_t kMostElements = (uint64_t{1} << 32) - (1 << 16);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].elements > kMostElements)
      return Error{ErrorCode::Unsupported, cat(nameAt(i), " has ", tensors[i].elements, " elements, expected at most ",
                                               kMostElements, ", which kernels can count.")};
  return {};
}

// Refuses a range that could not be split into windows.
Status checkRanges(const Operation& op, const Plan& plan, const Target& target) {
  for (const auto* dispatches : {&plan.initialization, &plan.execution})
    for (const Dispatch& dispatch : *dispatches)
      for (const BufferRange& range : dispatch.buffers)
        if (range.bytes > target.caps.maxBufferRange)
          return Error{ErrorCode::Unsupported,
                       cat(nameOf(op, range), " spans ", range.bytes, " bytes, but this device binds at most ",
                           target.caps.maxBufferRange, " bytes to a kernel.")};
  return {};
}

// Says which rows of a range the elements take that an operand of a walk comes to, unless it is all of it.
void setRows(BufferRange& range, const Walk& walk, uint32_t operand, uint32_t bits, const Target& target) {
  if (!target.caps.barriersByRows) return;
  std::vector<std::pair<uint64_t, uint32_t>> dimensions;
  for (uint32_t d = 0; d < walk.rank; ++d) dimensions.emplace_back(walk.strides[d][operand], walk.sizes[d]);
  const uint64_t start = uint64_t{walk.base[operand]} * bits;
  const Rows rows = rowsOf(std::move(dimensions), range.offset * 8 + start, bits);
  if (rows.pitch != 0 || rows.first != range.offset || rows.bytes != range.bytes) range.rows = rows;
}

// The part of an operand's range that a walk touches, from the last offset before it that can be bound. Moves the
// walk's base to match. A walk backwards is left as it is.
BufferRange touched(const WalkOperand& operand, Walk& walk, uint32_t index, const Target& target) {
  BufferRange range = operand.range;
  uint64_t elements = 1 + operand.tail;
  for (uint32_t d = 0; d < walk.rank; ++d) {
    if (walk.strides[d][index] > INT32_MAX) return range;
    elements += uint64_t{walk.sizes[d] - 1} * walk.strides[d][index];
  }
  const uint64_t start = uint64_t{walk.base[index]} * operand.bits / 8;
  const uint64_t bound = start / target.caps.bufferOffsetAlignment * target.caps.bufferOffsetAlignment;
  walk.base[index] -= static_cast<uint32_t>(bound * 8 / operand.bits);
  range.offset += bound;
  range.bytes = wholeWords(divideUp((walk.base[index] + elements) * operand.bits, 8));
  range.rows = {};
  if (!range.writes || operand.tail != 0) return range;
  setRows(range, walk, index, operand.bits, target);
  return range;
}

// Where to cut a walk in two: the dimension along which an operand spans most, at a multiple that keeps packed parts
// aligned. The size is 0 if it spans one element.
std::pair<uint32_t, uint32_t> cutOf(const Walk& walk, uint32_t operand) {
  constexpr uint32_t kMultiple = 4096;
  uint32_t dimension = 0;
  uint64_t most = 0;
  for (uint32_t d = 0; d < walk.rank; ++d)
    if (const uint64_t span = uint64_t{walk.sizes[d] - 1} * walk.strides[d][operand]; span > most) {
      most = span;
      dimension = d;
    }
  if (most == 0) return {0, 0};
  const uint32_t half = walk.sizes[dimension] / 2;
  return {dimension, half > kMultiple ? half / kMultiple * kMultiple : half};
}

bool storesNatively(uint32_t bytes, const Target& target) {
  return (bytes == 1 && target.caps.has(Feature::Storage8)) || (bytes == 2 && target.caps.has(Feature::Storage16));
}

}  // namespace

uint64_t taskGroups(uint64_t tasks, bool workgroupEach) { return workgroupEach ? tasks : divideUp(tasks, kGroupSize); }

KernelElement PlanBuilder::typedElement(DataType type) const {
  return {kernelType(type), storesNatively(byteWidth(type), target_)};
}

KernelElement PlanBuilder::sizedElement(DataType type) const {
  const uint32_t bits = bitWidth(type);
  return {bits == 8    ? KernelType::B8
          : bits == 16 ? KernelType::B16
          : bits == 32 ? KernelType::B32
                       : KernelType::B64,
          storesNatively(byteWidth(type), target_)};
}

uint64_t PlanBuilder::maxBoundElements(DataType type) const {
  const Caps& caps = target_.caps;
  return (caps.maxBufferRange - std::min<uint64_t>(caps.maxBufferRange, caps.bufferOffsetAlignment)) * 8 /
         bitWidth(type);
}

BufferRange PlanBuilder::input(size_t index) const {
  const Tensor& tensor = op_.input(index);
  return {SlotKind::Input, static_cast<uint32_t>(index), 0, tensor.spannedBytes(), false};
}

BufferRange PlanBuilder::output(size_t index) const {
  const Tensor& tensor = op_.output(index);
  BufferRange range{SlotKind::Output, static_cast<uint32_t>(index), 0, tensor.spannedBytes(), true};
  setRows(range, makeWalk(tensor.sizeSpan(), {&tensor}), 0, bitWidth(tensor.type), target_);
  return range;
}

Status PlanBuilder::checkBindable(uint64_t bytes, std::string_view what, std::string_view units,
                                  uint32_t unitBytes) const {
  const uint64_t most = target_.caps.maxBufferRange;
  if (bytes <= most) return {};
  return Error{ErrorCode::Unsupported,
               cat(what, ", but this device binds at most ", most / unitBytes, " ", units, " to a kernel.")};
}

BufferRange PlanBuilder::allocateTemporary(uint64_t bytes) {
  const uint64_t offset = plan_.temporaryBytes;
  plan_.temporaryBytes = alignUp(offset + bytes, DML_TEMPORARY_BUFFER_ALIGNMENT);
  return {SlotKind::Temporary, 0, offset, wholeWords(bytes), true};
}

Result<BufferRange> PlanBuilder::prepare(size_t input, uint64_t bytes, const Make& make) {
  const bool once = op_.input(input).ownedByDml;
  BufferRange to{};
  if (once) {
    to = {SlotKind::Persistent, 0, plan_.persistentBytes, wholeWords(bytes), true};
    plan_.persistentBytes = alignUp(to.offset + bytes, DML_PERSISTENT_BUFFER_ALIGNMENT);
  } else {
    to = allocateTemporary(bytes);
  }
  initializing_ = once;
  auto status = make(this->input(input), to);
  initializing_ = false;
  TRY(status);
  to.writes = false;
  return to;
}

uint32_t PlanBuilder::parameters(const std::vector<uint32_t>& words) {
  auto& all = plan_.parameters;
  const size_t step = target_.caps.parameterAlignment / 4;
  for (size_t at = 0; at + words.size() <= all.size(); at += step)
    if (std::equal(words.begin(), words.end(), all.begin() + static_cast<ptrdiff_t>(at)))
      return static_cast<uint32_t>(at * 4);
  const size_t at = alignUp(all.size(), step);
  all.resize(at);
  all.insert(all.end(), words.begin(), words.end());
  return static_cast<uint32_t>(at * 4);
}

uint32_t PlanBuilder::parameters(const Walk& walk) {
  std::vector<uint32_t> words;
  appendWalk(words, walk);
  return parameters(words);
}

uint32_t PlanBuilder::parameters(const Walk& first, const Walk& second) {
  std::vector<uint32_t> words;
  appendWalk(words, first);
  appendWalk(words, second);
  return parameters(words);
}

Status PlanBuilder::add(const KernelCall& call, uint64_t groups, uint32_t parameterOffset, Work work) {
  if (!kernelIndex(call.kernel))
    return Error{ErrorCode::Internal,
                 cat(op_.schema().name, " asks for a kernel that the manifest does not have: family ",
                     static_cast<uint32_t>(call.kernel.family), ", form ", uint32_t{call.kernel.form}, ", type ",
                     kKernelTypeNames[static_cast<size_t>(call.kernel.type)], call.kernel.native ? ", native." : ".")};
  const auto tooMany = [&] {
    return Error{ErrorCode::Unsupported,
                 cat(op_.schema().name, " needs ", groups, " workgroups, more than this device can dispatch.")};
  };
  if (!foldGroups(groups, target_.caps)) return tooMany();
  const double total = work.multiplyAdds();
  const double limit = Work(target_.workLimit()).multiplyAdds();
  const double workOfGroup = std::ceil(total / Work(std::max<uint64_t>(1, groups)).multiplyAdds());
  const auto whole = [](double number) { return static_cast<uint64_t>(std::min(number, 0x1p63)); };
  if (workOfGroup > kMaxGroupWork.multiplyAdds())
    return Error{ErrorCode::Unsupported,
                 cat(op_.schema().name, " takes ", whole(workOfGroup), " multiply-adds a workgroup, expected at most ",
                     whole(kMaxGroupWork.multiplyAdds()), ".")};
  const uint64_t most = total <= limit ? groups : std::max<uint64_t>(1, whole(limit / workOfGroup));
  if (most != 0 && divideUp(groups, most) > kMaxWorkParts)
    return Error{ErrorCode::Unsupported, cat(op_.schema().name, " takes more than ", kMaxWorkParts, " dispatches of ",
                                             target_.workLimit(), " multiply-adds, this device's limit.")};
  Dispatch dispatch;
  dispatch.kernel = call.kernel;
  dispatch.specialization = call.specialization;
  if (target_.caps.fixesParameters) dispatch.fixed = call.fixed;
  dispatch.groupSize = groupSizeOf(call.specialization, kGroupSize);
  dispatch.push.resize(4);
  dispatch.push.insert(dispatch.push.end(), call.push.begin(), call.push.end());
  dispatch.brief = call.brief;
  dispatch.buffers = call.buffers;
  dispatch.parameterOffset = parameterOffset;
  uint64_t first = 0;
  do {
    const uint64_t end = std::min(groups, first + most);
    const auto folded = foldGroups(end - first, target_.caps, first);
    if (!folded) return tooMany();
    dispatch.groups = *folded;
    std::ranges::copy(gridWords(dispatch.groups, first, end), dispatch.push.begin());
    // If whole ranges count instead of the touched parts, parts of operators that work in place overlap.
    dispatch.continues = (first != 0 || continues_) && (target_.caps.barriersByRows || !op_.schema().inPlace);
    dispatch.work = workOfGroup * Work(end - first).multiplyAdds();
    (initializing_ ? plan_.initialization : plan_.execution).push_back(dispatch);
    first = end;
  } while (first < groups);
  continues_ = false;
  return {};
}

Status PlanBuilder::addItems(const KernelCall& call, uint64_t items, uint32_t parameterOffset, Work workOfItem) {
  return add(call, divideUp(items, kGroupSize), parameterOffset, workOfItem * items);
}

Status PlanBuilder::addWalk(const Walk& walk, const KernelCall& call) {
  return addItems(call, walk.count(), parameters(walk), 1);
}

Status PlanBuilder::addWindows(const Walk& walk, std::span<const WalkOperand> operands, const AddPart& add) {
  uint32_t partsLeft = kMaxParts;
  return addParts(walk, operands, add, partsLeft);
}

Error PlanBuilder::tooManyParts(const BufferRange& range) const {
  return {ErrorCode::Unsupported,
          cat(nameOf(op_, range), " spans ", range.bytes, " bytes, which takes more than ", kMaxParts,
              " dispatches on this device, which binds at most ", target_.caps.maxBufferRange, " bytes to a kernel.")};
}

Status PlanBuilder::addParts(const Walk& walk, std::span<const WalkOperand> operands, const AddPart& add,
                             uint32_t& partsLeft) {
  Walk part = walk;
  std::vector<BufferRange> ranges;
  uint32_t widest = 0;
  for (uint32_t k = 0; k < operands.size(); ++k) {
    ranges.push_back(touched(operands[k], part, k, target_));
    if (ranges[k].bytes > ranges[widest].bytes) widest = k;
  }
  const auto [dimension, size] = cutOf(walk, widest);
  if (ranges[widest].bytes <= target_.caps.maxBufferRange || size == 0) {
    if (partsLeft-- == 0) return tooManyParts(operands[widest].range);
    return add(part, std::move(ranges));
  }
  Walk first = walk;
  Walk second = walk;
  first.sizes[dimension] = size;
  second.sizes[dimension] -= size;
  for (uint32_t k = 0; k < kMaxOperands; ++k) second.base[k] += size * walk.strides[dimension][k];
  TRY(addParts(first, operands, add, partsLeft));
  return addParts(second, operands, add, partsLeft);
}

Plan PlanBuilder::finish() {
  deriveBarriers(plan_.initialization, false);
  deriveBarriers(plan_.execution, op_.schema().inPlace);
  return std::move(plan_);
}

KernelType kernelType(DataType type) {
  const auto found = std::ranges::find(kKernelTypeNames, shortTypeName(type));
  return static_cast<KernelType>(found - std::begin(kKernelTypeNames));
}

bool readsInput(std::span<const Dispatch> dispatches, size_t input) {
  return std::ranges::any_of(dispatches, [&](const Dispatch& dispatch) {
    return std::ranges::any_of(dispatch.buffers, [&](const BufferRange& range) {
      return range.kind == SlotKind::Input && range.index == input;
    });
  });
}

Result<Plan> planUnkept(const Operation& op, const Target& target) {
  const OpSchema& schema = op.schema();
  if (!schema.plan)
    return Error{ErrorCode::NotImplemented, cat("DML_OPERATOR_", schema.name, " has no implementation.")};
  for (const Activation& activation : op.activations())
    if (const OpSchema* fused = findSchema(activation.type); !fused || !fused->plan)
      return Error{ErrorCode::NotImplemented, cat("The fused activation DML_OPERATOR_", fused ? fused->name : "INVALID",
                                                  " has no implementation.")};
  TRY(checkCounts(op.inputs(), [&](size_t i) { return op.inputName(i); }));
  TRY(checkCounts(op.outputs(), [&](size_t i) { return op.outputName(i); }));
  PlanBuilder builder(op, target);
  TRY(schema.plan(op, builder));
  Plan plan = builder.finish();
  TRY(checkRanges(op, plan, target));
  plan.parameters.resize(alignUp(plan.parameters.size(), target.caps.parameterAlignment / 4));
  return plan;
}

Result<Plan> planOperator(const Operation& op, const Target& target) {
  auto plan = planUnkept(op, target);
  if (!plan) return plan;
  for (size_t i = 0; i < op.inputs().size(); ++i)
    if (op.input(i).ownedByDml && readsInput(plan->execution, i))
      TRY(keepInput(*plan, static_cast<uint32_t>(i), op.input(i), target));
  return plan;
}

}  // namespace dimple
