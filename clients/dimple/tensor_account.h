// What a report says of a tensor: its numbers, and a picture if it is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "clients/dimple/json_file.h"
#include "core/data_type.h"

namespace dimple::tool {

struct TensorFacts {
  std::string name;
  std::string role;  // "input", "output"
  std::string type;  // as the reader knows it
  std::vector<uint64_t> sizes;
};

// `values`: all elements, row-major. A tensor is a picture if it has one, three or four channels of at least 16 rows
// and columns, before or behind them, and none but sizes of 1 in front.
Json accountOfTensor(const TensorFacts& facts, std::span<const double> values);
// Pixels of a picture that is no tensor.
Json accountOfPicture(const std::string& name, const std::string& role, uint32_t width, uint32_t height,
                      uint32_t channels, std::vector<uint8_t> pixels);

// The elements of packed bytes; none of a type of 4 bits.
std::vector<double> realsOf(DataType type, std::span<const std::byte> bytes);

}  // namespace dimple::tool
