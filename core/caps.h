// A snapshot of what a device can do, as plain data, so that planning is a pure function.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/matrix_shape.h"

namespace dimple {

// Optional abilities of a device that kernels may need. The bits are those of KernelFeature in kernels/kernel_table.h.
enum class Feature : uint32_t {
  Int8 = 1u << 0,
  Int16 = 1u << 1,
  Int64 = 1u << 2,
  Float16 = 1u << 3,
  Float64 = 1u << 4,
  Storage8 = 1u << 5,
  Storage16 = 1u << 6,
  SubgroupBasic = 1u << 7,
  SubgroupVote = 1u << 8,
  SubgroupArithmetic = 1u << 9,
  SubgroupBallot = 1u << 10,
  SubgroupShuffle = 1u << 11,
  CooperativeMatrix = 1u << 16,
  MemoryModel = 1u << 17,
  DotProduct = 1u << 19,
  Push8 = 1u << 23,
  Push16 = 1u << 24,
};

// "64-bit integer arithmetic (shaderInt64)"
std::string_view featureName(Feature feature);

// The multiply-adds that a dispatch may take without a driver mistaking it for a hang: on discrete GPUs, and on devices
// that may be much slower.
constexpr uint64_t kDiscreteWorkLimit = uint64_t{1} << 38;
constexpr uint64_t kWorkLimit = uint64_t{1} << 33;
// The number of workgroups that keeps the cores of a CPU busy.
constexpr uint32_t kWorkgroupsOfProcessor = 16;

// Bytes of the parameter block that every kernel declares.
constexpr uint32_t kParameterBlockBytes = 1024;

struct Caps {
  uint32_t features = 0;  // bits of Feature
  std::array<uint32_t, 3> maxGroups{65535, 65535, 65535};
  uint64_t maxBufferRange = (1ull << 32) - 4;  // bytes that one binding of a kernel can span
  uint32_t bufferOffsetAlignment = 16;         // bytes; offsets that the planner adds to a binding are multiples of it
  uint32_t parameterAlignment = 256;           // bytes; offsets of blocks in the parameter buffer
  uint32_t pushBytes = 128;
  uint64_t workLimit = kWorkLimit;  // multiply-adds of a dispatch that has more than one workgroup
  bool isProcessor = false;         // its driver executes kernels on the cores of a CPU
  uint32_t workgroups = 256;        // how many keep the whole device busy
  uint32_t sharedBytes = 32768;     // memory that the invocations of a workgroup share
  // The invocations of a workgroup in kernels that leave the number open: 256, 512 or 1024. 0: each kernel has the
  // number that it declares.
  uint32_t maxInvocations = 0;
  uint32_t subgroupSize = 0;  // invocations; set if a subgroup multiplies matrices
  // The matrices whose products a subgroup computes together: FLOAT16 factors with FLOAT32 sums, and signed 8-bit
  // factors with INT32 sums.
  MatrixShape matrices;
  MatrixShape integerMatrices;
  bool matrixHalves = false;  // `matrices` may also have sums in FLOAT16
  bool matrixPlaces = false;  // invocations should hold the elements of `matrices` that kernels/matrix/places.glsl says
  bool knownPlaces = false;   // they do, and those of `narrowMatrices`: a dispatch has looked
  MatrixShape narrowMatrices;  // half as wide as `matrices`, with elements where that file says; none: there are none
  // Pipelines are made for the words of Dispatch::fixed, so that the program of a chain becomes code.
  bool fixesParameters = false;
  // The first dispatch of a pipeline waits for its code where a run moves more bytes than the device's caches hold.
  bool coldCode = false;
  // Dispatches that bind the same bytes but touch different rows (core/plan/plan.h) do not wait for each other.
  bool barriersByRows = true;

  bool has(Feature feature) const { return (features & static_cast<uint32_t>(feature)) != 0; }
};

}  // namespace dimple
