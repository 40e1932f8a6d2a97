// Inputs whose elements mean something together: regions of interest, lengths of sequences.
#pragma once

#include "tests/ops/random.h"
#include "tests/ops/test_case.h"
#include "tests/oracle/oracle.h"

namespace dimple::testing {

// False if the input is none of these.
bool fillStructured(const TestCase& test, size_t input, Random& random, oracle::Array& array);

}  // namespace dimple::testing
