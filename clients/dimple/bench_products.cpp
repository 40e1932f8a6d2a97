#include <algorithm>
#include <cmath>

#include "clients/dimple/bench_case.h"
#include "core/text.h"

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

// A product of integers, each operand with a zero point.
BenchCase integers(std::string_view type, uint64_t size) {
  const std::string sizes = cat("[1,1,", size, ",", size, "]");
  const std::string zero = cat(type, "[1,1,1,1]");
  const DataType dataType = type == "i8" ? DML_TENSOR_DATA_TYPE_INT8 : DML_TENSOR_DATA_TYPE_UINT8;
  const auto exact = [=](uint64_t element) {
    const auto value = [&](size_t input, uint64_t i) {
      return benchInteger(dataType, input, i) - benchInteger(dataType, input + 1, 0);
    };
    Sum sum;
    for (uint64_t i = 0; i < size; ++i)
      sum.add(double{1} * value(0, element / size * size + i) * value(2, i * size + element % size));
    return sum.both();
  };
  return product(cat("integers ", size, "x", size, "x", size, " ", type),
                 cat("MATRIX_MULTIPLY_INTEGER ATensor=", type, sizes, " AZeroPointTensor=", zero, " BTensor=", type,
                     sizes, " BZeroPointTensor=", zero, " OutputTensor=i32", sizes),
                 size * size * size, exact);
}

// From square pictures to square ones, whose edges hold half a window of padding.
struct Pictures {
  uint64_t batch, from, to;  // images, channels, filters
  uint64_t side;             // of an input
  uint64_t window;
  uint64_t groups = 1;
  uint64_t stride = 1;
  bool constant = true;  // the filter, which else is an input of every execution
  bool channelsLast = false;
};

// A tensor of pictures, in the text form of descriptions.
std::string picturesText(std::string_view type, uint64_t batch, uint64_t channels, uint64_t side, bool channelsLast) {
  std::string text = cat(type, "[", batch, ",", channels, ",", side, ",", side, "]");
  if (channelsLast) text += cat("{", channels * side * side, ",1,", channels * side, ",", channels, "}");
  return text;
}

BenchCase convolution(std::string_view type, const Pictures& p) {
  const uint64_t padding = p.window / 2;
  const uint64_t channels = p.from / p.groups;
  const uint64_t to = (p.side + 2 * padding - p.window) / p.stride + 1;  // side of an output
  const auto exact = [=](uint64_t element) {
    // Returns an element's position in memory.
    const auto places = [&](uint64_t of, uint64_t side, uint64_t image, uint64_t channel, uint64_t y, uint64_t x) {
      return p.channelsLast ? ((image * side + y) * side + x) * of + channel
                            : ((image * of + channel) * side + y) * side + x;
    };
    const uint64_t filter = p.channelsLast ? element % p.to : element / (to * to) % p.to;
    const uint64_t place = p.channelsLast ? element / p.to % (to * to) : element % (to * to);
    const uint64_t image = element / (to * to) / p.to;
    const uint64_t first = filter / (p.to / p.groups) * channels;
    Sum sum;
    for (uint64_t channel = 0; channel < channels; ++channel)
      for (uint64_t row = 0; row < p.window; ++row)
        for (uint64_t column = 0; column < p.window; ++column) {
          // Places before the first wrap to large ones.
          const uint64_t atY = place / to * p.stride + row - padding;
          const uint64_t atX = place % to * p.stride + column - padding;
          if (atY >= p.side || atX >= p.side) continue;
          sum.add(benchValue(0, places(p.from, p.side, image, first + channel, atY, atX)) *
                  benchValue(1, ((filter * channels + channel) * p.window + row) * p.window + column));
        }
    return sum.both();
  };
  const std::string input = picturesText(type, p.batch, p.from, p.side, p.channelsLast);
  const std::string output = picturesText(type, p.batch, p.to, to, p.channelsLast);
  return product(
      cat("convolution ", p.window, "x", p.window, " ", p.batch, "x", p.from, "x", p.side, "x", p.side, " to ", p.to,
          " ", type, p.groups > 1 ? cat(", ", p.groups, " groups") : "", p.stride > 1 ? cat(", stride ", p.stride) : "",
          p.constant ? "" : ", filter not owned", p.channelsLast ? ", channels last" : ""),
      cat("CONVOLUTION InputTensor=", input, " FilterTensor=", type, "[", p.to, ",", channels, ",", p.window, ",",
          p.window, "]", p.constant ? "!" : "", " OutputTensor=", output,
          " Mode=CROSS_CORRELATION Direction=FORWARD DimensionCount=2 Strides=[", p.stride, ",", p.stride,
          "] Dilations=[1,1] StartPadding=[", padding, ",", padding, "] EndPadding=[", padding, ",", padding,
          "] OutputPadding=[0,0] GroupCount=", p.groups),
      p.batch * p.to * to * to * channels * p.window * p.window, exact);
}

// Backward: from pictures to larger ones, of whose edges the windows' outermost elements are cut off.
BenchCase transposedConvolution(std::string_view type, const Pictures& p) {
  constexpr uint64_t kPadding = 1;
  const uint64_t to = (p.side - 1) * p.stride + p.window - 2 * kPadding;
  const auto exact = [=](uint64_t element) {
    const uint64_t filter = element / (to * to) % p.to;
    const uint64_t image = element / (to * to) / p.to;
    Sum sum;
    for (uint64_t channel = 0; channel < p.from; ++channel)
      for (uint64_t row = 0; row < p.window; ++row)
        for (uint64_t column = 0; column < p.window; ++column) {
          // Places before the first wrap to large ones.
          const uint64_t atY = element % (to * to) / to + kPadding - row;
          const uint64_t atX = element % to + kPadding - column;
          if (atY % p.stride != 0 || atX % p.stride != 0) continue;
          if (atY / p.stride >= p.side || atX / p.stride >= p.side) continue;
          sum.add(benchValue(0, ((image * p.from + channel) * p.side + atY / p.stride) * p.side + atX / p.stride) *
                  benchValue(1, ((channel * p.to + filter) * p.window + row) * p.window + column));
        }
    return sum.both();
  };
  return product(cat("transposed convolution ", p.window, "x", p.window, " ", p.batch, "x", p.from, "x", p.side, "x",
                     p.side, " to ", p.to, " ", type, ", stride ", p.stride),
                 cat("CONVOLUTION InputTensor=", picturesText(type, p.batch, p.from, p.side, false),
                     " FilterTensor=", type, "[", p.from, ",", p.to, ",", p.window, ",", p.window,
                     "]! OutputTensor=", picturesText(type, p.batch, p.to, to, false),
                     " Mode=CROSS_CORRELATION Direction=BACKWARD DimensionCount=2 Strides=[", p.stride, ",", p.stride,
                     "] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1"),
                 p.batch * p.from * p.side * p.side * p.to * p.window * p.window, exact);
}

// A convolution of integers with an owned filter. Each operand has a zero point.
BenchCase integerConvolution(std::string_view type, const Pictures& p) {
  const uint64_t padding = p.window / 2;
  const std::string zero = cat(type, "[1,1,1,1]");
  return product(
      cat("convolution ", p.window, "x", p.window, " ", p.batch, "x", p.from, "x", p.side, "x", p.side, " to ", p.to,
          " ", type),
      cat("CONVOLUTION_INTEGER InputTensor=", picturesText(type, p.batch, p.from, p.side, false),
          " InputZeroPointTensor=", zero, " FilterTensor=", type, "[", p.to, ",", p.from, ",", p.window, ",", p.window,
          "]! FilterZeroPointTensor=", zero, " OutputTensor=", picturesText("i32", p.batch, p.to, p.side, false),
          " DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[", padding, ",", padding, "] EndPadding=[",
          padding, ",", padding, "] GroupCount=1"),
      p.batch * p.to * p.side * p.side * p.from * p.window * p.window, {});
}

BenchCase attention(std::string_view type, uint64_t heads, uint64_t queries, uint64_t keys, uint64_t channels) {
  constexpr double kScale = 0.088388;
  const uint64_t width = heads * channels;
  const auto exact = [=](uint64_t element) {
    const uint64_t query = element / width;
    const uint64_t head = element % width / channels;
    std::vector<double> scores(keys);
    double top = -INFINITY;
    for (uint64_t key = 0; key < keys; ++key) {
      double sum = 0;
      for (uint64_t c = head * channels; c < (head + 1) * channels; ++c)
        sum += benchValue(0, query * width + c) * benchValue(1, key * width + c);
      scores[key] = sum * kScale;
      top = std::max(top, scores[key]);
    }
    double total = 0;
    for (double& score : scores) total += score = std::exp(score - top);
    Sum sum;
    for (uint64_t key = 0; key < keys; ++key)
      sum.add(scores[key] / total * benchValue(2, key * width + element % width));
    return sum.both();
  };
  const auto tokens = [=](uint64_t positions) { return cat(type, "[1,", positions, ",", width, "]"); };
  return product(
      cat("attention ", heads, "x", queries, queries == keys ? "" : cat(" of ", keys), "x", channels, " ", type),
      cat("MULTIHEAD_ATTENTION QueryTensor=", tokens(queries), " KeyTensor=", tokens(keys), " ValueTensor=",
          tokens(keys), " OutputTensor=", tokens(queries), " Scale=", std::to_string(kScale), " HeadCount=", heads),
      2 * heads * queries * keys * channels, exact);
}

// The hidden units of a recurrent network all of whose inputs, weights and biases hold `value`, after a number of
// steps.
double hiddenUnit(std::string_view name, uint64_t steps, uint64_t hidden, double value) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double width = static_cast<double>(hidden) * value;  // what a sum multiplies its factor with
  double unit = 0, cell = 0;
  for (uint64_t step = 0; step < steps; ++step) {
    const double input = width * value + value;
    const double gate = sigmoid(input + width * unit + value);
    if (name == "LSTM") {
      cell = gate * cell + gate * std::tanh(input + width * unit + value);
      unit = gate * std::tanh(cell);
    } else {
      const double recurrent = name == "GRU" ? gate * (width * unit + value) : width * gate * unit + value;
      unit = (1 - gate) * std::tanh(input + recurrent) + gate * unit;
    }
  }
  return unit;
}

// A network with as many inputs as hidden units. With random weights, the results after many steps depend on rounding.
BenchCase network(std::string_view name, std::string_view type, uint64_t steps, uint64_t batch, uint64_t hidden) {
  const bool isLstm = name == "LSTM";
  const uint64_t rows = (isLstm ? 4 : 3) * hidden;
  const std::string weights = cat(type, "[1,1,", rows, ",", hidden, "]");
  constexpr double kValue = 1.0 / 64;
  const auto exact = [=](uint64_t element) {
    return std::pair(hiddenUnit(name, element / (batch * hidden) + 1, hidden, kValue), 1.0);
  };
  BenchCase made =
      product(cat(name, " ", steps, "x", batch, "x", hidden, " ", type),
              cat(isLstm ? "LSTM" : "GRU", " InputTensor=", type, "[1,", steps, ",", batch, ",", hidden,
                  "] WeightTensor=", weights, " RecurrenceTensor=", weights, " BiasTensor=", type, "[1,1,1,", 2 * rows,
                  "] OutputSequenceTensor=", type, "[", steps, ",1,", batch, ",", hidden, "] Direction=FORWARD",
                  isLstm ? std::string(" ActivationDescs=(SIGMOID,TANH,TANH) UseClipThreshold=0 CoupleInputForget=0")
                         : cat(" ActivationDescs=(SIGMOID,TANH) LinearBeforeReset=", name == "GRU" ? 1 : 0)),
              2 * steps * batch * rows * hidden, exact);
  made.constant = kValue;
  return made;
}

}  // namespace

double benchValue(size_t input, uint64_t element) {
  // The finalizer of SplitMix64.
  uint64_t bits = (element * 4 + input + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>(static_cast<int>((bits >> 32) % 1025) - 512) / 512;
}

int benchInteger(DataType type, size_t input, uint64_t element) {
  const auto value = static_cast<int>(std::lround(127 * benchValue(input, element)));
  return type == DML_TENSOR_DATA_TYPE_UINT8 ? value + 128 : value;
}

std::vector<BenchCase> benchProducts() {
  std::vector<BenchCase> cases;
  for (const std::string_view type : {"f32", "f16"}) {
    cases.push_back(gemm(type, 4096, 4096, 4096));
    cases.push_back(gemm(type, 1024, 1024, 1024));
    cases.push_back(gemm(type, 512, 512, 512));
    cases.push_back(gemm(type, 1, 4096, 4096));
    cases.push_back(gemm(type, 1, 4096, 4096, Weights::Transposed));
    for (const uint64_t rows : {2, 4, 8, 16})
      for (const Weights weights : {Weights::Plain, Weights::Transposed})
        cases.push_back(gemm(type, rows, 11008, 4096, weights));
    cases.push_back(gemm(type, 2, 1024, 1024));
    cases.push_back(gemm(type, 8, 1024, 1024));
    // Rows of B that begin at no multiple of a vector.
    for (const Weights weights : {Weights::Plain, Weights::Owned}) {
      cases.push_back(gemm(type, 1, 4095, 4096, weights));
      cases.push_back(gemm(type, 1024, 1001, 1024, weights));
    }
  }
  cases.push_back(gemm("f16", 2048, 2048, 2048));
  cases.push_back(gemm("f16", 4096, 4096, 4096, Weights::Transposed));
  // These sizes are those of language models.
  for (const Weights weights : {Weights::Plain, Weights::Transposed}) {
    cases.push_back(gemm("f16", 512, 4096, 14336, weights));
    cases.push_back(gemm("f16", 512, 14336, 4096, weights));
  }
  for (const std::string_view type : {"i8", "u8"}) cases.push_back(integers(type, 4096));
  cases.push_back(integers("u8", 1024));
  cases.push_back(convolution("f32", {1, 64, 64, 56, 3}));
  cases.push_back(convolution("f32", {.batch = 1, .from = 64, .to = 64, .side = 56, .window = 3, .constant = false}));
  cases.push_back(convolution("f32", {16, 64, 64, 56, 3}));
  for (const uint64_t batch : {1, 16}) cases.push_back(convolution("f16", {batch, 256, 256, 14, 3}));
  cases.push_back(convolution("f16", {16, 256, 64, 56, 1}));
  for (const uint64_t batch : {1, 16}) cases.push_back(integerConvolution("u8", {batch, 256, 256, 14, 3}));
  cases.push_back(integerConvolution("u8", {16, 256, 64, 56, 1}));
  for (const std::string_view type : {"f32", "f16"})
    cases.push_back(
        transposedConvolution(type, {.batch = 16, .from = 128, .to = 64, .side = 28, .window = 4, .stride = 2}));
  for (const std::string_view type : {"f32", "f16"}) {
    for (const bool channelsLast : {false, true}) {
      cases.push_back(convolution(type, {16, 128, 128, 56, 3, 128, 1, true, channelsLast}));
      cases.push_back(convolution(type, {16, 128, 128, 56, 3, 128, 2, true, channelsLast}));
      cases.push_back(convolution(type, {16, 96, 96, 56, 7, 96, 1, true, channelsLast}));
      cases.push_back(convolution(type, {16, 128, 128, 56, 3, 32, 1, true, channelsLast}));
    }
    cases.push_back(convolution(type, {1, 64, 64, 112, 3, 64}));
    cases.push_back(convolution(type, {1, 64, 3, 224, 3}));
    cases.push_back(convolution(type, {16, 256, 256, 14, 3, 16}));
    cases.push_back(convolution(type, {16, 128, 128, 28, 3, 4}));
  }
  for (const std::string_view type : {"f32", "f16"}) {
    for (const uint64_t channels : {128, 64}) cases.push_back(attention(type, 32, 2048, 2048, channels));
    // These are sizes of encoders of few tokens, and of language models that generate token by token.
    cases.push_back(attention(type, 12, 64, 64, 64));
    for (const uint64_t queries : {1, 8}) cases.push_back(attention(type, 32, queries, 4096, 128));
  }
  for (const std::string_view type : {"f32", "f16"})
    for (const std::string_view name : {"LSTM", "GRU", "GRU reset first"})
      cases.push_back(network(name, type, 128, 32, 512));
  return cases;
}

std::vector<BenchCase> benchSummary() {
  constexpr std::string_view kNames[] = {"GEMM 4096x4096x4096 f32",
                                         "GEMM 4096x4096x4096 f16",
                                         "GEMM 4096x4096x4096 f16, B transposed",
                                         "GEMM 1024x1024x1024 f16",
                                         "GEMM 512x4096x14336 f16",
                                         "GEMM 8x11008x4096 f16",
                                         "GEMM 8x11008x4096 f16, B transposed",
                                         "GEMM 8x11008x4096 f32",
                                         "GEMM 1x4096x4096 f16",
                                         "GEMM 1x4096x4096 f16, B transposed",
                                         "integers 4096x4096x4096 i8",
                                         "convolution 3x3 1x64x56x56 to 64 f32",
                                         "convolution 3x3 16x64x56x56 to 64 f32",
                                         "convolution 3x3 1x256x14x14 to 256 f16",
                                         "convolution 3x3 16x256x14x14 to 256 f16",
                                         "convolution 1x1 16x256x56x56 to 64 f16",
                                         "transposed convolution 4x4 16x128x28x28 to 64 f32, stride 2",
                                         "attention 32x2048x128 f16",
                                         "attention 32x2048x128 f32",
                                         "LSTM 128x32x512 f32",
                                         "LSTM 128x32x512 f16",
                                         "GRU 128x32x512 f32",
                                         "GRU 128x32x512 f16"};
  std::vector<BenchCase> all = benchProducts();
  std::vector<BenchCase> cases;
  for (const std::string_view name : kNames)
    cases.push_back(std::move(*std::ranges::find(all, name, &BenchCase::name)));
  return cases;
}

}  // namespace dimple::tool
