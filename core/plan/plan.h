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

// The bytes of a range that are touched: `bytes` bytes from byte `first` of the buffer on, and again every `pitch`
// bytes. All three are multiples of 4. If `pitch` is 0, they are touched only once. If `bytes` is 0, the whole range is
// touched.
struct Rows {
  uint64_t first = 0;
  uint32_t bytes = 0;
  uint32_t pitch = 0;
};

// The rows of elements of `bits` bits with these strides (in elements) and sizes, the first of which begins at bit
// `start` of a buffer. Elements that do not lie in rows of a single pitch form one row.
Rows rowsOf(std::vector<std::pair<uint64_t, uint32_t>> dimensions, uint64_t start, uint32_t bits);

// A range of one of the buffers that a binding table binds.
struct BufferRange {
  SlotKind kind;
  uint32_t index;   // of the input or output, in binding order; 0 for the others
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

// The invocations of a workgroup: the number that a constant says, or else the number that the kernel declares.
uint32_t groupSizeOf(std::span<const Specialization> specialization, uint32_t declared);

struct Dispatch {
  KernelId kernel;
  std::string label;  // of the graph's node, for people; empty outside of graphs
  std::vector<Specialization> specialization;
  // The first words of the parameter block, if they decide what the kernel does. A back end may make a pipeline for
  // these words only (Caps::fixesParameters). Empty: the kernel reads them.
  std::vector<uint32_t> fixed{};
  std::vector<uint32_t> push;  // push words
  // The last push words with which a workgroup ends soon, whatever it then computes. Empty: none are known.
  std::vector<uint32_t> brief{};
  std::vector<BufferRange> buffers;  // set 0, in order of binding
  uint32_t parameterOffset = 0;      // bytes into Plan::parameters
  std::array<uint32_t, 3> groups{1, 1, 1};
  double work = 0;         // multiply-adds of all workgroups, or steps that take equally long
  uint32_t groupSize = 0;  // groupSizeOf the kernel
  bool barrierBefore = false;
  bool continues = false;  // continues the dispatch before: it has other workgroups of it, and waits for nothing of it
};

// The name of a dispatch for debuggers and profilers: the label of its node, and its kernel.
std::string markerOf(const Dispatch& dispatch);

// A kernel that would have been preferred, and the reason why it was not used. The texts live as long as the program.
struct PassedOver {
  std::string_view kernel;
  std::string_view reason;         // a sentence
  std::array<uint32_t, 2> tile{};  // rows and columns per workgroup, for kernels that have several
};

struct Plan {
  std::vector<Dispatch> initialization;
  std::vector<Dispatch> execution;
  std::vector<uint32_t> parameters;  // immutable block of words, shared by both
  uint64_t temporaryBytes = 0;       // of execution
  uint64_t initializationBytes = 0;  // of the temporary resource, for the initialization
  uint64_t persistentBytes = 0;
  std::vector<PassedOver> passedOver;  // in order of preference

  // The number of descriptors that binding the dispatches takes.
  static uint32_t descriptorCount(std::span<const Dispatch> dispatches);
  // Whether a dispatch binds the same ranges as the one before, and therefore shares its descriptors: work that is
  // split into parts needs the descriptors of one.
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

// Returns Internal if the dispatch does not fit its kernel: if counts differ, if the dispatch says that it writes a
// buffer that the kernel only reads, or if it says that it does not write a buffer that the kernel only writes. Returns
// Unsupported, with the feature's name, if the device lacks a feature that the kernel needs.
Status checkDispatch(const Dispatch& dispatch, const KernelInterface& kernel, const Caps& caps);

// Totals of executing dispatches once.
struct PlanTotals {
  size_t dispatches = 0;
  size_t barriers = 0;
  uint64_t bytes = 0;  // of the ranges that they bind, each of which they read or write at least once
};
PlanTotals totalsOf(std::span<const Dispatch> dispatches);

// A text dump with one line per dispatch, stable enough for golden files.
std::string planText(const Plan& plan);
// The kernels that were passed over, one line each; empty if there are none.
std::string passedOverText(const Plan& plan);

// Sets barrierBefore so that no dispatch reads or writes a byte that an earlier dispatch wrote without a barrier
// between them, or writes a byte that an earlier one read. Only the bytes of rows count. Dispatches that continue
// others wait for nothing. `aliased` says that outputs may share memory with inputs.
void deriveBarriers(std::span<Dispatch> dispatches, bool aliased);

}  // namespace dimple
