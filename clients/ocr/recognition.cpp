#include "clients/ocr/recognition.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <opencv2/imgproc.hpp>

#include "clients/file_reason.h"
#include "clients/ocr/mat.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::ocr {
namespace {

constexpr int kHeight = 48;  // of the models' inputs
constexpr uint32_t kMinWidth = 320;
constexpr uint32_t kMaxWidth = 2560;
constexpr uint32_t kMultiple = 32;
constexpr double kUpright = 1.5;  // times as high as wide: a line that is written downwards
// The models see most spaces between words, but are rarely sure of one: its likelihood, summed over the steps between
// two characters, is mostly above 0.3 where there is one, and below 0.03 where there is none.
constexpr double kSpaceLikelihood = 0.06;

Picture pictureOf(const cv::Mat& mat) {
  Picture picture{static_cast<uint32_t>(mat.cols), static_cast<uint32_t>(mat.rows), {}};
  picture.pixels.assign(mat.datastart, mat.dataend);
  return picture;
}

// Returns the width of a line at the models' height.
double scaledWidth(const Picture& line) { return std::ceil(1.0 * kHeight * line.width / line.height); }

cv::Point2f pointOf(const Point& p) { return {p.x, p.y}; }

cv::Size sizeOf(const Box& box) {
  const auto side = [&](size_t a, size_t b) { return cv::norm(pointOf(box[a]) - pointOf(box[b])); };
  return {std::max(1, cvRound(std::max(side(0, 1), side(3, 2)))),
          std::max(1, cvRound(std::max(side(0, 3), side(1, 2))))};
}

// Models that read Chinese, too, take ASCII's marks for their wide forms, U+FF01 to U+FF5E. In a line without other
// characters beyond ASCII they are none.
std::string withoutWideForms(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      out += text[i];
      continue;
    }
    const auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const unsigned code = (byte(i) & 0xF) << 12 | (byte(i + 1) & 0x3F) << 6 | (byte(i + 2) & 0x3F);
    if (byte(i) != 0xEF || code < 0xFF01 || code > 0xFF5E) return text;
    out += static_cast<char>(code - 0xFF01 + '!');
    i += 2;
  }
  return out;
}

}  // namespace

bool isWrittenDownwards(const Box& box) {
  const cv::Size size = sizeOf(box);
  return size.height >= kUpright * size.width;
}

Picture cropLine(const Picture& picture, const Box& box) {
  const cv::Size size = sizeOf(box);
  const auto right = static_cast<float>(size.width);
  const auto bottom = static_cast<float>(size.height);
  const cv::Point2f from[] = {pointOf(box[0]), pointOf(box[1]), pointOf(box[2]), pointOf(box[3])};
  const cv::Point2f to[] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
  cv::Mat line;
  cv::warpPerspective(matOf(picture), line, cv::getPerspectiveTransform(from, to), size, cv::INTER_CUBIC,
                      cv::BORDER_REPLICATE);
  if (isWrittenDownwards(box)) {
    cv::Mat turned;
    cv::rotate(line, turned, cv::ROTATE_90_COUNTERCLOCKWISE);
    line = turned;
  }
  return pictureOf(line);
}

void turnAround(Picture& line) {
  cv::Mat turned;
  cv::rotate(matOf(line), turned, cv::ROTATE_180);
  line = pictureOf(turned);
}

uint32_t lineWidth(const std::vector<Picture>& lines) {
  double width = kMinWidth;
  for (const Picture& line : lines) width = std::max(width, scaledWidth(line));
  const auto whole = static_cast<uint32_t>(std::min<double>(width, kMaxWidth));
  return (whole + kMultiple - 1) / kMultiple * kMultiple;
}

onnx::HostTensor lineInput(const std::vector<Picture>& lines, size_t first, size_t count, uint32_t width) {
  constexpr float kHalves[] = {0.5F, 0.5F, 0.5F};
  onnx::HostTensor tensor(onnx::Type::Float, {static_cast<int64_t>(count), 3, kHeight, width});
  const size_t elements = size_t{3} * kHeight * width;
  for (size_t n = first; n < std::min(first + count, lines.size()); ++n) {
    const int across = static_cast<int>(std::clamp(scaledWidth(lines[n]), 1.0, static_cast<double>(width)));
    cv::Mat resized;
    cv::resize(matOf(lines[n]), resized, {across, kHeight}, 0, 0, cv::INTER_LINEAR);
    writePlanes(resized, kHalves, kHalves, tensor.as<float>().subspan((n - first) * elements, elements), width);
  }
  return tensor;
}

double upsideDown(const onnx::HostTensor& angles, size_t n) {
  if (angles.sizes.size() != 2 || angles.sizes[1] != 2 || static_cast<size_t>(angles.sizes[0]) <= n)
    throw onnx::ModelError("The angle model gives " + onnx::typeName(angles.type) + onnx::listText(angles.sizes) +
                           ", expected float[N,2].");
  return angles.real(2 * n + 1);
}

Dictionary Dictionary::load(const std::filesystem::path& path) {
  if (const std::string reason = whyUnreadable(path); !reason.empty())
    throw onnx::ModelError(path.string() + " cannot be read: " + reason + ".");
  std::ifstream file(path, std::ios::binary);
  return Dictionary(std::string(std::istreambuf_iterator<char>(file), {}));
}

Dictionary::Dictionary(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    characters_.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  characters_.emplace_back(" ");
}

Text decode(const onnx::HostTensor& likelihoods, size_t n, const Dictionary& dictionary) {
  if (likelihoods.type != onnx::Type::Float || likelihoods.sizes.size() != 3 ||
      static_cast<size_t>(likelihoods.sizes[0]) <= n ||
      static_cast<size_t>(likelihoods.sizes[2]) != dictionary.classes())
    throw onnx::ModelError("The recognition model gives " + onnx::typeName(likelihoods.type) +
                           onnx::listText(likelihoods.sizes) + ", expected float[N,T," +
                           std::to_string(dictionary.classes()) + "] for this dictionary.");
  const auto steps = static_cast<size_t>(likelihoods.sizes[1]);
  const size_t classes = dictionary.classes();
  const size_t space = classes - 1;
  Text result;
  double sum = 0;
  size_t count = 0;
  size_t before = 0;
  double spaceLikelihood = 0;  // since the last character
  for (size_t step = 0; step < steps; ++step) {
    const auto row = likelihoods.as<float>().subspan((n * steps + step) * classes, classes);
    const auto best = static_cast<size_t>(std::ranges::max_element(row) - row.begin());
    spaceLikelihood += static_cast<double>(row[space]);
    if (best != 0 && best != space && best != before) {
      if (spaceLikelihood > kSpaceLikelihood && !result.text.empty()) result.text += dictionary.character(space);
      result.text += dictionary.character(best);
      sum += static_cast<double>(row[best]);
      ++count;
      spaceLikelihood = 0;
    }
    before = best;
  }
  result.text = withoutWideForms(result.text);
  if (count) result.confidence = static_cast<float>(sum / static_cast<double>(count));
  return result;
}

}  // namespace dimple::ocr
