// SPIR-V as bytes of which a compressor makes two thirds of what it makes of the words: each word as its difference
// from the last one in this place of an instruction of this kind, in seven bits a byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dimple {

std::vector<uint8_t> packWords(std::span<const uint32_t> words);

// What packWords was given. Bytes that it did not make unpack to some words.
std::vector<uint32_t> unpackWords(std::span<const uint8_t> bytes);

}  // namespace dimple
