// Text of files, for messages.
#pragma once

#include <algorithm>
#include <string>

namespace dimple {

// Files may hold any byte; one of 0 would end the sentence.
inline std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; }, '?');
  return text;
}

}  // namespace dimple
