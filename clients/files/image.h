// PNG and JPEG files, and their pixels as tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/data_type.h"

namespace dimple::tool {

// Rows of interleaved channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha.
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 0;
  std::vector<uint8_t> pixels;
};

bool isImagePath(const std::filesystem::path& path);

// `channels` 0: as the file has them. Throws InputError.
Image readImage(const std::filesystem::path& path, uint32_t channels);

// PNG or JPEG by the extension. Throws RunError.
void writeImage(const std::filesystem::path& path, const Image& image);
// The bytes of a PNG file; none if it cannot be made.
std::vector<std::byte> pngOf(const Image& image);

Image resizeImage(const Image& image, uint32_t width, uint32_t height);

enum class PixelLayout : uint8_t {
  Interleaved,  // HWC; floats from 0 to 255
  Planar,       // CHW; floats from 0 to 1, as DxDispatch has them
};

// Types are UINT8, FLOAT16 and FLOAT32. Bytes are those of the elements, without padding.
bool isPixelType(DataType type);
std::vector<std::byte> toElements(const Image& image, DataType type, PixelLayout layout);
// Rounds to nearest and clamps; NaN becomes 0.
Image fromElements(std::span<const std::byte> bytes, DataType type, PixelLayout layout, uint32_t width, uint32_t height,
                   uint32_t channels);

}  // namespace dimple::tool
