// Rows of products with weights of few bits, as language models have them: each product has weights of its own, so that
// a row reads them from memory.
#include <algorithm>

#include "clients/dimple/bench_case.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

struct WeightRow {
  std::string type;  // of the weights: "f16" is dequantized nowhere
  uint64_t rows, depth, columns;
  uint64_t block = 32;
  bool hasZeroPoints = false;
  std::string options{};
  std::string reals = "f16";  // of the results
};

std::string sizesText(uint64_t first, uint64_t second) { return cat("[1,", first, ",", second, "]"); }

// Of each weight with its scale.
double bitsOf(const WeightRow& row) {
  if (row.type == "f16") return 16;
  const double bits = row.type == "u4" || row.type == "i4" ? 4 : 8;
  return bits + (16.0 + (row.hasZeroPoints ? bits : 0)) / static_cast<double>(row.block);
}

class WeightRowMaker {
 public:
  explicit WeightRowMaker(WeightRow row) : row_(std::move(row)) {}

  BenchCase make() {
    // More than caches hold.
    constexpr uint64_t kWeights = uint64_t{256} << 20;
    const uint64_t ofPair = 2 * row_.depth * row_.columns;
    const uint64_t pairs = std::max<uint64_t>(1, kWeights / ofPair);
    for (uint64_t i = 0; i < pairs; ++i) {
      addProduct(row_.depth, row_.columns);
      addProduct(row_.columns, row_.depth);
    }
    const std::string shape = cat(row_.rows, "x", row_.depth, "x", row_.columns);
    BenchCase made{cat("weights: ", 2 * pairs, " of ", shape, row_.columns == row_.depth ? "" : " and back", " ",
                       row_.reals, " by ", row_.type, row_.hasZeroPoints ? ", zero points" : "",
                       row_.block == 32 ? "" : cat(", blocks of ", row_.block),
                       row_.options.empty() ? "" : ", node by node")};
    made.graph = std::make_shared<BenchGraph>(nodes_, row_.options);
    const double weights = static_cast<double>(ofPair * pairs) * bitsOf(row_) / 8;
    const uint64_t between = 2 * pairs * row_.rows * (row_.depth + row_.columns) * (row_.reals == "f32" ? 4 : 2);
    made.bytes = static_cast<uint64_t>(weights) + between;
    made.operations = 2 * row_.rows * ofPair * pairs;
    return made;
  }

 private:
  void addProduct(uint64_t depth, uint64_t columns) {
    const std::string all = sizesText(columns, depth);
    BenchGraph::Source weights{false, inputs_++};
    if (row_.type != "f16") {
      const std::string blocks = sizesText(columns, depth / row_.block);
      std::vector<BenchGraph::Source> from{weights, {false, inputs_++}};
      if (row_.hasZeroPoints) from.push_back({false, inputs_++});
      nodes_.push_back({cat("DEQUANTIZE InputTensor=", row_.type, all,
                            " QuantizationType=", row_.hasZeroPoints ? "SCALE_ZERO_POINT" : "SCALE",
                            " QuantizationTensors=(", row_.reals, blocks,
                            row_.hasZeroPoints ? cat(",", row_.type, blocks) : "", ") OutputTensor=", row_.reals, all),
                        from});
      weights = {true, nodes_.size() - 1};
    }
    nodes_.push_back({cat("GEMM ATensor=", row_.reals, sizesText(row_.rows, depth), " BTensor=", row_.reals, all,
                          " OutputTensor=", row_.reals, sizesText(row_.rows, columns),
                          " TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=0"),
                      {last_, weights}});
    last_ = {true, nodes_.size() - 1};
  }

  const WeightRow row_;
  std::vector<BenchGraph::Node> nodes_;
  BenchGraph::Source last_{false, 0};  // what the next product multiplies
  size_t inputs_ = 1;
};

}  // namespace

std::vector<BenchCase> benchWeights() {
  std::vector<WeightRow> rows;
  for (const uint64_t count : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512})
    for (const std::string type : {"u4", "f16"}) rows.push_back({type, count, 4096, 4096});
  for (const uint64_t count : {16, 64, 512})
    rows.push_back({.type = "u4", .rows = count, .depth = 4096, .columns = 4096, .options = "dequantized=0"});
  for (const uint64_t count : {1, 16, 512})
    for (const std::string type : {"u4", "f16"}) rows.push_back({type, count, 4096, 14336});
  for (const std::string type : {"u8", "i4"}) rows.push_back({type, 1, 4096, 4096});
  for (const uint64_t block : {16, 128}) rows.push_back({"u4", 1, 4096, 4096, block});
  for (const std::string type : {"u4", "u8"}) rows.push_back({type, 1, 4096, 4096, 32, true});
  for (const uint64_t count : {1, 4})
    rows.push_back({.type = "u4", .rows = count, .depth = 4096, .columns = 4096, .reals = "f32"});
  std::vector<BenchCase> cases;
  for (WeightRow& row : rows) cases.push_back(WeightRowMaker(std::move(row)).make());
  return cases;
}

}  // namespace dimple::tool
