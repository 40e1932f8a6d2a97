#include "clients/ocr/detection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "clients/ocr/mat.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::ocr {
namespace {

constexpr double kLongerSide = 960;
constexpr int kMultiple = 32;  // of the model's input sizes
constexpr float kTextLikelihood = 0.3F;
constexpr double kLineLikelihood = 0.6;  // the mean of a line's places
constexpr float kMinSideOfBox = 3;       // in the map
constexpr float kGrowth = 1.6F;          // maps show the middle of a line: what is added, in areas by circumferences
constexpr size_t kMaxBoxes = 1000;

int multipleOf(double side) { return std::max(1, static_cast<int>(std::lround(side / kMultiple))) * kMultiple; }

double meanInside(const cv::Mat& map, const std::vector<cv::Point>& contour) {
  const cv::Rect around = cv::boundingRect(contour);
  cv::Mat mask = cv::Mat::zeros(around.size(), CV_8UC1);
  cv::fillPoly(mask, std::vector<std::vector<cv::Point>>{contour}, cv::Scalar(1), cv::LINE_8, 0, -around.tl());
  return cv::mean(map(around), mask)[0];
}

// The corners, the upper left one first.
Box boxOf(const cv::RotatedRect& rect, float xScale, float yScale, uint32_t width, uint32_t height) {
  cv::Point2f corners[4];
  rect.points(corners);
  std::sort(corners, corners + 4, [](const cv::Point2f& a, const cv::Point2f& b) { return a.x < b.x; });
  if (corners[0].y > corners[1].y) std::swap(corners[0], corners[1]);
  if (corners[2].y > corners[3].y) std::swap(corners[2], corners[3]);
  const auto scaled = [&](const cv::Point2f& p) {
    return Point{std::clamp(p.x * xScale, 0.0F, static_cast<float>(width - 1)),
                 std::clamp(p.y * yScale, 0.0F, static_cast<float>(height - 1))};
  };
  return {scaled(corners[0]), scaled(corners[2]), scaled(corners[3]), scaled(corners[1])};
}

}  // namespace

onnx::HostTensor detectionInput(const Picture& picture) {
  const double scale = kLongerSide / std::max(picture.width, picture.height);
  const cv::Size size(multipleOf(picture.width * scale), multipleOf(picture.height * scale));
  cv::Mat resized;
  cv::resize(matOf(picture), resized, size, 0, 0, cv::INTER_LINEAR);
  // These are in the order red, green, blue, although the model takes blue, green, red. It was trained this way.
  constexpr float kMeans[] = {0.485F, 0.456F, 0.406F};
  constexpr float kDeviations[] = {0.229F, 0.224F, 0.225F};
  onnx::HostTensor tensor(onnx::Type::Float, {1, 3, size.height, size.width});
  writePlanes(resized, kMeans, kDeviations, tensor.as<float>());
  return tensor;
}

std::vector<Box> textBoxes(const onnx::HostTensor& tensor, uint32_t width, uint32_t height) {
  if (tensor.type != onnx::Type::Float || tensor.sizes.size() != 4 || tensor.sizes[0] != 1 || tensor.sizes[1] != 1 ||
      tensor.bytes.empty())
    throw onnx::ModelError("The detection model gives " + onnx::typeName(tensor.type) + onnx::listText(tensor.sizes) +
                           ", expected float[1,1,H,W].");
  const auto values = tensor.as<float>();
  const cv::Mat map(static_cast<int>(tensor.sizes[2]), static_cast<int>(tensor.sizes[3]), CV_32FC1,
                    const_cast<float*>(values.data()));
  std::vector<std::vector<cv::Point>> contours;
  cv::findContours(map > kTextLikelihood, contours, cv::RETR_LIST, cv::CHAIN_APPROX_SIMPLE);
  if (contours.size() > kMaxBoxes) contours.resize(kMaxBoxes);
  std::vector<Box> boxes;
  for (const auto& contour : contours) {
    cv::RotatedRect rect = cv::minAreaRect(contour);
    if (std::min(rect.size.width, rect.size.height) < kMinSideOfBox) continue;
    if (meanInside(map, contour) < kLineLikelihood) continue;
    const float growth = kGrowth * rect.size.area() / (rect.size.width + rect.size.height);
    rect.size += cv::Size2f(growth, growth);
    boxes.push_back(boxOf(rect, static_cast<float>(width) / static_cast<float>(map.cols),
                          static_cast<float>(height) / static_cast<float>(map.rows), width, height));
  }
  std::vector<Box> sorted;
  sorted.reserve(boxes.size());
  for (const size_t index : readingOrder(boxes)) sorted.push_back(boxes[index]);
  return sorted;
}

std::vector<size_t> readingOrder(std::span<const Box> boxes) {
  // The direction in which most of the text is written; rows follow one another at a right angle to it.
  cv::Point2f along(0, 0);
  for (const Box& box : boxes) along += cv::Point2f(box[1].x - box[0].x, box[1].y - box[0].y);
  const double length = cv::norm(along);
  along = length > 0 ? along / length : cv::Point2f(1, 0);
  struct Place {
    size_t index;
    float left, top, height;
  };
  std::vector<Place> places;
  places.reserve(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    Place place{i, std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
                std::hypot(boxes[i][3].x - boxes[i][0].x, boxes[i][3].y - boxes[i][0].y)};
    for (const Point& corner : boxes[i]) {
      place.left = std::min(place.left, corner.x * along.x + corner.y * along.y);
      place.top = std::min(place.top, corner.y * along.x - corner.x * along.y);
    }
    places.push_back(place);
  }
  std::ranges::sort(places, {}, &Place::top);
  for (auto first = places.begin(); first != places.end();) {
    const auto last = std::find_if(first, places.end(),
                                   [&](const Place& place) { return place.top > first->top + first->height / 2; });
    std::sort(first, last, [](const Place& a, const Place& b) { return a.left < b.left; });
    first = last;
  }
  std::vector<size_t> order;
  order.reserve(places.size());
  for (const Place& place : places) order.push_back(place.index);
  return order;
}

}  // namespace dimple::ocr
