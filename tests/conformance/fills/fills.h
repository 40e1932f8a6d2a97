// What the inputs of a test case hold.
#pragma once

#include "tests/conformance/oracle/oracle.h"
#include "tests/conformance/test_case.h"

namespace dimple::testing {

// Elements for an input by its logical coordinates, the same in every run.
Result<oracle::Array> fillInput(const TestCase& test, size_t input);

// Whether the operator reads what an output holds before; and what it is to hold.
bool readsOutput(const TestCase& test, size_t output);
oracle::Array fillOutput(const TestCase& test, size_t output);

// Elements written in a case line: "[1,nan,-0]", repeated to the number of elements.
Result<oracle::Array> parseElements(std::string_view text, DML_TENSOR_DATA_TYPE type, std::vector<uint32_t> sizes);

// Whether every right algorithm gives the same bits for this case: integers so few and small that no sum rounds.
bool mustBeExact(const TestCase& test);

}  // namespace dimple::testing
