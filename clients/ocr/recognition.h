// What a line of text says: what the angle and recognition models take and what their results mean.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "clients/ocr/picture.h"
#include "clients/onnx/tensor.h"

namespace dimple::ocr {

// Whether a line is far higher than wide, so that it is read from top to bottom.
bool isWrittenDownwards(const Box& box);
// A line cut out of a picture and laid straight; one that is written downwards is turned by a quarter.
Picture cropLine(const Picture& picture, const Box& box);
void turnAround(Picture& line);

// float [N, 3, 48, width] of `count` lines from `first` on, N of them: lines of the model's height, filled up behind
// with what is between black and white. Lines longer than that are made narrower. Rows beyond `lines` are of zeros.
onnx::HostTensor lineInput(const std::vector<Picture>& lines, size_t first, size_t count, uint32_t width);
// The width at which no line of them is made narrower than it is, a multiple of 32 between 320 and 2560.
uint32_t lineWidth(const std::vector<Picture>& lines);

// How likely it is, from 0 to 1, that line `n` of the angle model's result [N, 2] is upside down.
double upsideDown(const onnx::HostTensor& angles, size_t n);

// The characters of a recognition model's classes, a line each; a space is added behind.
class Dictionary {
 public:
  // Throw onnx::ModelError.
  static Dictionary load(const std::filesystem::path& path);
  explicit Dictionary(std::string_view text);

  size_t classes() const { return characters_.size() + 1; }
  // Class 0 is none.
  const std::string& character(size_t classIndex) const { return characters_[classIndex - 1]; }

 private:
  std::vector<std::string> characters_;
};

struct Text {
  std::string text;      // UTF-8
  float confidence = 0;  // the mean likelihood of its characters, spaces aside; 0 without any
};

// Of line `n` of a result [N, steps, classes] (connectionist temporal classification: at each step the likeliest
// class; repetitions are one, and class 0 is none). There is a space between two characters where the steps between
// them are likely enough to hold one. Throws onnx::ModelError if its sizes are not those of the
// dictionary.
Text decode(const onnx::HostTensor& likelihoods, size_t n, const Dictionary& dictionary);

}  // namespace dimple::ocr
