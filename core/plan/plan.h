// What a back end executes: plain data, made by pure functions from a validated description.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/caps.h"
#include "core/result.h"
#include "kernels/kernel_id.h"

namespace dimple {

enum class SlotKind : uint8_t { Input, Output, Temporary, Persistent };

// Which bytes of a range are touched: `bytes` from byte `first` of the buffer on, and so again every `pitch` bytes. All
// are multiples of 4. A pitch of 0: only once. No bytes: all of the range.
struct Rows {
  uint64_t first = 0;
  uint32_t bytes = 0;
  uint32_t pitch = 0;
};

// The rows of elements of `bits` bits with these strides (in elements) and sizes, of which the first begins at bit
// `start` of a buffer. What does not lie in rows of one pitch is one row.
Rows rowsOf(std::vector<std::pair<uint64_t, uint32_t>> dimensions, uint64_t start, uint32_t bits);

// A range of one of the buffers that a binding table binds.
struct BufferRange {
  SlotKind kind;
  uint32_t index;   // of the input or output in binding order; 0 for the others
  uint64_t offset;  // bytes from the start of the bound range; a multiple of Caps::bufferOffsetAlignment
  uint64_t bytes;   // a multiple of 4
  bool writes;
  Rows rows{};
};

struct Specialization {
  uint32_t id;
  uint32_t value;  // bits
  bool operator==(const Specialization&) const = default;
};

// Invocations of a workgroup: those that a constant says, else those that the kernel declares.
uint32_t groupSizeOf(std::span<const Specialization> specialization, uint32_t declared);

struct Dispatch {
  KernelId kernel;
  std::string label;  // of a graph's node, for people; empty outside of graphs
  std::vector<Specialization> specialization;
  // The first words of the parameter block, where they decide what the kernel does: a back end may make a pipeline for
  // them alone (Caps::fixesParameters). Empty: it reads them.
  std::vector<uint32_t> fixed{};
  std::vector<uint32_t> push;        // push words
  std::vector<BufferRange> buffers;  // set 0, in order of binding
  uint32_t parameterOffset = 0;      // bytes into Plan::parameters
  std::array<uint32_t, 3> groups{1, 1, 1};
  double work = 0;         // multiply-adds of all workgroups, or steps that take as long
  uint32_t groupSize = 0;  // groupSizeOf the kernel
  bool barrierBefore = false;
  bool continues = false;  // the one before: other workgroups of the same, which wait for nothing of it
};

// What names a dispatch to debuggers and profilers: its kernel, behind the label of its node.
std::string markerOf(const Dispatch& dispatch);

// A kernel that would have been preferred, and why it was not taken. The texts live as long as the program.
struct PassedOver {
  std::string_view kernel;
  std::string_view reason;         // a sentence
  std::array<uint32_t, 2> tile{};  // rows and columns a workgroup, of kernels that come with several
};

struct Plan {
  std::vector<Dispatch> initialization;
  std::vector<Dispatch> execution;
  std::vector<uint32_t> parameters;  // immutable block of words, common to both
  uint64_t temporaryBytes = 0;       // of execution
  uint64_t initializationBytes = 0;  // of the temporary resource that initialization takes
  uint64_t persistentBytes = 0;
  std::vector<PassedOver> passedOver;  // in order of preference

  // Descriptors that binding the dispatches takes.
  static uint32_t descriptorCount(std::span<const Dispatch> dispatches);
  // Whether a dispatch binds the ranges that the one before binds, whose descriptors it shares then: work in parts
  // takes those of one.
  static bool sharesDescriptors(std::span<const Dispatch> dispatches, size_t index);
};

// What a kernel's module declares.
struct KernelInterface {
  uint32_t bindings = 0;
  uint32_t readBindings = 0;     // a bit a binding
  uint32_t writtenBindings = 0;  // a bit a binding
  uint32_t pushWords = 0;
  uint32_t groupSize = 0;
  uint32_t features = 0;  // bits of Feature
};

// Internal if the dispatch does not fit its kernel: other counts, or a buffer that it says is written where the kernel
// only reads, or that it says is not where the kernel only writes. Unsupported, by the feature's name, if the device
// lacks what the kernel needs.
Status checkDispatch(const Dispatch& dispatch, const KernelInterface& kernel, const Caps& caps);

// What executing dispatches once amounts to.
struct PlanTotals {
  size_t dispatches = 0;
  size_t barriers = 0;
  uint64_t bytes = 0;  // of the ranges that they bind: what they read and write, each at least once
};
PlanTotals totalsOf(std::span<const Dispatch> dispatches);

// A text dump with one line per dispatch, stable enough for golden files.
std::string planText(const Plan& plan);
// What was passed over, one line per kernel; empty if nothing was.
std::string passedOverText(const Plan& plan);

// Sets barrierBefore, so that no dispatch reads or writes a byte that an earlier one without a barrier between wrote,
// or writes one that it read; rows count for bytes. Dispatches that continue others wait for nothing. `aliased` says
// that outputs may share memory with inputs.
void deriveBarriers(std::span<Dispatch> dispatches, bool aliased);

}  // namespace dimple
