// Cases of operators that move elements, made for a tensor.
#pragma once

#include <optional>

#include "tests/conformance/random.h"
#include "tests/conformance/test_case.h"

namespace dimple::testing {

struct ViewCase {
  TestCase test;
  size_t output = 0;
};

// One of whose outputs has a packed tensor's type, sizes and layout: a part of something larger, something joined, or
// something turned. No value if there is none, or it would take more bytes than `most`.
std::optional<ViewCase> viewInto(Random& random, const DML_BUFFER_TENSOR_DESC& tensor, uint64_t most);

// One that takes a packed tensor as its first input, and joins it with another, splits it or turns it.
std::optional<TestCase> viewOf(Random& random, const DML_BUFFER_TENSOR_DESC& tensor, uint64_t most);

// An operator that moves no elements, whose output is its inputs.
std::optional<TestCase> sameElements(const DML_BUFFER_TENSOR_DESC& tensor);

}  // namespace dimple::testing
