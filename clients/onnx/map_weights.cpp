// Products with weights of few bits.
#include <limits>

#include "clients/onnx/product.h"

namespace dimple::onnx {
namespace {

// Weights of a product, [columns, depth], each block of a column with a scale and a zero point of its own. The last
// block of a column is full, whatever the depth.
struct BlockWeights {
  int64_t depth, columns, block, bits;

  int64_t blocks() const { return (depth + block - 1) / block; }
  int64_t bytes() const { return elementCount(Sizes{columns, blocks(), block * bits / 8}); }
  // Of the zero points of a column, in bits as well.
  int64_t zeroBytes() const { return (blocks() * bits + 7) / 8; }
};

BlockWeights blockWeightsOf(const NodeContext& node) {
  const Attributes& attributes = node.attributes();
  const BlockWeights weights{attributes.integer("K", 0), attributes.integer("N", 0),
                             attributes.integer("block_size", 0), attributes.integer("bits", 4)};
  const auto& [depth, columns, block, bits] = weights;
  if (node.has(4)) throw ModelError("It has input g_idx, which is not mapped.");
  if (attributes.flag("weight_prepacked")) throw ModelError("Attribute weight_prepacked is not 0, expected 0.");
  if (bits != 2 && bits != 4 && bits != 8) throw ModelError(cat("Attribute bits is ", bits, ", expected 2, 4 or 8."));
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (depth < 1 || depth > kMax || columns < 1 || columns > kMax)
    throw ModelError(cat("Attributes K and N are ", depth, " and ", columns, ", expected 1 to 2^31 - 1."));
  if (block < 1 || block > kMax || block * bits % 8 != 0)
    throw ModelError(cat("Attribute block_size is ", block, ", expected blocks of whole bytes."));
  const Value& packed = node.input(1);
  const Value& scales = node.input(2);
  if (packed.type != Type::UInt8 || packed.elements() != weights.bytes())
    throw ModelError(cat("Input 1 is ", typeName(packed.type), listText(packed.sizes), ", expected ", weights.bytes(),
                         " bytes of uint8 for ", columns, " columns of ", weights.blocks(), " blocks."));
  if (!isFloat(scales.type) || scales.elements() != columns * weights.blocks())
    throw ModelError(cat("Input 2 is ", typeName(scales.type), listText(scales.sizes), ", expected ",
                         columns * weights.blocks(), " floats."));
  if (!node.has(3)) return weights;
  const Value& zeros = node.input(3);
  const int64_t expected = columns * (zeros.type == Type::UInt8 ? weights.zeroBytes() : weights.blocks());
  if (zeros.elements() != expected)
    throw ModelError(cat("Input 3 has sizes ", listText(zeros.sizes), ", expected ", expected, " elements."));
  return weights;
}

// Whether DirectML can dequantize them.
bool isDequantized(const NodeContext& node, const BlockWeights& weights) {
  return weights.bits != 2 && (!node.has(3) || node.input(3).type == Type::UInt8);
}

// [columns, depth] in floats, for graphs whose products read the integers.
Value dequantizedWeights(NodeContext& node, const BlockWeights& weights) {
  GraphBuilder& graph = node.graph();
  // Of `count` integers for each column, in so many bytes.
  const auto integersOf = [&](const Value& bytes, int64_t count) {
    if (weights.bits == 8) return graph.reshape(bytes, {weights.columns, count});
    const Value pairs = graph.pairs(bytes, {weights.columns, (count + 1) / 2 * 2});
    return count % 2 ? graph.prefix(pairs, 1, count) : pairs;
  };
  const int64_t blocks = weights.blocks(), stored = blocks * weights.block;
  Op op(graph);
  DML_DEQUANTIZE_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(integersOf(node.input(1), stored));
  std::vector<DML_TENSOR_DESC> parameters{*op.input(graph.reshape(node.input(2), {weights.columns, blocks}))};
  if (node.has(3)) parameters.push_back(*op.input(integersOf(node.input(3), blocks)));
  // Without zero points, DirectML takes the middle of the range, too.
  desc.QuantizationType = node.has(3) ? DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT : DML_QUANTIZATION_TYPE_SCALE;
  desc.QuantizationTensorCount = static_cast<UINT>(parameters.size());
  desc.QuantizationTensors = parameters.data();
  desc.OutputTensor = op.output(node.input(2).type, {weights.columns, stored});
  const Value all = op.make(DML_OPERATOR_DEQUANTIZE, desc);
  return stored == weights.depth ? all : graph.prefix(all, 1, weights.depth);
}

// Integers of so many bits, from the lowest bits of a byte on.
int64_t bitsAt(const HostTensor& bytes, int64_t firstByte, int64_t index, int64_t bits) {
  const int64_t byte = bytes.integer(static_cast<size_t>(firstByte + index * bits / 8));
  return byte >> (index * bits % 8) & ((int64_t{1} << bits) - 1);
}

// The same, computed before anything runs. Null: their values are not known.
SharedTensor unpackedWeights(NodeContext& node, const BlockWeights& weights) {
  if (!node.knows(1) || !node.knows(2) || !node.knows(3)) return nullptr;
  const auto& [depth, columns, block, bits] = weights;
  const int64_t blocks = weights.blocks();
  const HostTensor& packed = node.constant(1);
  const HostTensor& scales = node.constant(2);
  const HostTensor* zeros = node.has(3) ? &node.constant(3) : nullptr;
  HostTensor floats(scales.type, {columns, depth});
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t inColumn = k / block, at = n * blocks + inColumn;
      double zero = static_cast<double>(int64_t{1} << (bits - 1));
      if (zeros)
        zero = zeros->type == Type::UInt8 ? static_cast<double>(bitsAt(*zeros, n * weights.zeroBytes(), inColumn, bits))
                                          : zeros->real(static_cast<size_t>(at));
      const auto integer = static_cast<double>(bitsAt(packed, at * (block * bits / 8), k % block, bits));
      floats.setReal(static_cast<size_t>(n * depth + k), (integer - zero) * scales.real(static_cast<size_t>(at)));
    }
  return std::make_shared<const HostTensor>(std::move(floats));
}

void multiplyByWeights(NodeContext& node, const Value& weights, size_t biasIndex) {
  GraphBuilder& graph = node.graph();
  const Value& x = node.input(0);
  const int64_t columns = weights.sizes[0], depth = weights.sizes[1];
  if (x.rank() == 0 || x.sizes.back() != depth || x.type != weights.type)
    throw ModelError(cat("Input 0 is ", typeName(x.type), listText(x.sizes), ", expected rows of ", depth, " ",
                         typeName(weights.type), " elements."));
  Sizes sizes = x.sizes;
  sizes.back() = columns;
  if (x.elements() == 0) return node.setOutput(0, emptyValue(x.type, sizes));
  const int64_t rows = x.elements() / depth;
  std::optional<Value> bias;
  if (node.has(biasIndex)) bias = graph.broadcast(node.input(biasIndex), {rows, columns});
  Op op(graph);
  DML_GEMM_OPERATOR_DESC desc{};
  desc.ATensor = op.input(graph.reshape(x, {rows, depth}));
  desc.BTensor = op.input(weights);
  desc.CTensor = op.optionalInput(bias);
  desc.OutputTensor = op.output(x.type, {rows, columns});
  desc.TransB = DML_MATRIX_TRANSFORM_TRANSPOSE;
  desc.Alpha = 1;
  desc.Beta = bias ? 1.0f : 0.0f;
  node.setOutput(0, graph.reshape(op.make(DML_OPERATOR_GEMM, desc), sizes));
}

// A whole node. What has to be unpacked is two nodes in models, and one where whether it can be mapped is tried.
void mapMatMulNBits(NodeContext& node) {
  const BlockWeights weights = blockWeightsOf(node);
  if (isDequantized(node, weights)) return multiplyByWeights(node, dequantizedWeights(node, weights), 5);
  if (SharedTensor floats = unpackedWeights(node, weights)) multiplyByWeights(node, hostValue(std::move(floats)), 5);
}

void mapMatMulNBitsWeights(NodeContext& node) {
  if (SharedTensor floats = unpackedWeights(node, blockWeightsOf(node)))
    node.setOutput(0, hostValue(std::move(floats)));
}

void mapMatMulNBitsProduct(NodeContext& node) { multiplyByWeights(node, node.input(1), 2); }

constexpr Mapping kWeightMappings[] = {
    {kMicrosoft, "MatMulNBits", 1, mapMatMulNBits},
    {kInternalDomain.data(), "MatMulNBitsProduct", 1, mapMatMulNBitsProduct},
    {kInternalDomain.data(), "MatMulNBitsWeights", 1, mapMatMulNBitsWeights},
};

}  // namespace

std::span<const Mapping> weightMappings() { return kWeightMappings; }

}  // namespace dimple::onnx
