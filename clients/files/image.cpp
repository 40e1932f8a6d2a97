#include "clients/files/image.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "clients/files/failure.h"
#include "clients/files/npy.h"
#include "core/schema/element_text.h"
#include "core/text.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#include <stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

namespace dimple::tool {
namespace {

constexpr int kJpegQuality = 95;

std::string extensionOf(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

// The position in a tensor of a channel of a pixel.
size_t elementIndex(const Image& image, PixelLayout layout, size_t pixel, size_t channel) {
  return layout == PixelLayout::Interleaved ? pixel * image.channels + channel
                                            : channel * image.width * image.height + pixel;
}

// Resamples lines of `count` pixels that are `step` elements apart, with a triangle as wide as the coarser grid.
void resizeLine(const float* from, uint32_t count, float* to, uint32_t newCount, size_t step) {
  const double scale = static_cast<double>(count) / newCount;
  const double radius = std::max(1.0, scale);
  for (uint32_t i = 0; i < newCount; ++i) {
    const double center = (i + 0.5) * scale - 0.5;
    const auto first = static_cast<int64_t>(std::ceil(center - radius));
    const auto last = static_cast<int64_t>(std::floor(center + radius));
    double sum = 0;
    double weights = 0;
    for (int64_t j = first; j <= last; ++j) {
      const double weight = 1.0 - std::fabs(static_cast<double>(j) - center) / radius;
      const auto source = static_cast<size_t>(std::clamp<int64_t>(j, 0, int64_t{count} - 1));
      sum += weight * static_cast<double>(from[source * step]);
      weights += weight;
    }
    to[i * step] = static_cast<float>(sum / weights);
  }
}

}  // namespace

bool isImagePath(const std::filesystem::path& path) {
  const std::string extension = extensionOf(path);
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

Image readImage(const std::filesystem::path& path, uint32_t channels) {
  const auto file = readFile(path);
  int width = 0;
  int height = 0;
  int fileChannels = 0;
  stbi_uc* pixels = stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()), static_cast<int>(file.size()),
                                          &width, &height, &fileChannels, static_cast<int>(channels));
  if (!pixels) {
    const char* reason = stbi_failure_reason();
    throw InputError(
        cat(path.string(), " is not an image that can be read", reason ? cat(": ", reason) : std::string(), "."));
  }
  Image image{static_cast<uint32_t>(width),
              static_cast<uint32_t>(height),
              channels ? channels : static_cast<uint32_t>(fileChannels),
              {}};
  image.pixels.assign(pixels, pixels + size_t{image.width} * image.height * image.channels);
  stbi_image_free(pixels);
  return image;
}

namespace {

std::vector<std::byte> encoded(const Image& image, bool asPng) {
  std::vector<std::byte> file;
  const auto append = [](void* context, void* data, int size) {
    auto& bytes = *static_cast<std::vector<std::byte>*>(context);
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  const int width = static_cast<int>(image.width);
  const int height = static_cast<int>(image.height);
  const int channels = static_cast<int>(image.channels);
  const bool written =
      asPng ? stbi_write_png_to_func(append, &file, width, height, channels, image.pixels.data(), width * channels)
            : stbi_write_jpg_to_func(append, &file, width, height, channels, image.pixels.data(), kJpegQuality);
  if (!written) file.clear();
  return file;
}

}  // namespace

void writeImage(const std::filesystem::path& path, const Image& image) {
  const auto file = encoded(image, extensionOf(path) == ".png");
  if (file.empty()) throw RunError(cat(path.string(), " cannot be written."));
  writeFile(path, file);
}

std::vector<std::byte> pngOf(const Image& image) { return encoded(image, true); }

Image resizeImage(const Image& image, uint32_t width, uint32_t height) {
  const size_t channels = image.channels;
  std::vector<float> source(image.pixels.begin(), image.pixels.end());
  std::vector<float> wide(size_t{width} * image.height * channels);
  for (size_t y = 0; y < image.height; ++y)
    for (size_t c = 0; c < channels; ++c)
      resizeLine(&source[y * image.width * channels + c], image.width, &wide[y * width * channels + c], width,
                 channels);
  std::vector<float> result(size_t{width} * height * channels);
  for (size_t column = 0; column < width * channels; ++column)
    resizeLine(&wide[column], image.height, &result[column], height, width * channels);
  Image out{width, height, image.channels, std::vector<uint8_t>(result.size())};
  std::transform(result.begin(), result.end(), out.pixels.begin(),
                 [](float v) { return static_cast<uint8_t>(std::clamp(std::nearbyint(v), 0.0f, 255.0f)); });
  return out;
}

bool isPixelType(DataType type) {
  return type == DML_TENSOR_DATA_TYPE_UINT8 || type == DML_TENSOR_DATA_TYPE_FLOAT16 ||
         type == DML_TENSOR_DATA_TYPE_FLOAT32;
}

std::vector<std::byte> toElements(const Image& image, DataType type, PixelLayout layout) {
  const size_t width = byteWidth(type);
  std::vector<std::byte> bytes(image.pixels.size() * width);
  const size_t pixels = size_t{image.width} * image.height;
  for (size_t pixel = 0; pixel < pixels; ++pixel)
    for (size_t channel = 0; channel < image.channels; ++channel) {
      const uint8_t value = image.pixels[pixel * image.channels + channel];
      std::byte* target = &bytes[elementIndex(image, layout, pixel, channel) * width];
      const float real = layout == PixelLayout::Planar ? static_cast<float>(value) / 255.0f : static_cast<float>(value);
      const uint16_t half = halfBits(static_cast<double>(real));
      if (type == DML_TENSOR_DATA_TYPE_UINT8) std::memcpy(target, &value, sizeof value);
      if (type == DML_TENSOR_DATA_TYPE_FLOAT16) std::memcpy(target, &half, sizeof half);
      if (type == DML_TENSOR_DATA_TYPE_FLOAT32) std::memcpy(target, &real, sizeof real);
    }
  return bytes;
}

Image fromElements(std::span<const std::byte> bytes, DataType type, PixelLayout layout, uint32_t width, uint32_t height,
                   uint32_t channels) {
  Image image{width, height, channels, std::vector<uint8_t>(size_t{width} * height * channels)};
  const size_t elementBytes = byteWidth(type);
  const size_t pixels = size_t{width} * height;
  for (size_t pixel = 0; pixel < pixels; ++pixel)
    for (size_t channel = 0; channel < channels; ++channel) {
      const std::byte* source = &bytes[elementIndex(image, layout, pixel, channel) * elementBytes];
      uint8_t& target = image.pixels[pixel * channels + channel];
      if (type == DML_TENSOR_DATA_TYPE_UINT8) {
        target = static_cast<uint8_t>(*source);
        continue;
      }
      float value = 0;
      uint16_t half = 0;
      if (type == DML_TENSOR_DATA_TYPE_FLOAT16) {
        std::memcpy(&half, source, sizeof half);
        value = halfValue(half);
      } else {
        std::memcpy(&value, source, sizeof value);
      }
      if (layout == PixelLayout::Planar) value *= 255.0f;
      target = std::isnan(value) ? uint8_t{0} : static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0f, 255.0f));
    }
  return image;
}

}  // namespace dimple::tool
