#include "tests/conformance/graphs/decoder_graph.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/random.h"

namespace dimple::testing {
namespace {

using Shape = std::vector<uint32_t>;

std::string listed(const Shape& values, const char* brackets = "[]") {
  std::string out(1, brackets[0]);
  for (const uint32_t value : values) out += cat(out.size() == 1 ? "" : ",", value);
  return out + brackets[1];
}

size_t countOf(const Shape& sizes) {
  size_t count = 1;
  for (const uint32_t size : sizes) count *= size;
  return count;
}

class Decoder {
 public:
  explicit Decoder(const DecoderOptions& options) : o_(options) {}

  TestGraph layers() {
    const Shape row{o_.batches, o_.words, o_.width};
    GraphSource x = floats(o_.type, row, 1);
    lengths_ =
        o_.lengths.empty()
            ? graph_.node(cat("FILL_VALUE_CONSTANT OutputTensor=i32[", o_.batches, "] ValueDataType=INT32 Value=0"), {})
            : graph_.input(DML_TENSOR_DATA_TYPE_INT32, o_.lengths);
    addPositions();
    std::vector<std::pair<GraphSource, std::vector<std::byte>>> caches;
    for (uint32_t layer = 0; layer < o_.layers; ++layer) {
      const GraphSource normalized = layer == 0 ? normalization(x, true) : normalization(x, false);
      const GraphSource attended = attention(normalized, caches);
      x = sum(x, product(attended, o_.heads * o_.channels, o_.width));
      x = sum(x, inner(normalization(x, false)));
    }
    graph_.output(x);
    for (auto& [cache, held] : caches) graph_.output(cache, std::move(held));
    return graph_.take();
  }

  TestGraph rotations() {
    addPositions();
    const Shape whole{o_.batches, o_.words, (o_.heads + o_.keyHeads) * o_.channels};
    const GraphSource x = floats(o_.type, whole, 1);
    const auto partOf = [&](uint32_t heads) { return Shape{o_.batches, o_.words, heads * o_.channels}; };
    const GraphSource split =
        graph_.node(cat("SPLIT InputTensor=", o_.type, listed(whole), " OutputTensors=(", o_.type,
                        listed(partOf(o_.heads)), ",", o_.type, listed(partOf(o_.keyHeads)), ") Axis=2"),
                    {x});
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t heads = i == 0 ? o_.heads : o_.keyHeads;
      GraphSource part = split;
      part.output = i;
      Shape twice = partOf(heads);
      twice[2] *= 2;
      graph_.output(graph_.node(cat("TILE InputTensor=", o_.type, listed(partOf(heads)), " OutputTensor=", o_.type,
                                    listed(twice), " Repeats=[1,1,2]"),
                                {rotated(part, heads)}));
    }
    return graph_.take();
  }

  TestGraph productAlone(uint32_t columns, uint32_t depth, bool casts) {
    const GraphSource x = floats(o_.type, {o_.batches, o_.words, depth}, 1);
    graph_.output(product(x, depth, columns, casts));
    return graph_.take();
  }

  TestGraph productOfRows(uint32_t columns, uint32_t depth, bool hasFactor) {
    const std::string tensor = cat(o_.type, listed({o_.batches, o_.words, depth}));
    std::vector<GraphSource> inputs{floats(o_.type, {o_.batches, o_.words, depth}, 3)};
    if (hasFactor) inputs.push_back(floats(o_.type, {depth}, 0.5, 1));
    const std::string factor = hasFactor ? cat(" ScaleTensor=", o_.type, "[1,1,", depth, "]") : "";
    const GraphSource rows =
        graph_.node(cat("MEAN_VARIANCE_NORMALIZATION2 InputTensor=", tensor, factor, " OutputTensor=", tensor,
                        " Axes=[2] UseMean=0 UseVariance=1 Epsilon=0.01"),
                    inputs);
    graph_.output(product(rows, depth, columns));
    return graph_.take();
  }

  // DEQUANTIZE, whose weights have no batch, and a product with what it makes, which has the batch of A.
  GraphSource product(const GraphSource& x, uint32_t depth, uint32_t columns, bool casts = false) {
    const WeightOptions& w = o_.weights;
    const std::string_view type = casts ? "f32" : std::string_view(o_.type);
    const Shape all{o_.batches, columns, depth}, blocks{1, columns, depth / w.block};
    const std::string mark = w.owned ? "!" : "";
    // Weights of one bit less than the type has, around the zero point.
    const double step = 4 / (std::sqrt(static_cast<double>(depth)) * (w.type[1] == '4' ? 16 : 256));
    const GraphSource weights = integers(w.type, {columns, depth}, w.owned, 0xff);
    std::vector<double> scales = drawn(countOf(blocks), step / 2, step);
    if (w.infinite)
      for (size_t i = 0; i < scales.size(); ++i)
        if (i / blocks[2] % 2 != 0) scales[i] = std::numeric_limits<double>::infinity();
    std::vector<GraphSource> inputs{weights, graph_.input(typeNamed(o_.type), scales, w.owned)};
    std::string zero;
    if (w.zeroPoints == ZeroPoints::Given) {
      inputs.push_back(integers(w.type, blocks, w.owned, 0));
      zero = cat(",", w.type, listed(blocks), mark);
    } else if (w.zeroPoints == ZeroPoints::Filled) {
      inputs.push_back(graph_.node("FILL_VALUE_CONSTANT OutputTensor=u8[4] ValueDataType=UINT8 Value=0", {}));
      zero = cat(",", w.type, listed(blocks), "{0,0,0}");
    }
    GraphSource made =
        graph_.node(cat("DEQUANTIZE InputTensor=", w.type, listed(all), listed({0, depth, 1}, "{}"), mark,
                        " QuantizationType=", zero.empty() ? "SCALE" : "SCALE_ZERO_POINT", " QuantizationTensors=(",
                        o_.type, listed(blocks), mark, zero, ") OutputTensor=", o_.type, listed(all)),
                    inputs);
    GraphSource a = x;
    if (casts) {
      made = cast(made, all, o_.type, "f32");
      a = cast(a, {o_.batches, o_.words, depth}, o_.type, "f32");
    }
    const Shape result{o_.batches, o_.words, columns};
    const GraphSource y =
        graph_.node(cat("GEMM ATensor=", type, listed({o_.batches, o_.words, depth}), " BTensor=", type, listed(all),
                        " OutputTensor=", type, listed(result), " TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=0"),
                    {a, made});
    return casts ? cast(y, result, "f32", o_.type) : y;
  }

 private:
  void addPositions() {
    std::vector<double> positions;
    for (uint32_t b = 0; b < o_.batches; ++b)
      for (uint32_t w = 0; w < o_.words; ++w) positions.push_back(w + (o_.lengths.empty() ? 0 : o_.lengths[b]));
    positions_ = graph_.input(DML_TENSOR_DATA_TYPE_INT64, positions);
  }

  // What a cache holds.
  std::vector<double> drawnCache() {
    std::vector<double> numbers = drawn(size_t{o_.batches} * o_.keyHeads * o_.capacity * o_.channels, 1);
    if (!o_.poisoned) return numbers;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const size_t batch = i / (size_t{o_.keyHeads} * o_.capacity * o_.channels);
      if (static_cast<double>(i / o_.channels % o_.capacity) >= o_.lengths[batch] + o_.words)
        numbers[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return numbers;
  }

  static DataType typeNamed(std::string_view name) {
    return name == "f16" ? DML_TENSOR_DATA_TYPE_FLOAT16 : DML_TENSOR_DATA_TYPE_FLOAT32;
  }

  std::vector<double> drawn(size_t count, double reach, double mean = 0) {
    if (!o_.filled) return std::vector<double>(1);
    std::vector<double> numbers(count);
    for (double& number : numbers) number = mean + (2 * random_.unit() - 1) * reach;
    return numbers;
  }

  GraphSource floats(std::string_view type, const Shape& sizes, double reach, double mean = 0) {
    std::vector<double> numbers = drawn(countOf(sizes), reach, mean);
    if (o_.weights.infinite) {
      for (double& number : numbers) number = std::fabs(number);
      const size_t lastRow = numbers.size() - sizes.back();
      if (lastRow != 0) numbers[lastRow] = std::numeric_limits<double>::infinity();
    }
    return graph_.input(typeNamed(type), numbers);
  }

  // `same`: what all bytes are instead where scales are infinite.
  GraphSource integers(std::string_view type, const Shape& sizes, bool owned, uint32_t same) {
    const size_t count = countOf(sizes);
    std::vector<std::byte> bytes(o_.filled ? (type[1] == '4' ? (count + 1) / 2 : count) : 4);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(o_.weights.infinite ? same : random_.below(256));
    return graph_.input(std::move(bytes), owned);
  }

  GraphSource cast(const GraphSource& x, const Shape& sizes, std::string_view from, std::string_view to) {
    return graph_.node(cat("CAST InputTensor=", from, listed(sizes), " OutputTensor=", to, listed(sizes)), {x});
  }

  GraphSource binary(const char* op, const GraphSource& a, const GraphSource& b, const Shape& sizes,
                     const std::string& strides = "") {
    const std::string tensor = cat(o_.type, listed(sizes));
    return graph_.node(cat(op, " ATensor=", tensor, " BTensor=", tensor, strides, " OutputTensor=", tensor), {a, b});
  }
  GraphSource sum(const GraphSource& a, const GraphSource& b) {
    return binary("ELEMENT_WISE_ADD", a, b, {o_.batches, o_.words, o_.width});
  }

  // By the root of the mean square; in FLOAT32 between CASTs, or as it is.
  GraphSource normalization(GraphSource x, bool casts) {
    const Shape sizes{o_.batches, o_.words, o_.width};
    casts &= o_.type == "f16";
    const std::string type = casts ? "f32" : o_.type;
    if (casts) x = cast(x, sizes, o_.type, type);
    const std::string tensor = cat(type, listed(sizes));
    x = graph_.node(cat("MEAN_VARIANCE_NORMALIZATION2 InputTensor=", tensor, " ScaleTensor=", type, "[1,1,", o_.width,
                        "] OutputTensor=", tensor, " Axes=[2] UseMean=0 UseVariance=1 Epsilon=0.00001"),
                    {x, floats(type, {o_.width}, 0.2, 1)});
    return casts ? cast(x, sizes, type, o_.type) : x;
  }

  // The provider's nodes: halves are exchanged, one of them with the other sign.
  GraphSource rotated(const GraphSource& given, uint32_t heads) {
    const uint32_t half = o_.channels / 2;
    const Shape row{o_.batches, o_.words, heads * o_.channels};
    const auto five = [&](uint32_t pair) {
      return o_.interleaved ? Shape{o_.batches, o_.words, heads, half, pair}
                            : Shape{o_.batches, o_.words, heads, pair, half};
    };
    const std::string whole = cat(o_.type, listed(five(2))), part = cat(o_.type, listed(five(1)));
    const char* axis = o_.interleaved ? " Axis=4" : " Axis=3";
    const std::string ofRow = cat(o_.type, listed(row));
    const GraphSource x =
        graph_.node(cat("ELEMENT_WISE_IDENTITY InputTensor=", ofRow, " OutputTensor=", ofRow), {given});
    const GraphSource first =
        graph_.node(cat("SPLIT InputTensor=", whole, " OutputTensors=(", part, ",", part, ")", axis), {x});
    GraphSource second = first;
    second.output = 1;
    const GraphSource joined =
        graph_.node(cat("JOIN InputTensors=(", part, ",", part, ") OutputTensor=", whole, axis), {second, first});
    const GraphSource signs =
        graph_.node(cat("FILL_VALUE_SEQUENCE OutputTensor=", o_.type,
                        "[2] ValueDataType=", o_.type == "f16" ? "FLOAT16" : "FLOAT32", " ValueStart=-1 ValueDelta=2"),
                    {});
    const uint32_t row5 = o_.words * half;
    const std::string ofTurns =
        o_.interleaved ? listed({row5, half, 0, 1, 0}, "{}") : listed({row5, half, 0, 0, 1}, "{}");
    const GraphSource turned =
        binary("ELEMENT_WISE_MULTIPLY", joined, signs, five(2), o_.interleaved ? "{0,0,0,0,1}" : "{0,0,0,1,0}");
    const GraphSource straight = binary("ELEMENT_WISE_MULTIPLY", x, turns(0), five(2), ofTurns);
    return binary("ELEMENT_WISE_ADD", straight, binary("ELEMENT_WISE_MULTIPLY", turned, turns(1), five(2), ofTurns),
                  five(2));
  }

  // Cosines (0) or sines (1) of the words' positions.
  GraphSource turns(size_t which) {
    const uint32_t half = o_.channels / 2;
    if (!tables_[which]) tables_[which] = table(which);
    return graph_.node(cat("GATHER InputTensor=", o_.type, listed({1, 1, o_.capacity, half}), " IndicesTensor=i64",
                           listed({1, 1, o_.batches, o_.words}), " OutputTensor=", o_.type,
                           listed({1, o_.batches, o_.words, half}), " Axis=2 IndexDimensions=2"),
                       {*tables_[which], positions_});
  }

  GraphSource table(size_t which) {
    const uint32_t half = o_.channels / 2;
    std::vector<double> table;
    for (uint32_t p = 0; p < o_.capacity; ++p)
      for (uint32_t c = 0; c < half; ++c) {
        const double angle = p * std::pow(10000.0, -static_cast<double>(c) / half);
        table.push_back(which == 0 ? std::cos(angle) : std::sin(angle));
      }
    return graph_.input(typeNamed(o_.type), table);
  }

  GraphSource attention(const GraphSource& x, std::vector<std::pair<GraphSource, std::vector<std::byte>>>& caches) {
    const bool casts = o_.type == "f16";
    const std::string type = casts ? "f32" : o_.type;
    const uint32_t rows[] = {o_.heads * o_.channels, o_.keyHeads * o_.channels, o_.keyHeads * o_.channels};
    std::vector<GraphSource> inputs(12);
    std::string tensors[3];
    for (uint32_t i = 0; i < 3; ++i) {
      const Shape sizes{o_.batches, o_.words, rows[i]};
      inputs[i] = product(x, o_.width, rows[i]);
      if (i < 2) inputs[i] = rotated(inputs[i], i == 0 ? o_.heads : o_.keyHeads);
      if (casts) inputs[i] = cast(inputs[i], sizes, o_.type, type);
      tensors[i] = cat(type, listed(sizes));
    }
    inputs[11] = lengths_;
    const Shape cache{o_.batches, o_.keyHeads, o_.capacity, o_.channels};
    const std::string ofCache = cat(type, listed(cache));
    const GraphSource made = graph_.node(
        cat("MULTIHEAD_ATTENTION1 QueryTensor=", tensors[0], " KeyTensor=", tensors[1], " ValueTensor=", tensors[2],
            " PastSequenceLengthsTensor=i32[", o_.batches, "] OutputTensor=", tensors[0], " OutputPresentKeyTensor=",
            ofCache, " OutputPresentValueTensor=", ofCache, " Scale=", 1 / std::sqrt(static_cast<float>(o_.channels)),
            " MaskFilterValue=-10000 QueryHeadCount=", o_.heads, " KeyValueHeadCount=", o_.keyHeads, " MaskType=NONE"),
        inputs);
    const auto outputOf = [&](uint32_t o, const Shape& sizes) {
      GraphSource output = made;
      output.output = o;
      return casts ? cast(output, sizes, type, o_.type) : output;
    };
    const GraphSource attended = outputOf(0, {o_.batches, o_.words, rows[0]});
    for (uint32_t o = 1; o < 3; ++o)
      caches.emplace_back(outputOf(o, cache), bytesOfNumbers(typeNamed(o_.type), drawnCache()));
    return attended;
  }

  // SiLU of one product times another one.
  GraphSource inner(const GraphSource& x) {
    const Shape sizes{o_.batches, o_.words, o_.inner};
    const std::string tensor = cat(o_.type, listed(sizes));
    const GraphSource gate = product(x, o_.width, o_.inner), up = product(x, o_.width, o_.inner);
    const GraphSource sigmoid =
        graph_.node(cat("ACTIVATION_SIGMOID InputTensor=", tensor, " OutputTensor=", tensor), {gate});
    const GraphSource silu = binary("ELEMENT_WISE_MULTIPLY", gate, sigmoid, sizes);
    return product(binary("ELEMENT_WISE_MULTIPLY", silu, up, sizes), o_.inner, o_.width);
  }

  DecoderOptions o_;
  GraphOfLines graph_;
  Random random_{1};
  GraphSource lengths_, positions_;
  std::array<std::optional<GraphSource>, 2> tables_;  // of cosines and sines, which all layers read
};

}  // namespace

TestGraph decoder(const DecoderOptions& options) { return Decoder(options).layers(); }

TestGraph rotaryEmbeddings(const DecoderOptions& options) { return Decoder(options).rotations(); }

TestGraph productOfIntegers(const DecoderOptions& options, uint32_t columns, uint32_t depth, bool casts) {
  return Decoder(options).productAlone(columns, depth, casts);
}

TestGraph productOfNormalized(const DecoderOptions& options, uint32_t columns, uint32_t depth, bool hasFactor) {
  return Decoder(options).productOfRows(columns, depth, hasFactor);
}

}  // namespace dimple::testing
