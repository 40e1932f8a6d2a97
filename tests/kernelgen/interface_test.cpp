// The structures that kernelgen makes of words/manifest.txt. That they lie as the modules read them is asserted by a
// file that kernelgen makes, too, and that is compiled beside this one.
#include <doctest.h>

#include <cstring>

#include "kernels/interfaces/ids.h"
#include "kernels/interfaces/portable_words.h"
#include "kernels/interfaces/words.h"

using namespace dimple;

namespace {

const BufferRange kRange{SlotKind::Temporary, 0, 256, 64, true};

kernels::Words words() {
  return {.form = kernels::Words::Form::Vector,
          .type = {KernelType::F16, true},
          .push = {.wide = 0x123456789abcdef0u,
                   .offset = -2,
                   .scale = 0.5,
                   .count = 7,
                   .delta = -3,
                   .factor = 1.5f,
                   .low = 0x1234,
                   .high = 0x5678,
                   .first = -1,
                   .last = 2},
          .spec = {.shift = -1, .halfStep = 0.25f, .mode = 2},
          .x = kRange,
          .y = kRange,
          .sums = kernels::WriteBuffer::unwritten(kRange)};
}

// Whether members can be left out or misspelt.
template <class Push>
constexpr bool kTakesAll = requires {
  Push{.wide = 1u, .factor = 1.0f, .delta = 1, .low = uint16_t{1}};
};
template <class Push>
constexpr bool kTakesTooFew = requires {
  Push{.wide = 1u, .factor = 1.0f, .delta = 1};
};
template <class Push>
constexpr bool kTakesOther = requires {
  Push{.wide = 1u, .factor = 1.0f, .delta = 1, .lower = uint16_t{1}};
};
static_assert(kTakesAll<kernels::PortableWords::Push> && !kTakesTooFew<kernels::PortableWords::Push> &&
              !kTakesOther<kernels::PortableWords::Push>);

template <class Call>
constexpr bool kTakesNoBuffer = requires(typename Call::Push push, typename Call::Spec spec) {
  Call{.push = push, .spec = spec};
};
template <class Call>
constexpr bool kTakesNoSpec = requires(typename Call::Push push) {
  Call{.push = push, .y = kRange};
};
template <class Call>
constexpr bool kTakesEach = requires(typename Call::Push push, typename Call::Spec spec) {
  Call{.push = push, .spec = spec, .y = kRange};
};
static_assert(kTakesEach<kernels::PortableWords> && !kTakesNoBuffer<kernels::PortableWords> &&
              !kTakesNoSpec<kernels::PortableWords>);

}  // namespace

TEST_CASE("a structure becomes the words, constants and ranges of a dispatch") {
  const KernelCall call = words();
  CHECK(call.kernel == KernelId{KernelFamily::Words, 1, KernelType::F16, true});
  REQUIRE(call.push.size() == 11);
  uint64_t wide = 0;
  std::memcpy(&wide, call.push.data(), sizeof wide);
  CHECK(wide == 0x123456789abcdef0u);
  double scale = 0;
  std::memcpy(&scale, call.push.data() + 4, sizeof scale);
  CHECK(scale == 0.5);
  CHECK(call.push[6] == 7);
  CHECK(call.push[7] == 0xfffffffdu);
  CHECK(call.push[8] == 0x3fc00000u);
  CHECK(call.push[9] == 0x56781234u);
  CHECK(call.push[10] == 0x02ffu);
  CHECK(call.specialization == std::vector<Specialization>{{2, 0xffffffffu}, {5, 0x3e800000u}, {7, 2}});
  REQUIRE(call.buffers.size() == 3);
  CHECK_FALSE(call.buffers[0].writes);
  CHECK(call.buffers[1].writes);
  CHECK_FALSE(call.buffers[2].writes);
  CHECK(call.buffers[1].offset == 256);
}
