// SPIR-V modules that say the same in fewer words.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace dimple::vulkan {

// The module with calls replaced by what they execute, blocks that follow each other as one, and without what only
// hands values on or is not used. Drivers compile it in half the time: theirs grows with functions, blocks and words.
// `known`: what results of functions' instructions are, integers of 32 bits and booleans.
// Returns a module that it does not understand unchanged.
std::vector<uint32_t> simplify(std::span<const uint32_t> module, const std::unordered_map<uint32_t, uint32_t>& known);

}  // namespace dimple::vulkan
