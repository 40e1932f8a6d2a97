// kernels/manifest.txt: the only list of kernels, and of what each is given.
//
//   group lines                    words and constants that several families have
//     push u32 channels count
//     spec 3 structural u32 FILTERS=1 1 2 4
//   kernel binary                  a family: kernels of one interface; lines below it are indented
//     push u32 count rank          words behind the four of the grid, in this order. Types: u32 i32 f32; u64 i64 f64;
//                                  u16 i16, and u8 i8, which HLSL does not have. No word may leave a gap before it.
//     spec 0 structural u32 OP operators
//     spec 1 uniform i32 KIND=-1 -1 0 1 DML_REDUCE_FUNCTION_SUM 4..7
//                                  a specialization constant of 32 bits: its id, name, default (else 0) and values.
//                                  `operators`: every DML_OPERATOR_ enumerator that is a case label of `switch (OP)`;
//                                  where there is no such switch, or no other constant of operators, also of any that
//                                  is not over another constant.
//                                  structural: the value changes the size of the code, selects functions, unrolls
//                                  loops or picks branches; uniform: a number, or a choice that is better made when
//                                  the kernel runs. SPIR-V specializes both, DXIL reads both from a constant buffer.
//                                  Where a constant has one value, HLSL has it for a literal. 16 is INVOCATIONS, of a
//                                  workgroup: 256 by default; kernels that are not vulkan-only have one value of it.
//     push lines                   those of a group, in this place; in C++ the member `lines`, a LinesWords
//     spec lines                   in C++ a LinesSpecs
//     buffer r T a                 of bindings 0, 1, 2 of set 0: r, w or rw; the types of its elements; its name. T is
//     buffer rw T,u32x4 y          what common/types.glsl stores. Several types: of several views or several forms
//     source elementwise/binary.comp
//     type f32 f16 i8 u8           one kernel each, compiled with -DT=f32 -DT_f32=1
//     native f16 i8 u8             the same on 8- and 16-bit storage, compiled with -DNATIVE=1 too and named
//                                  binary_native.f16; those of 8 bits are vulkan-only, since HLSL has no such types
//     define NAME=VALUE
//     packed-of binary             the kernels do to each element of packed tensors what those of a family above, or of
//                                  other forms of this one, do to elements at any strides
//     vulkan-only                  no HLSL is made of it
//     pruned                       back ends may hand devices the code that constants leave of it; so are all
//                                  kernels with a structural constant OP
//     form strided binary          one of several kernels of the interface: what follows holds for this form alone.
//     form packed                  Its kernels are named by the second word, else binary_packed
//       spec 2 structural u32 WIDTH 1 2
//                                  a constant that other forms lack, or have with other values. In C++ it may be left
//                                  out for them, and is not passed on
//
// A # starts a comment. kernelgen makes of a family a GLSL include, interface.glsl, and a C++ header, and compares the
// modules with it. A family that is added at the end leaves the numbers of the others, and so their headers, as they
// are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel_id.h"
#include "tools/kernelgen/enums.h"
#include "tools/kernelgen/word_type.h"

namespace kernelgen {

struct Access {
  bool read = false;
  bool write = false;
  bool operator==(const Access&) const = default;
  std::string text() const { return read && write ? "rw" : read ? "r" : write ? "w" : "unused"; }
};

struct PushWord {
  std::string name;
  const WordType* type = nullptr;
  uint32_t offset = 0;  // bytes from the start of the block
  std::string group;    // that it is one of; empty: none
};

struct Spec {
  uint32_t id = 0;
  std::string name;
  const WordType* type = nullptr;
  bool structural = false;
  std::string standard;          // the default, as GLSL
  bool operators = false;        // the values are the operator cases of the source
  std::vector<uint32_t> values;  // bits, sorted
  std::string group;             // that it is one of; empty: none
  uint32_t forms = 0;            // bits of those that have it below them; 0: it is one of all
};

struct Buffer {
  std::string name;
  Access access;
  std::vector<std::string> types;  // "T", or GLSL's name
};

// Words that every push block begins with, of the folded grid (core/layout.h, gridWords).
constexpr const char* kGridWords[] = {"groupsX", "groupsXY", "groups", "firstGroup"};
constexpr uint32_t kGridBytes = 16;

struct Family {
  std::string name;
  dimple::KernelFamily number{};  // its place in the manifest
  std::vector<PushWord> push;     // behind the grid's
  std::vector<Spec> specs;        // sorted by id
  std::vector<Buffer> buffers;    // by binding
  std::vector<std::string> forms;
  bool typed = false;   // has types
  bool native = false;  // has native kernels
  int line = 0;

  // Whether forms differ in their constants.
  bool hasFormSpecs() const {
    return std::ranges::any_of(specs, [](const Spec& spec) { return spec.forms != 0; });
  }
  bool hasPush() const { return !push.empty(); }
  uint32_t pushBytes() const { return push.empty() ? kGridBytes : push.back().offset + push.back().type->bytes; }
};

// One module to compile.
struct Kernel {
  std::string name;
  dimple::KernelId id;
  Family family;                     // with the constants of its form alone, whose `operators` have values only once
                                     // it is compiled
  std::string interface;             // names what it includes of its family: kernels of one name include the same
  std::string source;                // relative to the kernel root
  std::vector<std::string> defines;  // NAME=VALUE
  bool portable = true;
  bool pruned = false;  // devices are given the code without what constants rule out
};

// Kernels for packed tensors, and the family of those for any strides.
struct Packed {
  dimple::KernelFamily family{};
  uint8_t form = 0;
  dimple::KernelFamily strided{};
  bool operator==(const Packed&) const = default;
};

struct Manifest {
  std::vector<Family> families;  // by number
  std::vector<Packed> packed;
  std::vector<Kernel> kernels;  // sorted by id
};

Manifest parseManifest(std::string_view text, const std::string& fileName, const Enums& enums);

}  // namespace kernelgen
