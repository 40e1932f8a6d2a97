#include "core/plan_builder.h"

#include <algorithm>

#include "core/checked.h"
#include "core/ops/copy.h"
#include "core/text.h"

namespace dimple {
namespace {

uint64_t wholeWords(uint64_t bytes) { return alignUp(bytes, 4); }

Status checkRange(const std::string& name, const Tensor& tensor, const Caps& caps) {
  const uint64_t bytes = wholeWords(tensor.extent * byteWidth(tensor.type));
  if (bytes <= caps.maxBufferRange) return {};
  return Error{ErrorCode::Unsupported, cat(name, " spans ", bytes, " bytes, but this device binds at most ",
                                           caps.maxBufferRange, " bytes to a kernel.")};
}

bool storesNatively(uint32_t bytes, const Caps& caps) {
  return (bytes == 1 && caps.has(Feature::Storage8)) || (bytes == 2 && caps.has(Feature::Storage16));
}

}  // namespace

BufferRange PlanBuilder::input(size_t index) const {
  const Tensor& tensor = view_.input(index);
  return {SlotKind::Input, static_cast<uint32_t>(index), 0, wholeWords(tensor.extent * byteWidth(tensor.type)), false};
}

BufferRange PlanBuilder::output(size_t index) const {
  const Tensor& tensor = view_.output(index);
  return {SlotKind::Output, static_cast<uint32_t>(index), 0, wholeWords(tensor.extent * byteWidth(tensor.type)), true};
}

BufferRange PlanBuilder::allocateTemporary(uint64_t bytes) {
  const uint64_t offset = plan_.temporaryBytes;
  plan_.temporaryBytes = alignUp(offset + bytes, DML_TEMPORARY_BUFFER_ALIGNMENT);
  return {SlotKind::Temporary, 0, offset, wholeWords(bytes), true};
}

uint32_t PlanBuilder::parameters(const std::vector<uint32_t>& words) {
  auto& all = plan_.parameters;
  const size_t step = caps_.parameterAlignment / 4;
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

Status PlanBuilder::add(std::string kernel, uint64_t groups, std::vector<uint32_t> push,
                        std::vector<BufferRange> buffers, uint32_t parameterOffset,
                        std::vector<Specialization> specialization) {
  const auto folded = foldGroups(groups, caps_);
  if (!folded)
    return Error{ErrorCode::Unsupported,
                 cat(view_.schema().name, " needs ", groups, " workgroups, more than this device can dispatch.")};
  Dispatch dispatch;
  dispatch.kernel = std::move(kernel);
  dispatch.specialization = std::move(specialization);
  dispatch.groups = *folded;
  dispatch.groupSize = kGroupSize;
  dispatch.push = {(*folded)[0], (*folded)[0] * (*folded)[1], static_cast<uint32_t>(groups)};
  dispatch.push.insert(dispatch.push.end(), push.begin(), push.end());
  dispatch.buffers = std::move(buffers);
  dispatch.parameterOffset = parameterOffset;
  plan_.execution.push_back(std::move(dispatch));
  return {};
}

Status PlanBuilder::addItems(std::string kernel, uint64_t items, std::vector<uint32_t> push,
                             std::vector<BufferRange> buffers, uint32_t parameterOffset,
                             std::vector<Specialization> specialization) {
  return add(std::move(kernel), divideUp(items, kGroupSize), std::move(push), std::move(buffers), parameterOffset,
             std::move(specialization));
}

Plan PlanBuilder::finish() {
  deriveBarriers(plan_.execution, view_.schema().inPlace);
  return std::move(plan_);
}

std::string typedKernel(std::string_view family, DataType type, const Caps& caps) {
  return cat(family, storesNatively(byteWidth(type), caps) ? "_native." : ".", shortTypeName(type));
}

std::string sizedKernel(std::string_view family, DataType type, const Caps& caps) {
  return cat(family, storesNatively(byteWidth(type), caps) ? "_native.b" : ".b", bitWidth(type));
}

Result<Plan> planOperator(const OpView& view, const Caps& caps) {
  const OpSchema& schema = view.schema();
  if (!schema.plan)
    return Error{ErrorCode::NotImplemented, cat("DML_OPERATOR_", schema.name, " has no implementation.")};
  for (const Activation& activation : view.activations())
    if (const OpSchema* fused = findSchema(activation.type); !fused || !fused->plan)
      return Error{ErrorCode::NotImplemented, cat("The fused activation DML_OPERATOR_", fused ? fused->name : "INVALID",
                                                  " has no implementation.")};
  for (size_t i = 0; i < view.inputs().size(); ++i)
    if (view.input(i).present())
      if (auto error = checkRange(view.inputName(i), view.input(i), caps)) return *error;
  for (size_t i = 0; i < view.outputs().size(); ++i)
    if (view.output(i).present())
      if (auto error = checkRange(view.outputName(i), view.output(i), caps)) return *error;

  auto plan = schema.plan(view, caps);
  if (!plan) return plan;

  for (size_t i = 0; i < view.inputs().size(); ++i)
    if (view.input(i).ownedByDml)
      if (auto error = keepInput(*plan, static_cast<uint32_t>(i), view.input(i), caps)) return *error;

  plan->parameters.resize(alignUp(plan->parameters.size(), caps.parameterAlignment / 4));
  return plan;
}

}  // namespace dimple
