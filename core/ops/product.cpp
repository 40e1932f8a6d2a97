#include "core/ops/product.h"

#include <algorithm>
#include <bit>

#include "core/checked.h"
#include "core/text.h"

namespace dimple {
namespace {

// What kernels/matrix/*.glsl call them.
constexpr uint32_t kHasC = 1;
constexpr uint32_t kWide = 2;
constexpr uint32_t kHasZeroY = 2;
constexpr uint32_t kADepthFirst = 4;
constexpr uint32_t kBDepthFirst = 8;
constexpr uint32_t kHasZeroA = 16;
constexpr uint32_t kHasZeroB = 32;

// Dimensions of one element are stepped through by no stride.
void dropIdleStrides(Product& p) {
  if (p.rows == 1) p.a.row = p.c.row = p.y.row = 0;
  if (p.columns == 1) p.b.column = p.c.column = p.y.column = 0;
  if (p.depth == 1) p.a.column = p.b.row = 0;
}

// y = A B is also the transpose of B transposed times A transposed.
void transpose(Product& p) {
  std::swap(p.rows, p.columns);
  std::swap(p.a, p.b);
  for (Product::Strides* s : {&p.a, &p.b, &p.c, &p.y}) std::swap(s->row, s->column);
  std::swap(p.from[0], p.from[1]);
  for (uint32_t d = 0; d < p.matrices.rank; ++d) std::swap(p.matrices.strides[d][0], p.matrices.strides[d][1]);
  std::swap(p.matrices.base[0], p.matrices.base[1]);
}

// ---- which kernel ---------------------------------------------------------------------------------------------------

// A kernel for products, and why it would not do for one: null if it does.
struct Algorithm {
  std::string_view kernel;
  uint32_t tile;  // rows and columns a workgroup; 0: an invocation an element
  bool vector;    // reads four elements at a time
  const char* (*refuses)(const Product&);
};

// Whether four elements always lie side by side, at a multiple of four: the depth's, or else those across it.
bool comesInFours(const Walk& matrices, uint32_t operand, uint32_t across, uint32_t acrossSize, uint32_t along,
                  uint32_t alongSize) {
  const bool alongFirst = along == 1 && alongSize % 4 == 0 && across % 4 == 0;
  const bool acrossFirst = across == 1 && acrossSize % 4 == 0 && along % 4 == 0;
  if (!alongFirst && !acrossFirst) return false;
  for (uint32_t d = 0; d < matrices.rank; ++d)
    if (matrices.strides[d][operand] % 4 != 0) return false;
  return matrices.base[operand] % 4 == 0;
}

const char* refusesTile(const Product& p) {
  // Most of a tile would be idle.
  if (p.rows < 16 || p.columns < 16) return "It has few rows or columns.";
  if (p.depth < 8) return "Its sums are short.";
  return nullptr;
}

const char* refusesVector(const Product& p) {
  if (const char* reason = refusesTile(p)) return reason;
  if (!comesInFours(p.matrices, 0, p.a.row, p.rows, p.a.column, p.depth)) return "A is not in vectors of four.";
  if (!comesInFours(p.matrices, 1, p.b.column, p.columns, p.b.row, p.depth)) return "B is not in vectors of four.";
  return nullptr;
}

const char* refusesLargeTile(const Product& p) {
  if (const char* reason = refusesVector(p)) return reason;
  constexpr uint64_t kWorkgroups = 64;  // that leave no large part of a device idle
  const uint64_t tiles = p.matrices.count() * divideUp(p.rows, 128) * divideUp(p.columns, 128);
  return tiles < kWorkgroups ? "Its tiles are few." : nullptr;
}

constexpr uint32_t kMostFewRows = 8;
const char* refusesFewRows(const Product& p) {
  if (p.rows > kMostFewRows) return "It has many rows.";
  if (p.depth < 32) return "Its sums are short.";
  return nullptr;
}

const char* refusesNothing(const Product&) { return nullptr; }

// In order of preference.
constexpr Algorithm kMatrixAlgorithms[] = {
    {"gemm_few_rows", 0, false, refusesFewRows},
    {"gemm_large_tile", 128, true, refusesLargeTile},
    {"gemm_vector_tile", 64, true, refusesVector},
    {"gemm_tile", 64, false, refusesTile},
    {"gemm", 0, false, refusesNothing},
};
constexpr Algorithm kConvolutionAlgorithms[] = {
    {"convolution_tile", 64, false, refusesTile},
    {"convolution", 0, false, refusesNothing},
};
constexpr Algorithm kIntegerMatrixAlgorithms[] = {
    {"integer_gemm_tile", 64, false, refusesTile},
    {"integer_gemm", 0, false, refusesNothing},
};
constexpr Algorithm kIntegerConvolutionAlgorithms[] = {
    {"integer_convolution_tile", 64, false, refusesTile},
    {"integer_convolution", 0, false, refusesNothing},
};

const Algorithm& choose(std::span<const Algorithm> algorithms, const Product& product) {
  return *std::ranges::find_if(algorithms, [&](const Algorithm& a) { return a.refuses(product) == nullptr; });
}

// ---- dispatches -----------------------------------------------------------------------------------------------------

std::vector<uint32_t> parameterWords(const Product& p, const std::vector<uint32_t>& quantization,
                                     const ConvolutionWindow* window) {
  std::vector<uint32_t> words{p.a.row, p.a.column, p.b.row, p.b.column, p.c.row, p.c.column, p.y.row, p.y.column};
  if (window) words = window->strides;
  words.insert(words.end(), quantization.begin(), quantization.end());
  words.resize(16);
  if (window) words.insert(words.end(), window->dimensions.begin(), window->dimensions.end());
  appendWalk(words, p.matrices);
  return words;
}

// Which dimension of A and of B neighbouring elements lie along.
uint32_t directions(const Product& p) {
  return (p.a.column == 1 ? kADepthFirst : 0) | (p.b.row == 1 && p.b.column != 1 ? kBDepthFirst : 0);
}

uint64_t groupsOf(const Algorithm& algorithm, const Product& p) {
  if (algorithm.tile == 0) return divideUp(p.elements(), kGroupSize);
  return p.matrices.count() * divideUp(p.rows, algorithm.tile) * divideUp(p.columns, algorithm.tile);
}

// Invocations that share a column's sum: enough to fill the device where columns are few.
uint32_t sliceBitsOf(const Product& p, bool depthFirst) {
  constexpr uint64_t kInvocations = 64 * 1024;  // that fill a device
  uint32_t bits = depthFirst ? 5 : 3;
  const auto wanted = [&] {
    return bits < 8 && (p.depth >> bits) >= 16 && ((p.matrices.count() * p.columns) << bits) < kInvocations;
  };
  while (wanted()) ++bits;
  return bits;
}

}  // namespace

Status addFloatProduct(PlanBuilder& builder, Product p, const FloatFinish& finish, const ConvolutionWindow* window) {
  if (!window) {
    dropIdleStrides(p);
    // Rows are the few, or else those that neighbouring stores do not go along.
    const bool fewColumns = p.columns <= kMostFewRows && p.rows > kMostFewRows;
    const bool fewRows = p.rows <= kMostFewRows;
    if (fewColumns || (!fewRows && p.y.row == 1 && p.y.column != 1)) transpose(p);
  }
  const Algorithm& algorithm = window ? choose(kConvolutionAlgorithms, p) : choose(kMatrixAlgorithms, p);
  const bool fewRows = algorithm.refuses == refusesFewRows;
  const uint32_t flags = (p.hasC ? kHasC : 0) | (finish.wide ? kWide : 0) | directions(p);
  const Activation& activation = finish.activation;
  std::vector<uint32_t> push{p.rows,
                             p.columns,
                             p.depth,
                             static_cast<uint32_t>(p.elements()),
                             p.matrices.rank,
                             std::bit_cast<uint32_t>(finish.alpha),
                             std::bit_cast<uint32_t>(finish.beta),
                             std::bit_cast<uint32_t>(activation.parameters[0]),
                             std::bit_cast<uint32_t>(activation.parameters[1]),
                             flags};
  uint64_t groups = groupsOf(algorithm, p);
  if (fewRows) {
    const uint32_t sliceBits = sliceBitsOf(p, (flags & kBDepthFirst) != 0);
    const uint64_t columnGroups = divideUp(p.columns, uint64_t{kGroupSize} >> sliceBits);
    groups = p.matrices.count() * columnGroups;
    push[3] = static_cast<uint32_t>(columnGroups);
    push.push_back(sliceBits);
  }
  std::vector<Specialization> specialization{{1, static_cast<uint32_t>(activation.type)}};
  if (window) specialization.push_back({2, window->backward});
  // Only the kernels on 32-bit words store FLOAT32 for FLOAT16 operands.
  const std::string kernel = finish.wide ? cat(algorithm.kernel, ".", shortTypeName(p.type))
                                         : typedKernel(algorithm.kernel, p.type, builder.caps());
  return builder.add(kernel, groups, push, {p.from[0], p.from[1], p.from[2], p.to},
                     builder.parameters(parameterWords(p, {}, window)), specialization);
}

Status addIntegerProduct(PlanBuilder& builder, const Product& p, const Quantization& q,
                         const ConvolutionWindow* window) {
  const Algorithm& algorithm = window ? choose(kIntegerConvolutionAlgorithms, p) : choose(kIntegerMatrixAlgorithms, p);
  const auto kindOf = [](DataType type) -> uint32_t {
    if (type == DML_TENSOR_DATA_TYPE_UNKNOWN) return 0;
    return static_cast<uint32_t>(std::countr_zero(byteWidth(type))) | (isSigned(type) ? 4u : 0u);
  };
  const uint32_t kinds = kindOf(q.a) | kindOf(q.b) << 4 | kindOf(q.c) << 8 | kindOf(q.scale) << 12;
  const uint32_t flags = (p.hasC ? kHasC : 0) | (q.zeroA.range ? kHasZeroA : 0) | (q.zeroB.range ? kHasZeroB : 0) |
                         (q.zeroY.range ? kHasZeroY : 0) | directions(p);
  // What is absent is not read, but something has to be bound.
  const auto range = [&](const Quantization::Parameter& parameter) { return parameter.range.value_or(p.from[0]); };
  std::vector<Specialization> specialization;
  if (window) specialization.push_back({2, window->backward});
  return builder.add(
      cat(algorithm.kernel, ".", shortTypeName(p.type)), groupsOf(algorithm, p),
      {p.rows, p.columns, p.depth, static_cast<uint32_t>(p.elements()), p.matrices.rank, kinds, flags},
      {p.from[0], p.from[1], p.from[2], range(q.zeroA), range(q.zeroB), range(q.scaleA), range(q.scaleB),
       range(q.scaleY), range(q.zeroY), p.to},
      builder.parameters(parameterWords(
          p, {q.scaleA.stride, q.zeroA.stride, q.scaleB.stride, q.zeroB.stride, q.scaleY.stride, q.zeroY.stride},
          window)),
      specialization);
}

}  // namespace dimple
