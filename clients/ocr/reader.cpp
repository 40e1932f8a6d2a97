#include "clients/ocr/reader.h"

#include <algorithm>

#include "clients/ocr/detection.h"

namespace dimple::ocr {
namespace {

constexpr uint32_t kAngleWidth = 192;  // of the angle model's input
constexpr size_t kBatch = 16;          // lines at a time

}  // namespace

std::vector<Line> readText(const Picture& picture, const Dictionary& dictionary, const RunModel& run) {
  const auto boxes = textBoxes(run(Part::Detection, detectionInput(picture)), picture.width, picture.height);
  std::vector<Picture> crops;
  for (const Box& box : boxes) crops.push_back(cropLine(picture, box));
  // Batches of one size, so that a graph serves all of them.
  const size_t batch = std::min(kBatch, crops.size());
  for (size_t first = 0; first < crops.size(); first += batch) {
    const auto angles = run(Part::Angle, lineInput(crops, first, batch, kAngleWidth));
    for (size_t i = 0; i < std::min(batch, crops.size() - first); ++i)
      if (isUpsideDown(angles, i)) turnAround(crops[first + i]);
  }
  std::vector<Line> lines;
  const uint32_t width = lineWidth(crops);
  for (size_t first = 0; first < crops.size(); first += batch) {
    const auto likelihoods = run(Part::Recognition, lineInput(crops, first, batch, width));
    for (size_t i = 0; i < std::min(batch, crops.size() - first); ++i) {
      Text text = decode(likelihoods, i, dictionary);
      if (!text.text.empty()) lines.push_back({boxes[first + i], std::move(text.text), text.confidence});
    }
  }
  return lines;
}

}  // namespace dimple::ocr
