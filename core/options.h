// What can be chosen of how Dimple works besides its API: a table of options, read once when a device is created.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/matrix_shape.h"
#include "core/result.h"

namespace dimple {

constexpr size_t kMaxPasses = 32;

struct Options {
  uint32_t withoutPasses = 0;   // a bit a pass, in their order
  bool estimates = true;        // chains come only where they are expected to be faster than their nodes
  bool unroll = true;           // loops in kernels may be unrolled
  bool nativeStorage = true;    // 8- and 16-bit storage where the device has it
  bool roundedHalves = true;    // the device's own conversions to FLOAT16 where it says how they round
  bool updateAfterBind = true;  // descriptors that may change after recording where the device has them
  uint64_t work = 0;            // multiply-adds of a dispatch; 0: the device's limit
  MatrixShape matrices;         // of subgroups, FLOAT16; none: the best of the device's
  MatrixShape integerMatrices;  // and of 8-bit integers
  std::string kernels;          // a folder of modules in place of embedded ones; empty: none

  bool runsPass(size_t index) const { return (withoutPasses >> index & 1) == 0; }
  bool operator==(const Options&) const = default;
};

struct OptionRow {
  struct Passes {
    uint32_t bits;
  };
  // Where the value stands.
  using Member =
      std::variant<bool Options::*, uint64_t Options::*, MatrixShape Options::*, std::string Options::*, Passes>;

  std::string_view name;
  std::string_view fallback;  // the value where none is given
  std::string_view sentence;  // what it does
  std::string_view reason;    // why somebody would change it
  Member member;
};

// All options of this build.
std::span<const OptionRow> optionRows();

// "views=0,work=4096": `options` but for what is named. Refused: names and values that there are not.
Result<Options> parseOptions(std::string_view text, Options options = {});

}  // namespace dimple
