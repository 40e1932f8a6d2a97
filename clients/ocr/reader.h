// Reads the printed text in a picture with the models of PP-OCR: detection, angle, recognition.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "clients/ocr/picture.h"
#include "clients/ocr/recognition.h"
#include "clients/onnx/tensor.h"

namespace dimple::ocr {

enum class Part { Detection, Angle, Recognition };

// Runs a model that has one input and one output. The functions of this file know nothing of devices.
using RunModel = std::function<onnx::HostTensor(Part, const onnx::HostTensor& input)>;

struct Line {
  Box box;
  std::string text;  // UTF-8
  float confidence = 0;
};

// The lines in the order of reading, whichever way the page lies. Lines without characters are left out. What `run`
// and the models' sizes throw passes through.
std::vector<Line> readText(const Picture& picture, const Dictionary& dictionary, const RunModel& run);

}  // namespace dimple::ocr
