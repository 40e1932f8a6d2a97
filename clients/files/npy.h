// NumPy's .npy files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/data_type.h"

namespace dimple::tool {

struct NpyArray {
  DataType type = DML_TENSOR_DATA_TYPE_UNKNOWN;
  std::vector<uint64_t> sizes;
  std::vector<std::byte> bytes;  // row-major, little-endian
};

// Booleans are read as UINT8. Throws InputError with a sentence about the file.
NpyArray readNpy(const std::filesystem::path& path);

// Throws RunError. `bytes` holds the product of sizes elements.
void writeNpy(const std::filesystem::path& path, DataType type, std::span<const uint32_t> sizes,
              std::span<const std::byte> bytes);

// The whole of a file. Throws InputError.
std::vector<std::byte> readFile(const std::filesystem::path& path);
// Creates the folder if need be. Throws RunError.
void writeFile(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace dimple::tool
