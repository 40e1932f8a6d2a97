// kernels/manifest.txt: the only list of kernels.
//
//   kernel binary                   a stanza; lines below it are indented
//     source elementwise/binary.comp
//     type f32 f16 i8 u8            short for `variant T f32 f16 i8 u8`
//     variant MODE packed strided   compiled with -DMODE=packed -DMODE_packed=1, named binary.f32.packed, ...
//     access r r w                  of bindings 0, 1, 2 of set 0: r, w or rw
//     spec 0 OP operators           every DML_OPERATOR_ enumerator that is a case label of `switch (OP)`; where there
//                                   is no such switch, of any that is not over another specialization constant
//     spec 1 KIND 0 1 DML_REDUCE_FUNCTION_SUM 4..7
//     define NAME=VALUE
//     vulkan-only                   no HLSL is made of it
//     vulkan-only i8 u8             none of the variants with one of these values
//
// A # starts a comment. Every combination of variants is a kernel; the parts of its name follow the order of the lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/kernelgen/enums.h"

namespace kernelgen {

struct Access {
  bool read = false;
  bool write = false;
  bool operator==(const Access&) const = default;
  std::string text() const { return read && write ? "rw" : read ? "r" : write ? "w" : "unused"; }
};

struct Spec {
  uint32_t id = 0;
  std::string name;
  bool operators = false;        // the values are the operator cases of the source
  std::vector<uint32_t> values;  // sorted
};

// One module to compile.
struct Kernel {
  std::string name;
  std::string source;                // relative to the kernel root
  std::vector<std::string> defines;  // NAME=VALUE
  std::vector<Access> access;
  std::vector<Spec> specs;
  bool portable = true;
  int line = 0;  // of the stanza
};

// Sorted by name.
std::vector<Kernel> parseManifest(std::string_view text, const std::string& fileName, const Enums& enums);

}  // namespace kernelgen
