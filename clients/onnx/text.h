// Sentences of messages.
#pragma once

#include <sstream>
#include <string>

namespace dimple::onnx {

template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// "[2,3]"
template <class Range>
std::string listText(const Range& values) {
  std::string text;
  for (const auto& value : values) text += cat(text.empty() ? "" : ",", value);
  return "[" + text + "]";
}

}  // namespace dimple::onnx
