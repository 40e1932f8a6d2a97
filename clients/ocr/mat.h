// Pictures as OpenCV's matrices, and matrices as planes of a tensor.
#pragma once

#include <opencv2/core.hpp>
#include <span>

#include "clients/ocr/picture.h"

namespace dimple::ocr {

// Of the picture's own memory.
inline cv::Mat matOf(const Picture& picture) {
  return {static_cast<int>(picture.height), static_cast<int>(picture.width), CV_8UC3,
          const_cast<uint8_t*>(picture.pixels.data())};
}

// Blue, green and red as planes of as many rows, each row `pitch` elements (0: the matrix's width), as
// (value / 255 - mean) / deviation.
void writePlanes(const cv::Mat& mat, const float (&means)[3], const float (&deviations)[3], std::span<float> to,
                 size_t pitch = 0);

}  // namespace dimple::ocr
