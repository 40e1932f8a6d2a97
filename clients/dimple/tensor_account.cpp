#include "clients/dimple/tensor_account.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "clients/files/image.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr uint64_t kLeastSide = 16;
constexpr uint32_t kShownSide = 640;  // of what a page holds

struct Numbers {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  double mean = 0;
  size_t nans = 0;
};

Numbers numbersOf(std::span<const double> values) {
  Numbers numbers;
  double sum = 0;
  for (const double value : values) {
    if (std::isnan(value)) {
      ++numbers.nans;
      continue;
    }
    numbers.least = std::min(numbers.least, value);
    numbers.greatest = std::max(numbers.greatest, value);
    sum += value;
  }
  if (const size_t count = values.size() - numbers.nans) numbers.mean = sum / static_cast<double>(count);
  return numbers;
}

// JSON has no infinities.
Json jsonOf(double value) { return std::isfinite(value) ? Json(value) : Json(numberText(value)); }

struct PictureLayout {
  uint64_t width = 0, height = 0, channels = 0;
  bool planar = false;
};

std::optional<PictureLayout> pictureLayoutOf(std::vector<uint64_t> sizes) {
  const size_t rank = sizes.size();
  while (sizes.size() > 2 && sizes.front() == 1) sizes.erase(sizes.begin());
  const auto isChannels = [](uint64_t size) { return size == 1 || size == 3 || size == 4; };
  std::optional<PictureLayout> layout;
  if (sizes.size() == 3 && isChannels(sizes[0]))
    layout = {sizes[2], sizes[1], sizes[0], true};
  else if (sizes.size() == 3 && isChannels(sizes[2]))
    layout = {sizes[1], sizes[0], sizes[2], false};
  else if (sizes.size() == 2 && rank > 2)  // of one channel
    layout = {sizes[1], sizes[0], 1, true};
  if (!layout || std::min(layout->width, layout->height) < kLeastSide || layout->width > 65535 ||
      layout->height > 65535)
    return {};
  return layout;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t b = 0; b < 3; ++b)
      word = word << 8 | (i + b < bytes.size() ? std::to_integer<uint32_t>(bytes[i + b]) : 0);
    for (size_t d = 0; d < 4; ++d) out += i + d > bytes.size() ? '=' : kDigits[word >> (18 - 6 * d) & 63];
  }
  return out;
}

Json jsonOf(Image image) {
  const uint32_t width = image.width, height = image.height;
  if (const uint32_t side = std::max(width, height); side > kShownSide) {
    const auto shown = [&](uint32_t size) {
      return std::max<uint32_t>(1, static_cast<uint32_t>(uint64_t{size} * kShownSide / side));
    };
    image = resizeImage(image, shown(width), shown(height));
  }
  return {{"width", width}, {"height", height}, {"source", cat("data:image/png;base64,", base64(pngOf(image)))}};
}

// Numbers from 0 to 1 and from 0 to 255 are shown as they are, others from the least to the greatest.
Json pictureOf(const PictureLayout& layout, const TensorFacts& facts, std::span<const double> values,
               const Numbers& numbers) {
  double black = 0, white = 255;
  if (numbers.least < 0 || numbers.greatest > 255) {
    black = numbers.least;
    white = numbers.greatest;
  } else if (numbers.greatest <= 1 && facts.type.find("nt8") == std::string::npos &&
             facts.type.find("NT8") == std::string::npos) {
    white = 1;
  }
  if (!std::isfinite(black) || !std::isfinite(white) || white <= black) return nullptr;
  Image image{static_cast<uint32_t>(layout.width), static_cast<uint32_t>(layout.height),
              static_cast<uint32_t>(layout.channels), std::vector<uint8_t>(values.size())};
  const size_t pixels = values.size() / layout.channels;
  for (size_t pixel = 0; pixel < pixels; ++pixel)
    for (size_t c = 0; c < layout.channels; ++c) {
      const double value = values[layout.planar ? c * pixels + pixel : pixel * layout.channels + c];
      const double shade = std::isnan(value) ? 0 : std::clamp(255 * (value - black) / (white - black), 0.0, 255.0);
      image.pixels[pixel * layout.channels + c] = static_cast<uint8_t>(std::lround(shade));
    }
  Json json = jsonOf(std::move(image));
  json["black"] = black;
  json["white"] = white;
  return json;
}

template <class T>
std::vector<double> convert(std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, &bytes[i * sizeof value], sizeof value);
    values[i] = static_cast<double>(value);
  }
  return values;
}

}  // namespace

Json accountOfTensor(const TensorFacts& facts, std::span<const double> values) {
  const Numbers numbers = numbersOf(values);
  Json json{{"name", facts.name}, {"role", facts.role}, {"type", facts.type}, {"sizes", facts.sizes}};
  if (values.size() > numbers.nans) {
    json["least"] = jsonOf(numbers.least);
    json["mean"] = jsonOf(numbers.mean);
    json["greatest"] = jsonOf(numbers.greatest);
  }
  json["nans"] = numbers.nans;
  const auto layout = pictureLayoutOf(facts.sizes);
  if (layout && layout->width * layout->height * layout->channels == values.size())
    if (Json picture = pictureOf(*layout, facts, values, numbers); !picture.is_null())
      json["picture"] = std::move(picture);
  return json;
}

Json accountOfPicture(const std::string& name, const std::string& role, uint32_t width, uint32_t height,
                      uint32_t channels, std::vector<uint8_t> pixels) {
  return {{"name", name},
          {"role", role},
          {"type", "picture"},
          {"sizes", {height, width, channels}},
          {"picture", jsonOf(Image{width, height, channels, std::move(pixels)})}};
}

std::vector<double> realsOf(DataType type, std::span<const std::byte> bytes) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      return convert<float>(bytes);
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      return convert<double>(bytes);
    case DML_TENSOR_DATA_TYPE_UINT8:
      return convert<uint8_t>(bytes);
    case DML_TENSOR_DATA_TYPE_INT8:
      return convert<int8_t>(bytes);
    case DML_TENSOR_DATA_TYPE_UINT16:
      return convert<uint16_t>(bytes);
    case DML_TENSOR_DATA_TYPE_INT16:
      return convert<int16_t>(bytes);
    case DML_TENSOR_DATA_TYPE_UINT32:
      return convert<uint32_t>(bytes);
    case DML_TENSOR_DATA_TYPE_INT32:
      return convert<int32_t>(bytes);
    case DML_TENSOR_DATA_TYPE_UINT64:
      return convert<uint64_t>(bytes);
    case DML_TENSOR_DATA_TYPE_INT64:
      return convert<int64_t>(bytes);
    case DML_TENSOR_DATA_TYPE_FLOAT16: {
      const auto bits = convert<uint16_t>(bytes);
      std::vector<double> values(bits.size());
      std::ranges::transform(bits, values.begin(),
                             [](double half) { return static_cast<double>(halfValue(static_cast<uint16_t>(half))); });
      return values;
    }
    default:
      return {};
  }
}

}  // namespace dimple::tool
