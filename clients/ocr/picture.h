// Pictures, and boxes in them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dimple::ocr {

// Rows of red, green and blue bytes.
struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> pixels;
};

// In pixels of a picture.
struct Point {
  float x = 0;
  float y = 0;
};

// The corners of a line of text, clockwise as it is written: its first letter is between the first and the last.
using Box = std::array<Point, 4>;

// Draws outlines.
void drawBoxes(Picture& picture, std::span<const Box> boxes);

}  // namespace dimple::ocr
