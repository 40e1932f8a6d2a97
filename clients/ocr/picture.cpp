#include "clients/ocr/picture.h"

#include <opencv2/imgproc.hpp>

#include "clients/ocr/mat.h"

namespace dimple::ocr {

void drawBoxes(Picture& picture, std::span<const Box> boxes) {
  cv::Mat mat = matOf(picture);
  const int thickness = std::max(1, static_cast<int>(std::max(picture.width, picture.height)) / 400);
  const cv::Scalar green(0, 160, 0);
  for (const Box& box : boxes) {
    std::vector<cv::Point> corners;
    for (const Point& p : box) corners.emplace_back(cvRound(p.x), cvRound(p.y));
    cv::polylines(mat, std::vector<std::vector<cv::Point>>{corners}, true, green, thickness, cv::LINE_AA);
  }
}

void writePlanes(const cv::Mat& mat, const float (&means)[3], const float (&deviations)[3], std::span<float> to,
                 size_t pitch) {
  if (pitch == 0) pitch = static_cast<size_t>(mat.cols);
  const size_t plane = pitch * static_cast<size_t>(mat.rows);
  for (int y = 0; y < mat.rows; ++y)
    for (int x = 0; x < mat.cols; ++x) {
      const auto& pixel = mat.at<cv::Vec3b>(y, x);
      for (int channel = 0; channel < 3; ++channel)
        to[static_cast<size_t>(channel) * plane + static_cast<size_t>(y) * pitch + static_cast<size_t>(x)] =
            (static_cast<float>(pixel[2 - channel]) / 255.0F - means[channel]) / deviations[channel];
    }
}

}  // namespace dimple::ocr
