// Which of the operator cases a run takes.
//
//   DIMPLE_TEST_SAMPLE=N    every N-th case only
//   DIMPLE_TEST_FILTER=TEXT only operators whose name contains TEXT
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/op_schema.h"

namespace dimple::testing {

struct Selection {
  size_t sample = 1;
  std::string filter;

  bool full() const { return sample == 1 && filter.empty(); }
  bool wants(const OpSchema& schema) const { return schema.name.find(filter) != schema.name.npos; }
};

inline Selection selection() {
  Selection chosen;
  if (const char* text = std::getenv("DIMPLE_TEST_SAMPLE"))
    chosen.sample = static_cast<size_t>(std::max(1, std::atoi(text)));
  if (const char* text = std::getenv("DIMPLE_TEST_FILTER")) chosen.filter = text;
  return chosen;
}

}  // namespace dimple::testing
