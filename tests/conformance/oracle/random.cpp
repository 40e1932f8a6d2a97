#include "tests/conformance/oracle/random.h"

#include <array>

#include "tests/conformance/oracle/fields.h"

namespace oracle {
namespace {

// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// 128 bits, the lowest word first.
void increment(std::array<uint32_t, 4>& counter) {
  for (uint32_t& word : counter)
    if (++word != 0) return;
}

}  // namespace

std::vector<Result> evaluateRandomGenerator(const DML_RANDOM_GENERATOR_OPERATOR_DESC& desc,
                                            std::span<const Array> inputs) {
  requireInputs(inputs, 1);
  const std::vector<int64_t>& state = inputs[0].whole;
  std::array<uint32_t, 4> counter{};
  std::array<uint32_t, 2> key{};
  for (size_t i = 0; i < 4; ++i) counter[i] = static_cast<uint32_t>(state.at(i));
  for (size_t i = 0; i < 2; ++i) key[i] = static_cast<uint32_t>(state.at(4 + i));
  const DML_BUFFER_TENSOR_DESC& output = bufferOf(desc.OutputTensor);
  std::vector<Result> results;
  results.push_back({makeArray(output.DataType, sizesOf(output)), exact()});
  std::array<uint32_t, 4> block{};
  for (size_t i = 0; i < results[0].value.whole.size(); ++i) {
    if (i % 4 == 0) {
      block = philox(counter, key);
      increment(counter);
    }
    results[0].value.whole[i] = block[i % 4];
  }
  if (desc.OutputStateTensor == nullptr) {
    results.emplace_back();
    return results;
  }
  results.push_back({inputs[0], exact()});
  for (size_t i = 0; i < 4; ++i) results[1].value.whole[i] = counter[i];
  return results;
}

}  // namespace oracle
