// What the case generators of all operators share.
#pragma once

#include "core/schema/op_schema.h"
#include "tests/conformance/generators/layouts.h"

namespace dimple::testing {

constexpr size_t kCasesPerType = 220;
// The elements of a large case: more than 2^20, and odd.
constexpr uint32_t kLargeCount = 1048583;

// One line in the making.
class Line {
 public:
  explicit Line(const OpSchema& schema) : text_(schema.name) {}
  Line& set(std::string_view key, std::string_view value) {
    text_ += ' ';
    text_ += key;
    text_ += '=';
    text_ += value;
    return *this;
  }
  Line& set(std::string_view key, const TensorText& tensor) { return set(key, tensor.text()); }
  Line& set(std::string_view key, uint64_t value) { return set(key, std::to_string(value)); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

struct Generator {
  const OpSchema& schema;
  DataType type;
  Random random;
  std::vector<std::string> lines = {};

  size_t index() const { return lines.size(); }
  // All pairs of ranks and layout classes come in turn.
  size_t rank(size_t largest = 8) const { return 1 + index() % largest; }

  // Six in ten tensors are packed.
  Layout layout(size_t cycle);
  TensorText input(DataType type, Sizes sizes, size_t cycle);
  TensorText output(DataType type, Sizes sizes, size_t cycle);
  // A step of the layouts that is the same for all tensors of a case.
  size_t cycle() const { return index() / 8; }
  // Sometimes makes one of the inputs a constant that DirectML keeps.
  void maybeOwn(TensorText& tensor) {
    if (random.chance(0.06)) tensor.owned = true;
  }
  // Adds fill and seed and keeps the line.
  void keep(Line line, std::string_view fill = {});
  std::string_view randomFill();
};

// A function to fuse, with its parameters, or at times none: each has its turn.
std::string fusedActivation(Generator& generator, size_t turn);

using GenerateFunction = void (*)(Generator&);

void generateElementwise(Generator& generator);
void generateFill(Generator& generator);
void generateSlice(Generator& generator);
void generateSlice1(Generator& generator);
void generateJoin(Generator& generator);
void generateGather(Generator& generator);
void generateScatterNd(Generator& generator);
void generateSplit(Generator& generator);
void generateTile(Generator& generator);
void generatePadding(Generator& generator);
void generateSliceGrad(Generator& generator);
void generateDepthToSpace(Generator& generator);
void generateSpaceToDepth(Generator& generator);
void generateReverseSubsequences(Generator& generator);
void generateValueScale2D(Generator& generator);
void generateGatherElements(Generator& generator);
void generateGatherNd(Generator& generator);
void generateScatterElements(Generator& generator);
void generateOneHot(Generator& generator);
void generateFillSequence(Generator& generator);
void generateDiagonalMatrix(Generator& generator);
void generateReduce(Generator& generator);
void generateArg(Generator& generator);
void generateSoftmax(Generator& generator);
void generateScan(Generator& generator);
void generateTopK(Generator& generator);
void generateNonzeroCoordinates(Generator& generator);
void generateRandom(Generator& generator);
void generateQuantizeLinear(Generator& generator);
void generateQuantizedLinearAdd(Generator& generator);
void generateDynamicQuantizeLinear(Generator& generator);
void generateQuantize(Generator& generator);
void generateAttention(Generator& generator);
void generatePooling(Generator& generator);
void generatePoolingGrad(Generator& generator);
void generateMaxUnpooling(Generator& generator);
void generateQuantizedPooling(Generator& generator);
void generateBatchNormalization(Generator& generator);
void generateBatchNormalizationTraining(Generator& generator);
void generateBatchNormalizationGrad(Generator& generator);
void generateMeanVariance(Generator& generator);
void generateLpNormalization(Generator& generator);
void generateLocalResponse(Generator& generator);
void generateUnfold(Generator& generator);
void generateGemm(Generator& generator);
void generateIntegerProduct(Generator& generator);
void generateConvolution(Generator& generator);
void generateIntegerConvolution(Generator& generator);
void generateResample(Generator& generator);
void generateUpsample2D(Generator& generator);
void generateRoiPooling(Generator& generator);
void generateRecurrent(Generator& generator);
void generateAdam(Generator& generator);
void generateRoiAlign(Generator& generator);

}  // namespace dimple::testing
