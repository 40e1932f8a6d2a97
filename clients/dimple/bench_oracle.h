// Whether what an operator computed is right, by the tests' oracle; in builds with tests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/schema/desc_copy.h"

namespace dimple::tool {

struct OracleVerdict {
  double share = 0;          // the largest error, as a share of its bound
  std::string failure = {};  // a sentence; empty: all elements lie within their bounds
};

// Memory of all tensors that are present, in the order of binding.
OracleVerdict askOracle(const OwnedDesc& desc, const std::vector<std::vector<std::byte>>& inputs,
                        const std::vector<std::vector<std::byte>>& outputs);

}  // namespace dimple::tool
