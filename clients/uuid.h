// UUIDs of devices as text.
#pragma once

#include <dimple.h>

#include <string>

namespace dimple {

// "642aed97-4cc9-b944-f58e-8e761a452a9c"
inline std::string uuidText(const UINT8 (&uuid)[16]) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kDigits[uuid[i] >> 4];
    out += kDigits[uuid[i] & 15];
  }
  return out;
}

}  // namespace dimple
