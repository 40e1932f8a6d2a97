// The options of Dimple besides its API: a table of them, read once when a device is created.
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
  uint32_t withoutPasses = 0;   // one bit per pass, in their order
  bool estimates = true;        // chains are made only where they are expected to be faster than their nodes
  bool unroll = true;           // the driver may unroll loops in kernels
  bool nativeStorage = true;    // use 8- and 16-bit storage if the device has it
  bool roundedHalves = true;    // use the device's own conversions to FLOAT16 if it says how they round
  bool updateAfterBind = true;  // let descriptors change after recording if the device allows it
  uint64_t work = 0;            // the most multiply-adds of a dispatch; 0: the device's limit
  bool warmUps = true;          // code is brought to the caches ahead (core/graph/warm_ups.h)
  bool places = true;           // kernels may set elements of matrices where they know who holds them
  MatrixShape matrices;         // of subgroups, for FLOAT16; none: the best that the device offers
  MatrixShape integerMatrices;  // the same for 8-bit integers
  std::string kernels;          // a folder of modules in place of embedded ones; empty: none

  bool runsPass(size_t index) const { return (withoutPasses >> index & 1) == 0; }
  bool operator==(const Options&) const = default;
};

struct OptionRow {
  struct Passes {
    uint32_t bits;
  };
  // Where the value is stored.
  using Member =
      std::variant<bool Options::*, uint64_t Options::*, MatrixShape Options::*, std::string Options::*, Passes>;

  std::string_view name;
  std::string_view fallback;  // the value if none is given
  std::string_view sentence;  // what it does
  std::string_view reason;    // why somebody would change it
  Member member;
};

// All options of this build.
std::span<const OptionRow> optionRows();

// Reads "views=0,work=4096". Options that the text does not name keep the values of `options`. Refuses unknown names
// and values.
Result<Options> parseOptions(std::string_view text, Options options = {});

}  // namespace dimple
