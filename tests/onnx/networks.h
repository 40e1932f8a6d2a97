// Networks as they are exported, with weights from a seed.
#pragma once

#include "tests/onnx/model_builder.h"

namespace dimple::testing {

// What a network is to be: `divisor` makes it narrower, `size` is that of its square pictures, or its number of words.
struct NetworkOptions {
  int64_t divisor = 1;
  int64_t size = 224;
  int64_t batch = 1;                    // of pictures, or pairs of texts
  onnx::Type type = onnx::Type::Float;  // of weights and pictures; FLOAT or FLOAT16
  int layers = 2;                       // of an encoder
};

struct Network {
  ModelMaker model;
  std::map<std::string, onnx::HostTensor> inputs;
};

Network squeezeNet(const NetworkOptions& options);   // SqueezeNet 1.1
Network mobileNet(const NetworkOptions& options);    // MobileNetV2
Network resNet(const NetworkOptions& options);       // ResNet-50
Network transformer(const NetworkOptions& options);  // an encoder, shapes computed as PyTorch does
// A small one with 8-bit numbers between its layers, in QuantizeLinear and DequantizeLinear. Scales are powers of 2, so
// that every step is exact.
Network quantizedNet(const NetworkOptions& options);

}  // namespace dimple::testing
