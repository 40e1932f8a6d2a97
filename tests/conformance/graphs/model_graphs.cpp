#include "tests/conformance/graphs/model_graphs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/random.h"

namespace dimple::testing {
namespace {

// What a node makes, and its sizes.
struct Made {
  GraphSource source;
  std::vector<uint32_t> sizes;
};

std::string list(std::initializer_list<uint32_t> values) {
  std::string out = "[";
  for (const uint32_t value : values) out += cat(out.size() == 1 ? "" : ",", value);
  return out + "]";
}

class Model {
 public:
  explicit Model(bool filled, DataType type = DML_TENSOR_DATA_TYPE_FLOAT32) : filled_(filled), type_(type) {}

  std::string tensor(const std::vector<uint32_t>& sizes) const {
    std::string out = type_ == DML_TENSOR_DATA_TYPE_FLOAT16 ? "f16[" : "f32[";
    for (const uint32_t size : sizes) out += cat(out.back() == '[' ? "" : ",", size);
    return out + "]";
  }

  Made input(const std::vector<uint32_t>& sizes) {
    size_t elements = 1;
    for (const uint32_t size : sizes) elements *= size;
    return {addInput(elements, {-1, 1}, false), sizes};
  }

  // The node's first inputs are given, the others are weights that are inputs of the graph.
  std::vector<Made> add(const std::string& line, std::initializer_list<Made> given) {
    auto test = parseTestCase(line);
    if (!test) {
      std::fprintf(stderr, "%s: %s\n", line.c_str(), test.error().text.c_str());
      std::abort();
    }
    TestGraph::Node node;
    node.name = cat("node", graph_.nodes.size());
    for (const Made& made : given) node.inputs.push_back(made.source);
    for (size_t i = node.inputs.size(); i < test->inputs.size(); ++i) {
      const DML_BUFFER_TENSOR_DESC* tensor = test->inputs[i];
      node.inputs.push_back(tensor
                                ? addInput(tensor->TotalTensorSizeInBytes / byteWidth(type_), rangeOf(*test, i), true)
                                : GraphSource{});
    }
    std::vector<Made> made;
    for (uint32_t o = 0; o < test->outputs.size(); ++o)
      made.push_back({{GraphSource::Kind::Node, static_cast<uint32_t>(graph_.nodes.size()), o},
                      {test->outputs[o]->Sizes, test->outputs[o]->Sizes + test->outputs[o]->DimensionCount}});
    node.test = std::move(*test);
    graph_.places.push_back(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
    return made;
  }
  Made one(const std::string& line, std::initializer_list<Made> given) { return add(line, given).front(); }

  // Integers owned by DML.
  Made owned(std::string_view type, const std::vector<uint32_t>& sizes) {
    const bool bytes = type == "i8";
    size_t size = bytes ? 1 : 4;
    for (const uint32_t count : sizes) size *= count;
    return {addIntegers((size + 3) / 4 * 4, bytes ? DML_TENSOR_DATA_TYPE_INT8 : DML_TENSOR_DATA_TYPE_INT32), sizes};
  }

  // A constant node of one element.
  Made number(double value) {
    const uint32_t bits =
        type_ == DML_TENSOR_DATA_TYPE_FLOAT16 ? halfBits(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
    TestGraph::Node node;
    node.constant.resize(byteWidth(type_));
    std::memcpy(node.constant.data(), &bits, node.constant.size());
    return addConstant(std::move(node));
  }
  // The same of one byte.
  Made byte(uint8_t value) {
    TestGraph::Node node;
    node.constant = {std::byte{value}};
    return addConstant(std::move(node));
  }

  TestGraph finish(const Made& output) {
    graph_.outputs.push_back(output.source);
    return std::move(graph_);
  }

 private:
  Made addConstant(TestGraph::Node node) {
    const GraphSource source{GraphSource::Kind::Node, static_cast<uint32_t>(graph_.nodes.size()), 0};
    graph_.places.push_back(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
    return {source, {1}};
  }

  struct Range {
    double low, high;
  };

  // Such that results stay about as large as what they are made of.
  static Range rangeOf(const TestCase& test, size_t input) {
    const DML_BUFFER_TENSOR_DESC& tensor = *test.inputs[input];
    if (test.type() == DML_OPERATOR_CONVOLUTION && input == 1)
      return around(tensor.Sizes[1] * tensor.Sizes[2] * tensor.Sizes[3]);
    if (test.type() == DML_OPERATOR_GEMM && input == 1) return around(tensor.Sizes[2]);
    if (test.type() == DML_OPERATOR_BATCH_NORMALIZATION && input == 2) return {0.5, 1.5};
    if (test.type() == DML_OPERATOR_BATCH_NORMALIZATION && input == 3) return {0.8, 1.2};
    return {-0.1, 0.1};
  }
  static Range around(uint32_t terms) { return {-std::sqrt(6.0 / terms), std::sqrt(6.0 / terms)}; }

  GraphSource addInput(size_t elements, Range range, bool owned) {
    TestGraph::Input input{{}, owned};
    if (filled_) {
      const uint32_t width = byteWidth(type_);
      input.bytes.resize(elements * width);
      for (size_t i = 0; i < elements; ++i) {
        const double value = range.low + (range.high - range.low) * random_.unit();
        const uint32_t bits = width == 2 ? halfBits(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
        std::memcpy(&input.bytes[i * width], &bits, width);
      }
    }
    graph_.inputs.push_back(std::move(input));
    return {GraphSource::Kind::GraphInput, static_cast<uint32_t>(graph_.inputs.size() - 1), 0};
  }

  // Owned by DML: all bytes, or numbers of up to three digits.
  GraphSource addIntegers(size_t bytes, DataType type) {
    TestGraph::Input input{{}, true};
    if (filled_) {
      input.bytes.resize(bytes);
      const uint32_t width = byteWidth(type);
      for (size_t i = 0; i + width <= bytes; i += width) {
        const auto value = static_cast<int32_t>(width == 1 ? random_.range(-128, 127) : random_.range(-999, 999));
        std::memcpy(&input.bytes[i], &value, width);
      }
    }
    graph_.inputs.push_back(std::move(input));
    return {GraphSource::Kind::GraphInput, static_cast<uint32_t>(graph_.inputs.size() - 1), 0};
  }

  const bool filled_;
  const DataType type_;
  Random random_{1};
  TestGraph graph_;
};

uint32_t windows(uint32_t size, uint32_t window, uint32_t stride, uint32_t padding) {
  return (size + 2 * padding - window) / stride + 1;
}

Made convolution(Model& model, const Made& x, uint32_t channels, uint32_t window, uint32_t stride, uint32_t padding,
                 bool bias) {
  const std::vector<uint32_t> sizes{1, channels, windows(x.sizes[2], window, stride, padding),
                                    windows(x.sizes[3], window, stride, padding)};
  return model.one(cat("CONVOLUTION InputTensor=", model.tensor(x.sizes),
                       " FilterTensor=", model.tensor({channels, x.sizes[1], window, window}), "!",
                       bias ? cat(" BiasTensor=", model.tensor({1, channels, 1, 1}), "!") : std::string(),
                       " OutputTensor=", model.tensor(sizes), " Mode=CROSS_CORRELATION Strides=",
                       list({stride, stride}), " Dilations=[1,1] StartPadding=", list({padding, padding}),
                       " EndPadding=", list({padding, padding}), " OutputPadding=[0,0] GroupCount=1"),
                   {x});
}

Made unary(Model& model, std::string_view name, const Made& x) {
  return model.one(cat(name, " InputTensor=", model.tensor(x.sizes), " OutputTensor=", model.tensor(x.sizes)), {x});
}
Made relu(Model& model, const Made& x) { return unary(model, "ACTIVATION_RELU", x); }

Made normalize(Model& model, const Made& x) {
  const std::string vector = model.tensor({1, x.sizes[1], 1, 1}) + "!";
  return model.one(cat("BATCH_NORMALIZATION InputTensor=", model.tensor(x.sizes), " MeanTensor=", vector,
                       " VarianceTensor=", vector, " ScaleTensor=", vector, " BiasTensor=", vector,
                       " OutputTensor=", model.tensor(x.sizes), " Spatial=1 Epsilon=0.00001"),
                   {x});
}

Made sum(Model& model, const Made& a, const Made& b) {
  const std::string same = model.tensor(a.sizes);
  return model.one(cat("ELEMENT_WISE_ADD ATensor=", same, " BTensor=", same, " OutputTensor=", same), {a, b});
}

Made pool(Model& model, std::string_view name, const Made& x, uint32_t window, uint32_t stride, uint32_t padding,
          std::string_view more) {
  const std::vector<uint32_t> sizes{1, x.sizes[1], windows(x.sizes[2], window, stride, padding),
                                    windows(x.sizes[3], window, stride, padding)};
  return model.one(cat(name, " InputTensor=", model.tensor(x.sizes), " OutputTensor=", model.tensor(sizes),
                       " Strides=", list({stride, stride}), " WindowSize=", list({window, window}),
                       " StartPadding=", list({padding, padding}), " EndPadding=", list({padding, padding}), more),
                   {x});
}
Made maxPool(Model& model, const Made& x, uint32_t padding) { return pool(model, "MAX_POOLING", x, 3, 2, padding, ""); }
// Of all places.
Made average(Model& model, const Made& x) {
  return pool(model, "AVERAGE_POOLING", x, x.sizes[2], 1, 0, " IncludePadding=0");
}

// x times weights, and a bias for each column.
Made dense(Model& model, const Made& x, uint32_t columns) {
  const std::vector<uint32_t> sizes{1, 1, x.sizes[2], columns};
  const Made product =
      model.one(cat("GEMM ATensor=", model.tensor(x.sizes), " BTensor=", model.tensor({1, 1, x.sizes[3], columns}),
                    "! OutputTensor=", model.tensor(sizes), " TransA=NONE TransB=NONE Alpha=1 Beta=0"),
                {x});
  return model.one(cat("ELEMENT_WISE_ADD ATensor=", model.tensor(sizes), " BTensor=", model.tensor(sizes),
                       "{0,0,0,1}! OutputTensor=", model.tensor(sizes)),
                   {product});
}

Made fire(Model& model, const Made& x, uint32_t squeezed, uint32_t expanded) {
  const Made narrow = relu(model, convolution(model, x, squeezed, 1, 1, 0, true));
  const Made points = relu(model, convolution(model, narrow, expanded, 1, 1, 0, true));
  const Made squares = relu(model, convolution(model, narrow, expanded, 3, 1, 1, true));
  std::vector<uint32_t> sizes = points.sizes;
  sizes[1] *= 2;
  const std::string part = model.tensor(points.sizes);
  return model.one(cat("JOIN InputTensors=(", part, ",", part, ") OutputTensor=", model.tensor(sizes), " Axis=1"),
                   {points, squares});
}

Made layerNormalize(Model& model, const Made& x) {
  const std::string vector = model.tensor({1, 1, 1, x.sizes[3]}) + "!";
  return model.one(cat("MEAN_VARIANCE_NORMALIZATION1 InputTensor=", model.tensor(x.sizes), " ScaleTensor=", vector,
                       " BiasTensor=", vector, " OutputTensor=", model.tensor(x.sizes),
                       " Axes=[3] NormalizeVariance=1 Epsilon=0.00001"),
                   {x});
}

// Rows of all heads, {1, 1, tokens, width}, as {1, heads, tokens, width / heads}.
Made splitHeads(Model& model, const Made& x, uint32_t heads) {
  const uint32_t tokens = x.sizes[2], width = x.sizes[3], size = width / heads;
  const std::string sizes = model.tensor({1, heads, tokens, size});
  return model.one(cat("ELEMENT_WISE_IDENTITY InputTensor=", sizes, "{", tokens * width, ",", size, ",", width,
                       ",1} OutputTensor=", sizes),
                   {x});
}

Made joinHeads(Model& model, const Made& x) {
  const uint32_t heads = x.sizes[1], tokens = x.sizes[2], size = x.sizes[3];
  Made joined = model.one(
      cat("ELEMENT_WISE_IDENTITY InputTensor=", model.tensor({1, tokens, heads, size}), "{", heads * tokens * size, ",",
          size, ",", tokens * size, ",1} OutputTensor=", model.tensor({1, tokens, heads, size})),
      {x});
  joined.sizes = {1, 1, tokens, heads * size};
  return joined;
}

// Of elements and what is broadcast to them.
Made binary(Model& model, std::string_view name, const Made& a, std::string_view stridesOfB,
            std::initializer_list<Made> both) {
  const std::string same = model.tensor(a.sizes);
  return model.one(cat("ELEMENT_WISE_", name, " ATensor=", same, " BTensor=", same, stridesOfB, " OutputTensor=", same),
                   both);
}
constexpr std::string_view kNumber = "{0,0,0,0}";
constexpr std::string_view kVector = "{0,0,0,1}!";  // of the graph's inputs

Made spelledNormalization(Model& model, const Made& x) {
  const auto mean = [&](const Made& of) {
    std::vector<uint32_t> sizes = x.sizes;
    sizes[3] = 1;
    return model.one(cat("REDUCE Function=AVERAGE InputTensor=", model.tensor(x.sizes),
                         " OutputTensor=", model.tensor(sizes), " Axes=[3]"),
                     {of});
  };
  const std::string ofRows = cat("{", x.sizes[2], ",", x.sizes[2], ",1,0}");
  const std::string same = model.tensor(x.sizes);
  const Made centred = binary(model, "SUBTRACT", x, ofRows, {x, mean(x)});
  const Made square =
      model.one(cat("ELEMENT_WISE_POW InputTensor=", same, " ExponentTensor=", same, kNumber, " OutputTensor=", same),
                {centred, model.number(2)});
  const Made variance = mean(square);
  const Made root =
      unary(model, "ELEMENT_WISE_SQRT", binary(model, "ADD", variance, kNumber, {variance, model.number(0.0001)}));
  const Made normal = binary(model, "DIVIDE", x, ofRows, {centred, root});
  return binary(model, "ADD", x, kVector, {binary(model, "MULTIPLY", x, kVector, {normal})});
}

Made spelledGelu(Model& model, const Made& x) {
  const Made scaled = binary(model, "DIVIDE", x, kNumber, {x, model.number(std::sqrt(2.0))});
  const Made error = unary(model, "ELEMENT_WISE_ERF", scaled);
  const Made sum1 = binary(model, "ADD", x, kNumber, {error, model.number(1)});
  return binary(model, "MULTIPLY", x, kNumber, {binary(model, "MULTIPLY", x, "", {x, sum1}), model.number(0.5)});
}

// With a number for each key that is added to its scores.
Made spelledAttention(Model& model, const Made& x, uint32_t heads) {
  const uint32_t tokens = x.sizes[2], width = x.sizes[3];
  const Made queries = splitHeads(model, dense(model, x, width), heads),
             keys = splitHeads(model, dense(model, x, width), heads),
             values = splitHeads(model, dense(model, x, width), heads);
  const std::string scores = model.tensor({1, heads, tokens, tokens});
  const Made products =
      model.one(cat("GEMM ATensor=", model.tensor(queries.sizes), " BTensor=", model.tensor(keys.sizes),
                    " OutputTensor=", scores, " TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=0"),
                {queries, keys});
  const Made scaled = binary(model, "DIVIDE", products, kNumber,
                             {products, model.number(std::sqrt(static_cast<double>(width / heads)))});
  const Made weights = model.one(cat("ACTIVATION_SOFTMAX1 InputTensor=", scores, " OutputTensor=", scores, " Axes=[3]"),
                                 {binary(model, "ADD", products, kVector, {scaled})});
  const Made mixed =
      model.one(cat("GEMM ATensor=", scores, " BTensor=", model.tensor(values.sizes),
                    " OutputTensor=", model.tensor(values.sizes), " TransA=NONE TransB=NONE Alpha=1 Beta=0"),
                {weights, values});
  return dense(model, joinHeads(model, mixed), width);
}

Made attention(Model& model, const Made& x, uint32_t heads) {
  const uint32_t tokens = x.sizes[2], width = x.sizes[3], size = width / heads;
  const std::string part = model.tensor(x.sizes);
  const auto parts = model.add(cat("SPLIT InputTensor=", model.tensor({1, 1, tokens, 3 * width}), " OutputTensors=(",
                                   part, ",", part, ",", part, ") Axis=3"),
                               {dense(model, x, 3 * width)});
  const Made queries = splitHeads(model, parts[0], heads), keys = splitHeads(model, parts[1], heads),
             values = splitHeads(model, parts[2], heads);
  const std::string scores = model.tensor({1, heads, tokens, tokens});
  const Made products = model.one(
      cat("GEMM ATensor=", model.tensor(queries.sizes), " BTensor=", model.tensor(keys.sizes), " OutputTensor=", scores,
          " TransA=NONE TransB=TRANSPOSE Alpha=", 1 / std::sqrt(static_cast<double>(size)), " Beta=0"),
      {queries, keys});
  const Made weights =
      model.one(cat("ACTIVATION_SOFTMAX1 InputTensor=", scores, " OutputTensor=", scores, " Axes=[3]"), {products});
  const Made mixed =
      model.one(cat("GEMM ATensor=", scores, " BTensor=", model.tensor(values.sizes),
                    " OutputTensor=", model.tensor(values.sizes), " TransA=NONE TransB=NONE Alpha=1 Beta=0"),
                {weights, values});
  return dense(model, joinHeads(model, mixed), width);
}

// ---- numbers that are quantized, by powers of 2, so that all steps are exact ----

constexpr double kWeightScale = 0x1p-9;

std::string typed(std::string_view type, const std::vector<uint32_t>& sizes, std::string_view more = "") {
  std::string out = cat(type, "[");
  for (const uint32_t size : sizes) out += cat(out.back() == '[' ? "" : ",", size);
  return cat(out, "]", more);
}

Made dequantize(Model& model, const Made& x, double scale) {
  return model.one(cat("ELEMENT_WISE_DEQUANTIZE_LINEAR InputTensor=", typed("u8", x.sizes),
                       " ScaleTensor=", typed("f32", x.sizes, kNumber),
                       " ZeroPointTensor=", typed("u8", x.sizes, kNumber), " OutputTensor=", typed("f32", x.sizes)),
                   {x, model.number(scale), model.byte(128)});
}
// Of weights that DML owns.
Made dequantized(Model& model, std::string_view type, const std::vector<uint32_t>& sizes, double scale) {
  const Made integers = model.owned(type, sizes);
  return model.one(cat("ELEMENT_WISE_DEQUANTIZE_LINEAR InputTensor=", typed(type, sizes, "!"),
                       " ScaleTensor=", typed("f32", sizes, kNumber.substr(0, 2 * sizes.size() + 1)),
                       " OutputTensor=", typed("f32", sizes)),
                   {integers, model.number(scale)});
}
Made quantize(Model& model, const Made& x, double scale) {
  return model.one(cat("ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=", typed("f32", x.sizes),
                       " ScaleTensor=", typed("f32", x.sizes, kNumber),
                       " ZeroPointTensor=", typed("u8", x.sizes, kNumber), " OutputTensor=", typed("u8", x.sizes)),
                   {x, model.number(scale), model.byte(128)});
}

// Quantized numbers of this scale; those of x are.
struct QuantizedMade {
  Made made;
  double scale = 0;
};

QuantizedMade quantizedConvolution(Model& model, const QuantizedMade& x, uint32_t channels, uint32_t window,
                                   uint32_t stride, bool positive) {
  const std::vector<uint32_t>& from = x.made.sizes;
  const uint32_t padding = window / 2;
  const std::vector<uint32_t> filter{channels, from[1], window, window}, bias{1, channels, 1, 1};
  const std::vector<uint32_t> sizes{1, channels, windows(from[2], window, stride, padding),
                                    windows(from[3], window, stride, padding)};
  const Made y = model.one(cat("CONVOLUTION InputTensor=", typed("f32", from), " FilterTensor=", typed("f32", filter),
                               " BiasTensor=", typed("f32", bias), " OutputTensor=", typed("f32", sizes),
                               " Mode=CROSS_CORRELATION Strides=", list({stride, stride}),
                               " Dilations=[1,1] StartPadding=", list({padding, padding}),
                               " EndPadding=", list({padding, padding}), " OutputPadding=[0,0] GroupCount=1"),
                           {dequantize(model, x.made, x.scale), dequantized(model, "i8", filter, kWeightScale),
                            dequantized(model, "i32", bias, x.scale * kWeightScale)});
  const double scale = 0x1p-5;
  return {quantize(model, positive ? relu(model, y) : y, scale), scale};
}

// sin(place * frequency) of each element.
Made positions(Model& model, uint32_t tokens, uint32_t width) {
  const std::string same = model.tensor({1, 1, tokens, width});
  const Made places = model.one(
      cat("FILL_VALUE_SEQUENCE OutputTensor=f32[", tokens, "] ValueDataType=FLOAT32 ValueStart=0 ValueDelta=1"), {});
  const Made frequencies = model.one(
      cat("FILL_VALUE_SEQUENCE OutputTensor=f32[", width, "] ValueDataType=FLOAT32 ValueStart=0 ValueDelta=0.01"), {});
  const Made angles = model.one(
      cat("ELEMENT_WISE_MULTIPLY ATensor=", same, "{0,0,1,0} BTensor=", same, "{0,0,0,1} OutputTensor=", same),
      {places, frequencies});
  return unary(model, "ELEMENT_WISE_SIN", angles);
}

}  // namespace

TestGraph squeezeNet(uint32_t image, uint32_t divisor, bool filled) {
  Model model(filled);
  const auto channels = [&](uint32_t all) { return all / divisor; };
  Made x = relu(model, convolution(model, model.input({1, 3, image, image}), channels(64), 3, 2, 0, true));
  x = maxPool(model, x, 0);
  for (const uint32_t squeezed : {16u, 16u}) x = fire(model, x, channels(squeezed), channels(4 * squeezed));
  x = maxPool(model, x, 0);
  for (const uint32_t squeezed : {32u, 32u}) x = fire(model, x, channels(squeezed), channels(4 * squeezed));
  x = maxPool(model, x, 0);
  for (const uint32_t squeezed : {48u, 48u, 64u, 64u}) x = fire(model, x, channels(squeezed), channels(4 * squeezed));
  x = average(model, relu(model, convolution(model, x, channels(1000), 1, 1, 0, true)));
  const std::string flat = model.tensor({1, 1, 1, x.sizes[1]});
  return model.finish(model.one(cat("ACTIVATION_SOFTMAX InputTensor=", flat, " OutputTensor=", flat), {x}));
}

constexpr uint32_t kResNetBlocks[] = {3, 4, 6, 3};  // of each stage

TestGraph resNet50(uint32_t image, uint32_t divisor, uint32_t blocks, bool filled, DataType type) {
  Model model(filled, type);
  const auto normalized = [&](const Made& x, uint32_t channels, uint32_t window, uint32_t stride, uint32_t padding) {
    return normalize(model, convolution(model, x, channels, window, stride, padding, false));
  };
  Made x = relu(model, normalized(model.input({1, 3, image, image}), 64 / divisor, 7, 2, 3));
  x = maxPool(model, x, 1);
  for (uint32_t stage = 0; stage < 4; ++stage)
    for (uint32_t block = 0; block < std::min(blocks, kResNetBlocks[stage]); ++block) {
      const uint32_t channels = (64u << stage) / divisor;
      const uint32_t stride = stage != 0 && block == 0 ? 2 : 1;
      Made y = relu(model, normalized(x, channels, 1, 1, 0));
      y = relu(model, normalized(y, channels, 3, stride, 1));
      y = normalized(y, 4 * channels, 1, 1, 0);
      const Made shortcut = block == 0 ? normalized(x, 4 * channels, 1, stride, 0) : x;
      x = relu(model, sum(model, y, shortcut));
    }
  x = average(model, x);
  x.sizes = {1, 1, 1, x.sizes[1]};
  return model.finish(dense(model, x, 1000 / divisor));
}

TestGraph quantizedResNet50(uint32_t image, uint32_t divisor, uint32_t blocks, bool filled) {
  Model model(filled);
  QuantizedMade x{quantize(model, model.input({1, 3, image, image}), 0x1p-7), 0x1p-7};
  x = quantizedConvolution(model, x, 64 / divisor, 7, 2, true);
  x.made = quantize(model, maxPool(model, dequantize(model, x.made, x.scale), 1), x.scale);
  for (uint32_t stage = 0; stage < 4; ++stage)
    for (uint32_t block = 0; block < std::min(blocks, kResNetBlocks[stage]); ++block) {
      const uint32_t channels = (64u << stage) / divisor;
      const uint32_t stride = stage != 0 && block == 0 ? 2 : 1;
      QuantizedMade y = quantizedConvolution(model, x, channels, 1, 1, true);
      y = quantizedConvolution(model, y, channels, 3, stride, true);
      y = quantizedConvolution(model, y, 4 * channels, 1, 1, false);
      const QuantizedMade shortcut = block == 0 ? quantizedConvolution(model, x, 4 * channels, 1, stride, false) : x;
      const Made both =
          sum(model, dequantize(model, y.made, y.scale), dequantize(model, shortcut.made, shortcut.scale));
      x.made = quantize(model, relu(model, both), x.scale = 0x1p-4);
    }
  x.made = quantize(model, average(model, dequantize(model, x.made, x.scale)), 0x1p-6);
  const std::vector<uint32_t> row{1, 1, 1, x.made.sizes[1]}, weights{1, 1, x.made.sizes[1], 1000 / divisor};
  x.made.sizes = row;
  return model.finish(
      model.one(cat("GEMM ATensor=", typed("f32", row), " BTensor=", typed("f32", weights),
                    " OutputTensor=", typed("f32", {1, 1, 1, weights[3]}), " TransA=NONE TransB=NONE Alpha=1 Beta=0"),
                {dequantize(model, x.made, 0x1p-6), dequantized(model, "i8", weights, kWeightScale)}));
}

TestGraph transformer(uint32_t layers, uint32_t tokens, uint32_t width, uint32_t heads, bool filled) {
  Model model(filled);
  Made x = sum(model, model.input({1, 1, tokens, width}), positions(model, tokens, width));
  for (uint32_t layer = 0; layer < layers; ++layer) {
    x = layerNormalize(model, sum(model, attention(model, x, heads), x));
    const Made wide = unary(model, "ACTIVATION_GELU", dense(model, x, 4 * width));
    x = layerNormalize(model, sum(model, dense(model, wide, width), x));
  }
  return model.finish(x);
}

TestGraph spelledEncoder(uint32_t tokens, uint32_t width, uint32_t heads, DataType type) {
  Model model(true, type);
  const Made x = model.input({1, 1, tokens, width});
  const Made attended = spelledNormalization(model, sum(model, spelledAttention(model, x, heads), x));
  const Made wide = spelledGelu(model, dense(model, attended, 4 * width));
  return model.finish(spelledNormalization(model, sum(model, dense(model, wide, width), attended)));
}

}  // namespace dimple::testing
