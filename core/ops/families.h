// The operator families. Each lives in a file of its own beside this one.
#pragma once

#include <span>

namespace dimple {

struct OpSchema;

std::span<const OpSchema> activationSchemas();
std::span<const OpSchema> attentionSchemas();
std::span<const OpSchema> castSchemas();
std::span<const OpSchema> convolutionSchemas();
std::span<const OpSchema> elementwiseSchemas();
std::span<const OpSchema> fillSchemas();
std::span<const OpSchema> indexingSchemas();
std::span<const OpSchema> localResponseSchemas();
std::span<const OpSchema> matrixSchemas();
std::span<const OpSchema> movementSchemas();
std::span<const OpSchema> normalizationSchemas();
std::span<const OpSchema> optimizerSchemas();
std::span<const OpSchema> poolingSchemas();
std::span<const OpSchema> quantizeSchemas();
std::span<const OpSchema> randomSchemas();
std::span<const OpSchema> recurrentSchemas();
std::span<const OpSchema> reduceSchemas();
std::span<const OpSchema> resampleSchemas();
std::span<const OpSchema> roiSchemas();
std::span<const OpSchema> scanSchemas();
std::span<const OpSchema> softmaxSchemas();
std::span<const OpSchema> sortSchemas();
std::span<const OpSchema> windowSchemas();

}  // namespace dimple
