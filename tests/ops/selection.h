// Which of the operator cases a run takes.
//
//   DIMPLE_TEST_SAMPLE=N    every N-th case only
//   DIMPLE_TEST_FILTER=TEXT only operators whose name contains TEXT, or one of several between commas
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/op_schema.h"

namespace dimple::testing {

struct Selection {
  size_t sample = 1;
  std::string filter;

  bool full() const { return sample == 1 && filter.empty(); }
  bool wants(const OpSchema& schema) const {
    for (std::string_view rest = filter;;) {
      const size_t comma = rest.find(',');
      if (schema.name.find(rest.substr(0, comma)) != schema.name.npos) return true;
      if (comma == rest.npos) return false;
      rest.remove_prefix(comma + 1);
    }
  }
};

inline Selection selection() {
  Selection chosen;
  if (const char* text = std::getenv("DIMPLE_TEST_SAMPLE"))
    chosen.sample = static_cast<size_t>(std::max(1, std::atoi(text)));
  if (const char* text = std::getenv("DIMPLE_TEST_FILTER")) chosen.filter = text;
  return chosen;
}

}  // namespace dimple::testing
