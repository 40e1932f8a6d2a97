// Inputs whose elements mean something together: regions of interest, lengths of sequences.
#pragma once

#include "tests/conformance/oracle/oracle.h"
#include "tests/conformance/random.h"
#include "tests/conformance/test_case.h"

namespace dimple::testing {

// False if the input is none of these.
bool fillStructured(const TestCase& test, size_t input, Random& random, oracle::Array& array);

}  // namespace dimple::testing
