// kernels/modules.txt: which kernels get modules of DXIL beside the one that serves all values of their constants.
//
//   convolution_direct.f32 FILTERS=* WINDOW=3 STRIDE=1,2
//
// A line makes a module for each combination of values, in which those constants are literals; the constants that it
// leaves out are read when the kernel runs. A * stands for all values that the manifest gives the constant. A kernel
// may have several lines. A # starts a comment.
//
//   gemm_large_tile.f32 LONG
//
// The word LONG makes modules of the kernel's long form, without DIMPLE_COMPACT and with 64-bit integers for products
// (withWideProducts): code that a processor takes many seconds to compile or gains nothing from, and that only other
// devices get. The word O3 makes DXC compile with -O3 instead of -O2, which takes it up to four times as long.
//
//   pool_vectors_lines.f16 HALVES FUNCTION=*
//
// Kernels that convert to FLOAT16 get all these modules a second time (withHalfConversions), and the word HALVES makes
// modules for this second set alone. Of a kernel for 16-bit storage there is no other set, so that its lines lack it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/kernelgen/manifest.h"

namespace kernelgen {

// Ids and values of constants, by id.
using FixedConstants = std::vector<std::pair<uint32_t, uint32_t>>;

struct ModuleKey {
  FixedConstants fixed;
  bool isLong = false;
  bool isO3 = false;  // does not distinguish modules
  bool convertsHalves = false;

  auto operator<=>(const ModuleKey& other) const {
    return std::tie(fixed, isLong, convertsHalves) <=> std::tie(other.fixed, other.isLong, other.convertsHalves);
  }
  bool operator==(const ModuleKey& other) const { return (*this <=> other) == 0; }
};

// By the name of the kernel, in the order of ids and values. `kernels`: with all values of their constants.
std::map<std::string, std::vector<ModuleKey>> parseModules(std::string_view text, const std::string& fileName,
                                                           const std::vector<const Kernel*>& kernels,
                                                           const Enums& enums);

// ".3-4.5-1.long.halves": what the name of a module's file has behind the kernel's.
std::string moduleSuffix(const ModuleKey& module);

// A kernel's HLSL with literals for the constants.
std::string withFixed(const std::string& hlsl, const FixedConstants& fixed, const Family& family);

}  // namespace kernelgen
