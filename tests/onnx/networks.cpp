#include "tests/onnx/networks.h"

#include <cmath>

#include "clients/onnx/text.h"

namespace dimple::testing {
namespace {

using onnx::cat;
using onnx::HostTensor;
using onnx::Type;

// Adds layers, which are named by numbers, and their weights.
class Layers {
 public:
  Layers(ModelMaker& model, Type type) : model_(model), type_(type) {}

  std::string op(const std::string& type, const std::vector<std::string>& inputs) {
    last_ = &model_.node(type, inputs, {cat("v", ++count_)});
    last_->set_name(cat(type, "_", count_));
    return cat("v", count_);
  }
  ::onnx::NodeProto& last() { return *last_; }

  std::string constant(const HostTensor& tensor) {
    model_.initializer(cat("c", ++count_), tensor);
    return cat("c", count_);
  }
  std::string numbers(const std::vector<int64_t>& values) { return constant(integers(values)); }
  std::string scalar(double value) { return constant(onnx::scalarTensor(type_, value)); }
  // Numbers around `mean` that keep sums over `fanIn` of them near 1.
  std::string weights(const onnx::Sizes& sizes, int64_t fanIn, float mean = 0) {
    HostTensor tensor(type_, sizes);
    const float reach = std::sqrt(6.0f / static_cast<float>(fanIn));
    for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      tensor.setReal(i, mean + reach * (static_cast<float>(state_ >> 40) / 8388608.0f - 1));
    }
    return constant(tensor);
  }

  std::string conv(const std::string& x, int64_t from, int64_t to, int64_t kernel, int64_t stride, int64_t pad,
                   int64_t group = 1, bool bias = false) {
    std::vector<std::string> inputs = {x, weights({to, from / group, kernel, kernel}, from / group * kernel * kernel)};
    if (bias) inputs.push_back(weights({to}, 600));
    const std::string y = op("Conv", inputs);
    setAttribute(last(), "kernel_shape", {kernel, kernel});
    setAttribute(last(), "strides", {stride, stride});
    setAttribute(last(), "pads", {pad, pad, pad, pad});
    setAttribute(last(), "group", group);
    return y;
  }
  std::string batchNorm(const std::string& x, int64_t channels) {
    const std::string scale = weights({channels}, 60, 1), bias = weights({channels}, 600);
    const std::string mean = weights({channels}, 600), variance = weights({channels}, 60, 1);
    return op("BatchNormalization", {x, scale, bias, mean, variance});
  }
  std::string maxPool(const std::string& x, int64_t pad, bool ceil) {
    const std::string y = op("MaxPool", {x});
    setAttribute(last(), "kernel_shape", {3, 3});
    setAttribute(last(), "strides", {2, 2});
    setAttribute(last(), "pads", {pad, pad, pad, pad});
    if (ceil) setAttribute(last(), "ceil_mode", 1);
    return y;
  }

  // Quantized to UINT8 around 128, and dequantized.
  std::string byBytes(const std::string& x, double scale) {
    const std::string step = scalar(scale), zero = constant(onnx::scalarTensor(Type::UInt8, 128));
    return op("DequantizeLinear", {op("QuantizeLinear", {x, step, zero}), step, zero});
  }
  // Weights of INT8, with a scale for each place along an axis.
  std::string byteWeights(const onnx::Sizes& sizes, int64_t axis) {
    HostTensor integers(Type::Int8, sizes);
    for (size_t i = 0; i < static_cast<size_t>(integers.elements()); ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      integers.setInteger(i, static_cast<int64_t>(state_ >> 56) - 128);
    }
    HostTensor scales(type_, {sizes[static_cast<size_t>(axis)]}), zeros(Type::Int8, scales.sizes);
    for (size_t i = 0; i < static_cast<size_t>(scales.elements()); ++i) scales.setReal(i, i % 3 ? 0x1p-9 : 0x1p-10);
    const std::string y = op("DequantizeLinear", {constant(integers), constant(scales), constant(zeros)});
    setAttribute(last(), "axis", axis);
    return y;
  }
  std::string byteConv(const std::string& x, int64_t from, int64_t to, int64_t kernel, int64_t stride,
                       int64_t group = 1) {
    HostTensor bias(type_, {to});
    for (size_t i = 0; i < static_cast<size_t>(to); ++i) bias.setReal(i, static_cast<double>(i % 9) / 8 - 0.5);
    const std::string y = op("Conv", {x, byteWeights({to, from / group, kernel, kernel}, 0), constant(bias)});
    setAttribute(last(), "kernel_shape", {kernel, kernel});
    setAttribute(last(), "strides", {stride, stride});
    setAttribute(last(), "pads", {kernel / 2, kernel / 2, kernel / 2, kernel / 2});
    setAttribute(last(), "group", group);
    return y;
  }

 private:
  ModelMaker& model_;
  const Type type_;
  ::onnx::NodeProto* last_ = nullptr;
  int count_ = 0;
  uint64_t state_ = 1;
};

HostTensor pictures(const NetworkOptions& options) {
  HostTensor tensor(options.type, {options.batch, 3, options.size, options.size});
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i)
    tensor.setReal(i, std::sin(static_cast<float>(i) * 0.01f) + 0.3f * std::cos(static_cast<float>(i % 977)));
  return tensor;
}

Network picturesNetwork(const NetworkOptions& options) {
  Network network{ModelMaker(13), {}};
  const HostTensor image = pictures(options);
  network.model.input("image", image.type, image.sizes);
  network.inputs["image"] = image;
  return network;
}

void finish(Network& network, const std::string& result) {
  network.model.node("Identity", {result}, {"result"}).set_name("result");
  network.model.output("result");
}

}  // namespace

Network squeezeNet(const NetworkOptions& options) {
  Network network = picturesNetwork(options);
  Layers layers(network.model, options.type);
  const auto narrow = [&](int64_t channels) { return std::max<int64_t>(channels / options.divisor, 4); };
  const auto relu = [&](const std::string& x) { return layers.op("Relu", {x}); };
  std::string x = layers.maxPool(relu(layers.conv("image", 3, narrow(64), 3, 2, 0, 1, true)), 0, true);
  int64_t channels = narrow(64);
  const auto fire = [&](int64_t squeeze, int64_t expand) {
    const std::string s = relu(layers.conv(x, channels, narrow(squeeze), 1, 1, 0, 1, true));
    const std::string a = relu(layers.conv(s, narrow(squeeze), narrow(expand), 1, 1, 0, 1, true));
    const std::string b = relu(layers.conv(s, narrow(squeeze), narrow(expand), 3, 1, 1, 1, true));
    x = layers.op("Concat", {a, b});
    setAttribute(layers.last(), "axis", 1);
    channels = 2 * narrow(expand);
  };
  fire(16, 64);
  fire(16, 64);
  x = layers.maxPool(x, 0, true);
  fire(32, 128);
  fire(32, 128);
  x = layers.maxPool(x, 0, true);
  for (const auto& [squeeze, expand] : {std::pair{48, 192}, {48, 192}, {64, 256}, {64, 256}}) fire(squeeze, expand);
  x = layers.op("Dropout", {x});
  x = relu(layers.conv(x, channels, narrow(1000), 1, 1, 0, 1, true));
  x = layers.op("Flatten", {layers.op("GlobalAveragePool", {x})});
  finish(network, layers.op("Softmax", {x}));
  return network;
}

Network mobileNet(const NetworkOptions& options) {
  Network network = picturesNetwork(options);
  Layers layers(network.model, options.type);
  const auto narrow = [&](int64_t channels) { return std::max<int64_t>(channels / options.divisor, 4); };
  const std::string zero = layers.scalar(0);
  const std::string six = layers.scalar(6);
  const auto block = [&](const std::string& x, int64_t from, int64_t to, int64_t kernel, int64_t stride,
                         int64_t group) {
    const std::string y = layers.batchNorm(layers.conv(x, from, to, kernel, stride, kernel / 2, group), to);
    return layers.op("Clip", {y, zero, six});
  };
  int64_t channels = narrow(32);
  std::string x = block("image", 3, channels, 3, 2, 1);
  struct Stage {
    int64_t expansion, channels, count, stride;
  };
  for (const Stage& stage :
       {Stage{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}})
    for (int64_t i = 0; i < stage.count; ++i) {
      const int64_t inner = channels * stage.expansion;
      const int64_t to = narrow(stage.channels);
      const int64_t stride = i == 0 ? stage.stride : 1;
      std::string y = stage.expansion == 1 ? x : block(x, channels, inner, 1, 1, 1);
      y = block(y, inner, inner, 3, stride, inner);
      y = layers.batchNorm(layers.conv(y, inner, to, 1, 1, 0), to);
      x = stride == 1 && channels == to ? layers.op("Add", {x, y}) : y;
      channels = to;
    }
  x = block(x, channels, narrow(1280), 1, 1, 1);
  x = layers.op("Flatten", {layers.op("GlobalAveragePool", {x})});
  const std::string w = layers.weights({narrow(1000), narrow(1280)}, 6 * narrow(1280));
  x = layers.op("Gemm", {x, w, layers.weights({narrow(1000)}, 600)});
  setAttribute(layers.last(), "transB", 1);
  finish(network, x);
  return network;
}

Network resNet(const NetworkOptions& options) {
  Network network = picturesNetwork(options);
  Layers layers(network.model, options.type);
  const auto narrow = [&](int64_t channels) { return std::max<int64_t>(channels / options.divisor, 4); };
  const auto block = [&](const std::string& x, int64_t from, int64_t to, int64_t kernel, int64_t stride) {
    return layers.batchNorm(layers.conv(x, from, to, kernel, stride, kernel / 2), to);
  };
  int64_t channels = narrow(64);
  std::string x = layers.op("Relu", {block("image", 3, channels, 7, 2)});
  x = layers.maxPool(x, 1, false);
  int64_t width = narrow(64);
  int64_t stride = 1;
  for (const int count : {3, 4, 6, 3}) {
    for (int i = 0; i < count; ++i) {
      const int64_t step = i == 0 ? stride : 1;
      std::string y = layers.op("Relu", {block(x, channels, width, 1, 1)});
      y = layers.op("Relu", {block(y, width, width, 3, step)});
      y = block(y, width, 4 * width, 1, 1);
      const std::string shortcut = i == 0 ? block(x, channels, 4 * width, 1, step) : x;
      // Smaller branches keep numbers from growing.
      const std::string half = layers.scalar(0.25);
      x = layers.op("Relu", {layers.op("Add", {layers.op("Mul", {y, half}), shortcut})});
      channels = 4 * width;
    }
    width *= 2;
    stride = 2;
  }
  x = layers.op("Flatten", {layers.op("GlobalAveragePool", {x})});
  const std::string w = layers.weights({narrow(1000), channels}, 6 * channels);
  x = layers.op("Gemm", {x, w, layers.weights({narrow(1000)}, 600)});
  setAttribute(layers.last(), "transB", 1);
  finish(network, x);
  return network;
}

Network transformer(const NetworkOptions& options) {
  const int64_t width = 256 / options.divisor;
  const int64_t heads = 4;
  const int64_t words = options.size;
  Network network{ModelMaker(17), {}};
  network.model.input("ids", Type::Int64, {-1, words});
  network.model.input("mask", Type::Int64, {-1, words});
  HostTensor ids(Type::Int64, {2 * options.batch, words});
  HostTensor mask = ids;
  for (int64_t i = 0; i < ids.elements(); ++i) {
    ids.setInteger(static_cast<size_t>(i), i * 37 % 100);
    mask.setInteger(static_cast<size_t>(i), i / words % 2 == 0 || i % words < words * 2 / 3);
  }
  network.inputs = {{"ids", ids}, {"mask", mask}};

  Layers layers(network.model, options.type);
  const std::string first = layers.numbers({0});
  // The sizes of a tensor as PyTorch's exporter reads them.
  const auto size = [&](const std::string& x, int64_t axis) {
    const std::string index = layers.constant(onnx::scalarTensor(Type::Int64, static_cast<double>(axis)));
    return layers.op("Unsqueeze", {layers.op("Gather", {layers.op("Shape", {x}), index}), first});
  };
  const auto sizes = [&](const std::vector<std::string>& parts) {
    const std::string y = layers.op("Concat", parts);
    setAttribute(layers.last(), "axis", 0);
    return y;
  };
  const auto permuted = [&](const std::string& x, const std::vector<int64_t>& order) {
    const std::string y = layers.op("Transpose", {x});
    setAttribute(layers.last(), "perm", order);
    return y;
  };
  const auto linear = [&](const std::string& x, int64_t from, int64_t to) {
    const std::string y = layers.op("MatMul", {x, layers.weights({from, to}, 3 * from)});
    return layers.op("Add", {y, layers.weights({to}, 600)});
  };
  // (x - mean) / sqrt(variance + epsilon) * scale + bias, in the nodes that older exporters write
  const auto layerNorm = [&](const std::string& x, bool asOne) {
    const std::string scale = layers.weights({width}, 60, 1), bias = layers.weights({width}, 600);
    if (asOne) return layers.op("LayerNormalization", {x, scale, bias});
    const auto mean = [&](const std::string& value) {
      const std::string y = layers.op("ReduceMean", {value});
      setAttribute(layers.last(), "axes", std::vector<int64_t>{-1});
      return y;
    };
    const std::string centred = layers.op("Sub", {x, mean(x)});
    const std::string two = layers.scalar(2);
    const std::string epsilon = layers.scalar(1e-5);
    const std::string variance = layers.op("Add", {mean(layers.op("Pow", {centred, two})), epsilon});
    const std::string normal = layers.op("Div", {centred, layers.op("Sqrt", {variance})});
    return layers.op("Add", {layers.op("Mul", {normal, scale}), bias});
  };

  const std::string embedded = layers.op("Gather", {layers.weights({100, width}, 6), "ids"});
  std::string x = layers.op("Add", {embedded, layers.weights({1, words, width}, 60)});
  x = layerNorm(x, true);
  // 0 where the mask is, else a large negative number, for every head and query
  const std::string wide = layers.op("Unsqueeze", {"mask", layers.numbers({1, 2})});
  const std::string real = layers.op("Cast", {wide});
  setAttribute(layers.last(), "to", static_cast<int64_t>(options.type));
  const std::string inverse = layers.op("Sub", {layers.scalar(1), real});
  const std::string bias = layers.op("Mul", {inverse, layers.scalar(-10000)});
  for (int layer = 0; layer < options.layers; ++layer) {
    const auto split = [&](const std::string& value, const std::vector<int64_t>& order) {
      const std::string target = sizes({size(value, 0), size(value, 1), layers.numbers({heads, width / heads})});
      return permuted(layers.op("Reshape", {value, target}), order);
    };
    const std::string q = split(linear(x, width, width), {0, 2, 1, 3});
    const std::string k = split(linear(x, width, width), {0, 2, 3, 1});
    const std::string v = split(linear(x, width, width), {0, 2, 1, 3});
    const std::string root = layers.scalar(std::sqrt(static_cast<double>(width / heads)));
    const std::string scores = layers.op("Add", {layers.op("Div", {layers.op("MatMul", {q, k}), root}), bias});
    const std::string weights = layers.op("Softmax", {scores});
    setAttribute(layers.last(), "axis", -1);
    const std::string context = permuted(layers.op("MatMul", {weights, v}), {0, 2, 1, 3});
    const std::string target = sizes({size(context, 0), size(context, 1), layers.numbers({-1})});
    const std::string attended = linear(layers.op("Reshape", {context, target}), width, width);
    x = layerNorm(layers.op("Add", {x, attended}), layer == 0);
    const std::string inner = linear(x, width, 4 * width);
    // Gelu in the nodes that exporters write
    const std::string scaled = layers.op("Div", {inner, layers.scalar(std::sqrt(2.0))});
    const std::string erf = layers.op("Add", {layers.op("Erf", {scaled}), layers.scalar(1)});
    const std::string gelu = layers.op("Mul", {layers.op("Mul", {inner, erf}), layers.scalar(0.5)});
    x = layerNorm(layers.op("Add", {x, linear(gelu, 4 * width, width)}), layer == 0);
  }
  // The first word stands for all.
  const std::string word = layers.op("Gather", {x, layers.constant(onnx::scalarTensor(Type::Int64, 0))});
  setAttribute(layers.last(), "axis", 1);
  finish(network, layers.op("Tanh", {linear(word, width, width)}));
  return network;
}

Network quantizedNet(const NetworkOptions& options) {
  Network network = picturesNetwork(options);
  Layers layers(network.model, options.type);
  constexpr double kStep = 0x1p-5;
  const auto relu = [&](const std::string& x) { return layers.op("Relu", {x}); };
  const auto bytes = [&](const std::string& x) { return layers.byBytes(x, kStep); };
  std::string x = bytes(relu(layers.byteConv(bytes("image"), 3, 16, 3, 2)));
  x = bytes(layers.maxPool(x, 1, false));
  // A residual block, whose sum is quantized, and a convolution before it that is not.
  const std::string inner = bytes(relu(layers.byteConv(x, 16, 32, 1, 1)));
  const std::string filtered = bytes(relu(layers.byteConv(inner, 32, 32, 3, 1, 32)));
  x = bytes(layers.op("Add", {layers.byteConv(filtered, 32, 16, 1, 1), x}));
  const std::string left = bytes(relu(layers.byteConv(x, 16, 16, 1, 1)));
  const std::string right = bytes(relu(layers.byteConv(x, 16, 16, 3, 1)));
  x = layers.op("Concat", {left, right});
  setAttribute(layers.last(), "axis", 1);
  x = bytes(layers.op("GlobalAveragePool", {bytes(x)}));
  x = bytes(layers.op("Flatten", {x}));
  finish(network, layers.op("MatMul", {x, layers.byteWeights({32, 10}, 1)}));
  return network;
}

}  // namespace dimple::testing
