// The operator families. Each lives in a file of its own beside this one, and has a function for its schemas.
#pragma once

#include "core/schema/op_schema.h"

// The calls of these functions, or behind their type their declarations.
#define DIMPLE_FAMILIES                                                                                              \
  activationSchemas(), attentionSchemas(), castSchemas(), convolutionSchemas(), elementwiseSchemas(), fillSchemas(), \
      indexingSchemas(), localResponseSchemas(), matrixSchemas(), movementSchemas(), normalizationSchemas(),         \
      optimizerSchemas(), poolingSchemas(), quantizeSchemas(), randomSchemas(), recurrentSchemas(), reduceSchemas(), \
      resampleSchemas(), roiSchemas(), scanSchemas(), softmaxSchemas(), sortSchemas(), windowSchemas()

namespace dimple {

std::span<const OpSchema> DIMPLE_FAMILIES;

}  // namespace dimple
