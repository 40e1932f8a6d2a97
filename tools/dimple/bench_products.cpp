#include <cmath>

#include "core/text.h"
#include "tools/dimple/bench_case.h"

namespace dimple::tool {
namespace {

struct Sum {
  double value = 0;
  double magnitude = 0;

  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
  std::pair<double, double> both() const { return {value, magnitude}; }
};

BenchCase product(std::string name, const std::string& line, uint64_t products, BenchCase::Exact exact) {
  BenchCase made = makeBenchCase(std::move(name), line);
  made.operations = 2 * products;
  made.exact = std::move(exact);
  return made;
}

enum class Weights { Plain, Transposed, Owned };

BenchCase gemm(std::string_view type, uint64_t m, uint64_t n, uint64_t k, Weights weights = Weights::Plain) {
  const bool transposed = weights == Weights::Transposed;
  const uint64_t ofColumn = transposed ? k : 1;
  const uint64_t ofDepth = transposed ? 1 : n;
  const auto exact = [=](uint64_t element) {
    Sum sum;
    for (uint64_t i = 0; i < k; ++i)
      sum.add(benchValue(0, element / n * k + i) * benchValue(1, element % n * ofColumn + i * ofDepth));
    return sum.both();
  };
  const std::string b =
      transposed ? cat(n, ",", k, "] TransB=TRANSPOSE") : cat(k, ",", n, weights == Weights::Owned ? "]!" : "]");
  constexpr std::string_view kNames[] = {"", ", B transposed", ", B owned"};
  return product(cat("GEMM ", m, "x", n, "x", k, " ", type, kNames[static_cast<size_t>(weights)]),
                 cat("GEMM Alpha=1 ATensor=", type, "[1,1,", m, ",", k, "] BTensor=", type, "[1,1,", b,
                     " OutputTensor=", type, "[1,1,", m, ",", n, "]"),
                 m * n * k, exact);
}

// Of integers, with a zero point each.
BenchCase integers(std::string_view type, uint64_t size) {
  const std::string sizes = cat("[1,1,", size, ",", size, "]");
  const std::string zero = cat(type, "[1,1,1,1]");
  return product(cat("integers ", size, "x", size, "x", size, " ", type),
                 cat("MATRIX_MULTIPLY_INTEGER ATensor=", type, sizes, " AZeroPointTensor=", zero, " BTensor=", type,
                     sizes, " BZeroPointTensor=", zero, " OutputTensor=i32", sizes),
                 size * size * size, {});
}

// From a square picture to one of the same size. The filter is a constant, or an input of every execution.
BenchCase convolution(std::string_view type, uint64_t batch, uint64_t from, uint64_t to, uint64_t side, uint64_t window,
                      bool constant = true) {
  const uint64_t padding = window / 2;
  const auto exact = [=](uint64_t element) {
    const uint64_t x = element % side;
    const uint64_t y = element / side % side;
    const uint64_t filter = element / side / side % to;
    const uint64_t image = element / side / side / to;
    Sum sum;
    for (uint64_t channel = 0; channel < from; ++channel)
      for (uint64_t row = 0; row < window; ++row)
        for (uint64_t column = 0; column < window; ++column) {
          // Places before the first wrap to large ones.
          const uint64_t atY = y + row - padding;
          const uint64_t atX = x + column - padding;
          if (atY >= side || atX >= side) continue;
          sum.add(benchValue(0, ((image * from + channel) * side + atY) * side + atX) *
                  benchValue(1, ((filter * from + channel) * window + row) * window + column));
        }
    return sum.both();
  };
  return product(
      cat("convolution ", window, "x", window, " ", batch, "x", from, "x", side, "x", side, " to ", to, " ", type,
          constant ? "" : ", filter not owned"),
      cat("CONVOLUTION InputTensor=", type, "[", batch, ",", from, ",", side, ",", side, "] FilterTensor=", type, "[",
          to, ",", from, ",", window, ",", window, "]", constant ? "!" : "", " OutputTensor=", type, "[", batch, ",",
          to, ",", side, ",", side,
          "] Mode=CROSS_CORRELATION Direction=FORWARD DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[",
          padding, ",", padding, "] EndPadding=[", padding, ",", padding, "] OutputPadding=[0,0] GroupCount=1"),
      batch * to * side * side * from * window * window, exact);
}

BenchCase attention(std::string_view type, uint64_t heads, uint64_t positions, uint64_t channels) {
  constexpr double kScale = 0.088388;
  const uint64_t width = heads * channels;
  const auto exact = [=](uint64_t element) {
    const uint64_t query = element / width;
    const uint64_t head = element % width / channels;
    std::vector<double> scores(positions);
    double top = -INFINITY;
    for (uint64_t key = 0; key < positions; ++key) {
      double sum = 0;
      for (uint64_t c = head * channels; c < (head + 1) * channels; ++c)
        sum += benchValue(0, query * width + c) * benchValue(1, key * width + c);
      scores[key] = sum * kScale;
      top = std::max(top, scores[key]);
    }
    double total = 0;
    for (double& score : scores) total += score = std::exp(score - top);
    Sum sum;
    for (uint64_t key = 0; key < positions; ++key)
      sum.add(scores[key] / total * benchValue(2, key * width + element % width));
    return sum.both();
  };
  const std::string tokens = cat(type, "[1,", positions, ",", width, "]");
  return product(cat("attention ", heads, "x", positions, "x", channels, " ", type),
                 cat("MULTIHEAD_ATTENTION QueryTensor=", tokens, " KeyTensor=", tokens, " ValueTensor=", tokens,
                     " OutputTensor=", tokens, " Scale=", std::to_string(kScale), " HeadCount=", heads),
                 2 * heads * positions * positions * channels, exact);
}

}  // namespace

double benchValue(size_t input, uint64_t element) {
  // The finalizer of SplitMix64.
  uint64_t bits = (element * 4 + input + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>(static_cast<int>((bits >> 32) % 1025) - 512) / 512;
}

std::vector<BenchCase> benchProducts() {
  std::vector<BenchCase> cases;
  for (const std::string_view type : {"f32", "f16"}) {
    cases.push_back(gemm(type, 4096, 4096, 4096));
    cases.push_back(gemm(type, 1024, 1024, 1024));
    cases.push_back(gemm(type, 512, 512, 512));
    cases.push_back(gemm(type, 1, 4096, 4096));
    cases.push_back(gemm(type, 1, 4096, 4096, Weights::Transposed));
    // Rows of B that begin at no multiple of a vector.
    for (const Weights weights : {Weights::Plain, Weights::Owned}) {
      cases.push_back(gemm(type, 1, 4095, 4096, weights));
      cases.push_back(gemm(type, 1024, 1001, 1024, weights));
    }
  }
  for (const std::string_view type : {"i8", "u8"}) cases.push_back(integers(type, 4096));
  cases.push_back(integers("u8", 1024));
  cases.push_back(convolution("f32", 1, 64, 64, 56, 3));
  cases.push_back(convolution("f32", 1, 64, 64, 56, 3, false));
  cases.push_back(convolution("f32", 16, 64, 64, 56, 3));
  cases.push_back(convolution("f16", 16, 256, 256, 14, 3));
  cases.push_back(convolution("f16", 16, 256, 64, 56, 1));
  cases.push_back(attention("f16", 32, 2048, 128));
  cases.push_back(attention("f16", 32, 2048, 64));
  return cases;
}

}  // namespace dimple::tool
