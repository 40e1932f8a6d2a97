// Helpers for plan functions: dispatches over a grid, parameter blocks, temporary memory.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/layout.h"
#include "core/operation.h"
#include "core/plan/kernel_call.h"
#include "core/plan/plan.h"
#include "core/target.h"
#include "kernels/interfaces/groups.h"

namespace dimple {

// Invocations per workgroup in every kernel that works on a linear grid.
constexpr uint32_t kGroupSize = 256;

// The workgroups that tasks take if each task has a workgroup, or an invocation, of its own.
uint64_t taskGroups(uint64_t tasks, bool workgroupEach);

// The work of workgroups, in multiply-adds or steps that take equally long. Products of sizes may exceed any integer.
class Work {
 public:
  constexpr Work(double multiplyAdds) : multiplyAdds_(multiplyAdds) {}
  constexpr Work(std::integral auto multiplyAdds) : multiplyAdds_(static_cast<double>(multiplyAdds)) {}

  constexpr double multiplyAdds() const { return multiplyAdds_; }
  friend constexpr Work operator*(Work a, Work b) { return a.multiplyAdds_ * b.multiplyAdds_; }

 private:
  double multiplyAdds_;
};

// The work of finding an element by a window or a place, and of reading it.
constexpr Work kLookup = 8;
// The most work of one workgroup on any device: about a second on a slow one.
constexpr Work kMaxGroupWork = uint64_t{1} << 36;

// A tensor that a walk steps through, or the first elements of its rows.
struct WalkOperand {
  BufferRange range;
  uint32_t bits;      // of an element
  uint64_t tail = 0;  // elements that are read after each element that the walk comes to
};

// The most parts of an operator whose tensors span more than the device binds at once.
constexpr uint32_t kMaxParts = 256;
// The most parts of a dispatch that takes more work than the device's limit.
constexpr uint32_t kMaxWorkParts = 65536;

class PlanBuilder {
 public:
  PlanBuilder(const Operation& op, const Target& target) : op_(op), target_(target) {}

  const Target& target() const { return target_; }
  const Operation& op() const { return op_; }

  // The elements of a type: native if the type is narrower than 32 bits and the device stores it natively.
  KernelElement typedElement(DataType type) const;
  // The same by width, for kernels that move bits.
  KernelElement sizedElement(DataType type) const;
  // The elements of a type that the device binds at once, wherever they start.
  uint64_t maxBoundElements(DataType type) const;

  // The whole of an input or output tensor.
  BufferRange input(size_t index) const;
  BufferRange output(size_t index = 0) const;
  WalkOperand inputOperand(size_t index, uint64_t tail = 0) const {
    return {input(index), bitWidth(op_.input(index).type), tail};
  }
  WalkOperand outputOperand(size_t index = 0) const { return {output(index), bitWidth(op_.output(index).type)}; }
  // Returns Unsupported if the device cannot bind so many bytes at once. `what` says what needs them, counted in
  // `units` of `unitBytes` bytes.
  Status checkBindable(uint64_t bytes, std::string_view what, std::string_view units = "bytes",
                       uint32_t unitBytes = 1) const;
  // A part of the temporary resource, aligned to 256 bytes.
  BufferRange allocateTemporary(uint64_t bytes);

  // Prepares `bytes` bytes that depend on a single input, in the form that other dispatches need. The dispatches that
  // `make` adds write to the range that it is given. If DML owns the tensor, this is a part of the persistent resource,
  // and they run at initialization. Otherwise it is a part of the temporary resource, and they run at every execution.
  // There is no temporary resource at initialization.
  using Make = std::function<Status(const BufferRange& from, const BufferRange& to)>;
  Result<BufferRange> prepare(size_t input, uint64_t bytes, const Make& make);

  // Stores a parameter block; equal blocks share storage. Returns its byte offset.
  uint32_t parameters(const std::vector<uint32_t>& words);
  uint32_t parameters(const Walk& walk);
  // The second walk begins where first.vectors() says.
  uint32_t parameters(const Walk& first, const Walk& second);

  // Adds a dispatch of `groups` workgroups. The push block of every kernel starts with {groups in x, groups in x * y,
  // end of the groups, first group}, which this function puts before the words of the call. `work` is that of all
  // workgroups together. If it exceeds the device's limit, the groups are split into several dispatches. Returns
  // Unsupported if there would be more than kMaxWorkParts of them, or if a group does more than kMaxGroupWork, and
  // Internal if the manifest has no such kernel.
  Status add(const KernelCall& call, uint64_t groups, uint32_t parameterOffset, Work work);
  // The same for one invocation per item.
  Status addItems(const KernelCall& call, uint64_t items, uint32_t parameterOffset, Work workOfItem);
  // The same for one invocation per element of a walk, which makes up all parameters. The work for an element must not
  // depend on attributes or sizes.
  Status addWalk(const Walk& walk, const KernelCall& call);

  // The next dispatch waits for nothing: it writes elements that the dispatch before neither writes nor reads, and
  // reads nothing that the dispatch before writes.
  void continueLast() { continues_ = true; }

  // Calls `add` for the walk or, if an operand spans more than the device binds at once, for parts of it. It passes the
  // bytes of each range that the part touches, as far as the device's alignment allows, and bases of the part that
  // match. An operand that is walked backwards is bound whole. Returns Unsupported if there would be more than
  // kMaxParts.
  using AddPart = std::function<Status(const Walk& part, std::vector<BufferRange> ranges)>;
  Status addWindows(const Walk& walk, std::span<const WalkOperand> operands, const AddPart& add);

  // The refusal of a tensor that would take more than kMaxParts.
  Error tooManyParts(const BufferRange& range) const;

  // Records a kernel that would have been preferred.
  void passOver(const PassedOver& kernel) { plan_.passedOver.push_back(kernel); }

  Plan finish();

 private:
  Status addParts(const Walk& walk, std::span<const WalkOperand> operands, const AddPart& add, uint32_t& partsLeft);

  const Operation& op_;
  const Target& target_;
  Plan plan_;
  bool initializing_ = false;  // added dispatches belong to the initialization
  bool continues_ = false;     // the next dispatch continues the last one
};

KernelType kernelType(DataType type);

// The words that a kernel needs to step through a walk, besides its parameters.
inline kernels::WalkWords walkWords(const Walk& walk) { return {static_cast<uint32_t>(walk.count()), walk.rank}; }

// Plans an operator: applies its schema's plan and the device's limits. Inputs owned by DML that the execution reads
// are copied into the persistent resource at initialization.
Result<Plan> planOperator(const Operation& op, const Target& target);
// The same, but the execution reads inputs owned by DML where they are.
Result<Plan> planUnkept(const Operation& op, const Target& target);

// Whether a dispatch reads an input.
bool readsInput(std::span<const Dispatch> dispatches, size_t input);

}  // namespace dimple
