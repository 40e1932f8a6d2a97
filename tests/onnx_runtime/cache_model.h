// The sizes of the models that write_models --cache writes.
#pragma once

#include <cstdint>

namespace dimple::testing::cache_model {

constexpr int64_t kHeads = 4;
constexpr int64_t kKeyHeads = 2;
constexpr int64_t kChannels = 16;
constexpr int64_t kCapacity = 32;  // positions that the cache has room for
constexpr int64_t kPrompt = 5;
constexpr int64_t kElements = kKeyHeads * kCapacity * kChannels;  // of keys, and of values

}  // namespace dimple::testing::cache_model
