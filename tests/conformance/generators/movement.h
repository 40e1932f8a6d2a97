// What the generators of operators that move elements share.
#pragma once

#include <algorithm>

#include "tests/conformance/generators/context.h"

namespace dimple::testing {

constexpr DataType kIndexTypes[] = {DML_TENSOR_DATA_TYPE_UINT32, DML_TENSOR_DATA_TYPE_INT32,
                                    DML_TENSOR_DATA_TYPE_UINT64, DML_TENSOR_DATA_TYPE_INT64};

// Wide sizes for a tensor that is cut or indexed.
inline Sizes randomSizes(Generator& generator, size_t rank) {
  return makeSizes(generator.random, rank, std::max<uint64_t>(2, logUniform(generator.random, 4096)));
}

inline void keepMovement(Generator& generator, Line line) {
  constexpr std::string_view kFills[] = {"int", "float", "float", "special"};
  generator.keep(std::move(line), generator.random.pick(kFills));
}

}  // namespace dimple::testing
