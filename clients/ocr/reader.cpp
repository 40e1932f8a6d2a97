#include "clients/ocr/reader.h"

#include <algorithm>

#include "clients/ocr/detection.h"

namespace dimple::ocr {
namespace {

constexpr uint32_t kAngleWidth = 192;  // of the angle model's input
constexpr size_t kBatch = 16;          // lines at a time
constexpr double kSureOfAngle = 0.9;
// If this share of the lines, measured by their lengths, has one direction, it holds for all lines. The angle model
// errs on single lines.
constexpr double kMajority = 0.7;
constexpr size_t kFewestVoters = 3;

// Which lines are upside down.
std::vector<bool> upsideDownLines(const std::vector<double>& likelihoods, const std::vector<Picture>& crops) {
  double down = 0;
  double all = 0;
  for (size_t i = 0; i < crops.size(); ++i) {
    const double length = static_cast<double>(crops[i].width) / crops[i].height;
    if (likelihoods[i] > 0.5) down += length;
    all += length;
  }
  if (crops.size() >= kFewestVoters && std::max(down, all - down) >= kMajority * all)
    return std::vector<bool>(crops.size(), down > all / 2);
  std::vector<bool> result;
  result.reserve(likelihoods.size());
  for (const double likelihood : likelihoods) result.push_back(likelihood > kSureOfAngle);
  return result;
}

}  // namespace

std::vector<Line> readText(const Picture& picture, const Dictionary& dictionary, const RunModel& run) {
  std::vector<Box> boxes = textBoxes(run(Part::Detection, detectionInput(picture)), picture.width, picture.height);
  std::vector<Picture> crops;
  crops.reserve(boxes.size());
  for (const Box& box : boxes) crops.push_back(cropLine(picture, box));
  // Batches of one size, so that a graph serves all of them.
  const size_t batch = std::min(kBatch, crops.size());
  std::vector<double> angles;
  angles.reserve(crops.size());
  for (size_t first = 0; first < crops.size(); first += batch) {
    const auto result = run(Part::Angle, lineInput(crops, first, batch, kAngleWidth));
    for (size_t i = 0; i < std::min(batch, crops.size() - first); ++i) angles.push_back(upsideDown(result, i));
  }
  const std::vector<bool> isDown = upsideDownLines(angles, crops);
  for (size_t i = 0; i < crops.size(); ++i) {
    if (isDown[i]) turnAround(crops[i]);
    const int corners = (isWrittenDownwards(boxes[i]) ? 1 : 0) + (isDown[i] ? 2 : 0);
    std::rotate(boxes[i].begin(), boxes[i].begin() + corners, boxes[i].end());
  }
  std::vector<Text> texts;
  texts.reserve(crops.size());
  const uint32_t width = lineWidth(crops);
  for (size_t first = 0; first < crops.size(); first += batch) {
    const auto likelihoods = run(Part::Recognition, lineInput(crops, first, batch, width));
    for (size_t i = 0; i < std::min(batch, crops.size() - first); ++i)
      texts.push_back(decode(likelihoods, i, dictionary));
  }
  std::vector<Line> lines;
  for (const size_t i : readingOrder(boxes))
    if (!texts[i].text.empty()) lines.push_back({boxes[i], std::move(texts[i].text), texts[i].confidence});
  return lines;
}

}  // namespace dimple::ocr
