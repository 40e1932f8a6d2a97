// Which of the operator cases a run takes.
//
//   DIMPLE_TEST_SAMPLE=N    every N-th case only: of every operator some of the data types, and of those some cases
//   DIMPLE_TEST_SHIFT=K     another such sample; those of 0 to N + 7 have every case
//   DIMPLE_TEST_FILTER=TEXT only operators whose name contains TEXT, or one of several between commas
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/schema/op_schema.h"

namespace dimple::testing {

struct Selection {
  size_t sample = 1;
  size_t shift = 0;
  std::string filter;

  bool full() const { return sample == 1 && filter.empty(); }
  bool wants(const OpSchema& schema) const;
};

Selection selection();

// The cases of an operator and data type, which share kernels.
struct CaseGroup {
  const OpSchema* schema = nullptr;
  DataType type{};
  bool generated = true;             // besides what is written
  std::vector<std::string> written;  // lines of tests/conformance/cases
  size_t first = 0;                  // every `step`-th line, from about this one
  size_t step = 1;

  // At least one, if there are any.
  std::vector<std::string> lines() const;
};

// A kernel costs more time than the cases that run on it, so a sample has few groups: one of every wanted operator at
// least. `written` are lines of any operators.
std::vector<CaseGroup> caseGroups(const Selection& chosen, std::vector<std::string> written);

}  // namespace dimple::testing
