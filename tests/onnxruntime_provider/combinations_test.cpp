// Operators with the types and versions that Segment Anything, Stable Diffusion and their text encoders ask for, of
// which ONNX Runtime's WebGPU provider lacked some when the fallback to the processor was disabled (onnxruntime#29756
// and the changes that it names: integers of 64 bits, AveragePool since version 19, Clip of integers).
#include <doctest.h>

#include <random>

#include "tests/onnx/model_builder.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;

// An operand: an input with numbers from -4 to 4 (indices from 0 to 2, BOOL), or a constant.
struct Operand {
  Type type;
  onnx::Sizes sizes;
  std::vector<int64_t> constant = {};
  bool index = false;
};

struct Attribute {
  const char* name;
  std::vector<int64_t> values;  // one of them: a number
  bool list = false;
};

struct Combination {
  const char* op;
  int64_t opset;
  std::vector<Operand> operands;
  std::vector<Attribute> attributes = {};
  const char* equation = nullptr;
};

Operand values(Type type, onnx::Sizes sizes) { return {type, std::move(sizes)}; }
Operand indices(onnx::Sizes sizes) { return {Type::Int64, std::move(sizes), {}, true}; }
Operand constant(std::vector<int64_t> numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return {Type::Int64, {count}, std::move(numbers)};
}
Operand scalar(Type type, int64_t number) { return {type, {}, {number}}; }

HostTensor tensorOf(const Operand& operand, std::mt19937& random) {
  HostTensor tensor(operand.type, operand.sizes);
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i) {
    if (!operand.constant.empty())
      tensor.setInteger(i, operand.constant[i]);
    else if (operand.type == Type::Bool)
      tensor.setInteger(i, random() % 2);
    else if (operand.index)
      tensor.setInteger(i, random() % 3);
    else if (onnx::isFloat(operand.type))
      tensor.setReal(i, static_cast<double>(random() % 65) / 8 - 4);
    else
      tensor.setInteger(i, static_cast<int64_t>(random() % 9) - (onnx::isSigned(operand.type) ? 4 : 0));
  }
  return tensor;
}

constexpr Type kFloat = Type::Float, kHalf = Type::Float16, kInt = Type::Int32, kLong = Type::Int64, kBool = Type::Bool;

const std::vector<Combination>& combinations() {
  static const std::vector<Combination> all{
      {"Cast", 21, {values(kLong, {2, 3})}, {{"to", {1}}}},
      {"Cast", 21, {values(kLong, {2, 3})}, {{"to", {10}}}},
      {"Cast", 21, {values(kHalf, {2, 3})}, {{"to", {7}}}},
      {"Cast", 21, {values(kBool, {2, 3})}, {{"to", {7}}}},
      {"Cast", 21, {values(Type::UInt8, {2, 3})}, {{"to", {10}}}},
      {"Cast", 19, {values(kLong, {2, 3})}, {{"to", {6}}}},
      {"Clip", 13, {values(kInt, {2, 3}), scalar(kInt, -1), scalar(kInt, 2)}},
      {"Clip", 13, {values(Type::UInt32, {2, 3}), scalar(Type::UInt32, 1), scalar(Type::UInt32, 3)}},
      {"Clip", 13, {values(kLong, {2, 3}), scalar(kLong, -1), scalar(kLong, 2)}},
      {"Clip", 13, {values(kHalf, {2, 3}), scalar(kHalf, -1), scalar(kHalf, 2)}},
      {"AveragePool", 19, {values(kFloat, {1, 3, 8, 8})}, {{"kernel_shape", {2, 2}, true}}},
      {"AveragePool", 22, {values(kHalf, {1, 3, 8, 8})}, {{"kernel_shape", {3, 3}, true}, {"ceil_mode", {1}}}},
      {"MaxPool", 22, {values(kHalf, {1, 3, 8, 8})}, {{"kernel_shape", {2, 2}, true}, {"strides", {2, 2}, true}}},
      {"Add", 14, {values(kLong, {2, 3}), values(kLong, {3})}},
      {"Sub", 14, {values(kLong, {2, 3}), values(kLong, {3})}},
      {"Mul", 14, {values(kLong, {2, 3}), values(kLong, {3})}},
      {"Div", 14, {values(kLong, {2, 3}), scalar(kLong, 2)}},
      {"Mod", 13, {values(kLong, {2, 3}), scalar(kLong, 3)}},
      {"Neg", 13, {values(kLong, {2, 3})}},
      {"Equal", 19, {values(kLong, {2, 3}), values(kLong, {3})}},
      {"Equal", 19, {values(kBool, {2, 3}), values(kBool, {3})}},
      {"Less", 13, {values(kLong, {2, 3}), values(kLong, {3})}},
      {"GreaterOrEqual", 16, {values(kLong, {2, 3}), values(kLong, {3})}},
      {"And", 7, {values(kBool, {2, 3}), values(kBool, {3})}},
      {"Not", 1, {values(kBool, {2, 3})}},
      {"Where", 16, {values(kBool, {2, 3}), values(kLong, {3}), values(kLong, {2, 3})}},
      {"Where", 16, {values(kBool, {2, 3}), values(kHalf, {3}), values(kHalf, {2, 3})}},
      {"Concat", 13, {values(kLong, {2, 3}), values(kLong, {1, 3})}, {{"axis", {0}}}},
      {"Expand", 13, {values(kLong, {3}), constant({2, 3})}},
      {"Expand", 13, {values(kBool, {3}), constant({2, 3})}},
      {"Tile", 13, {values(kLong, {2, 3}), constant({2, 1})}},
      {"Slice", 13, {values(kLong, {4, 3}), constant({1}), constant({4}), constant({0}), constant({2})}},
      {"Gather", 13, {values(kLong, {3, 4}), indices({2})}},
      {"Gather", 13, {values(kHalf, {3, 4}), indices({2})}},
      {"GatherND", 13, {values(kLong, {3, 4}), indices({2, 2})}},
      {"GatherElements", 13, {values(kLong, {3, 4}), indices({3, 4})}},
      {"ScatterND", 18, {values(kLong, {3, 4}), constant({1}), values(kLong, {4})}},
      {"ScatterND", 18, {values(kHalf, {3, 4}), constant({2}), values(kHalf, {4})}},
      {"ScatterElements", 18, {values(kLong, {4}), constant({1, 3}), values(kLong, {2})}},
      {"ArgMax", 13, {values(kHalf, {3, 4})}, {{"axis", {1}}}},
      {"ArgMax", 13, {values(kInt, {3, 4})}, {{"axis", {-1}}, {"keepdims", {0}}}},
      {"CumSum", 14, {values(kLong, {3, 4}), scalar(kLong, 1)}},
      {"ReduceSum", 13, {values(kLong, {3, 4}), constant({1})}},
      {"ReduceMax", 18, {values(kLong, {3, 4}), constant({0})}},
      {"Trilu", 14, {values(kLong, {3, 4})}},
      {"Range", 11, {scalar(kLong, 1), scalar(kLong, 9), scalar(kLong, 3)}},
      {"NonZero", 13, {values(kBool, {3, 4})}},
      {"Einsum", 12, {values(kHalf, {2, 3, 4}), values(kHalf, {2, 5, 4})}, {}, "bhd,bkd->bhk"},
      {"LayerNormalization", 17, {values(kHalf, {3, 8}), values(kHalf, {8}), values(kHalf, {8})}},
      {"InstanceNormalization", 22, {values(kHalf, {2, 3, 16}), values(kHalf, {3}), values(kHalf, {3})}},
      {"GroupNormalization",
       21,
       {values(kHalf, {2, 4, 8}), values(kHalf, {4}), values(kHalf, {4})},
       {{"num_groups", {2}}}},
      {"ConvTranspose", 22, {values(kHalf, {1, 3, 4, 4}), values(kHalf, {3, 2, 2, 2})}, {{"strides", {2, 2}, true}}},
      {"Resize",
       19,
       {values(kHalf, {1, 2, 4, 4}), {Type::Undefined, {}}, {Type::Undefined, {}}, constant({1, 2, 8, 8})}},
      {"Gelu", 20, {values(kHalf, {3, 4})}},
      {"Sin", 22, {values(kHalf, {3, 4})}},
      {"Cos", 22, {values(kHalf, {3, 4})}},
      {"Softmax", 13, {values(kHalf, {3, 4})}},
  };
  return all;
}

TEST_CASE("provider combinations: operators and types of Segment Anything and Stable Diffusion") {
  const Host host;
  std::mt19937 random(11);
  for (const Combination& combination : combinations()) {
    ModelMaker model(combination.opset);
    Inputs inputs;
    std::vector<std::string> names;
    for (const Operand& operand : combination.operands) {
      const std::string name = operand.type == Type::Undefined ? "" : "x" + std::to_string(names.size());
      names.push_back(name);
      if (name.empty()) continue;
      const HostTensor tensor = tensorOf(operand, random);
      if (operand.constant.empty()) {
        model.input(name, tensor.type, tensor.sizes);
        inputs[name] = tensor;
      } else {
        model.initializer(name, tensor);
      }
    }
    auto& node = model.node(combination.op, names, {"y"});
    for (const auto& [name, numbers, list] : combination.attributes) {
      if (list)
        setAttribute(node, name, numbers);
      else
        setAttribute(node, name, numbers[0]);
    }
    if (combination.equation) {
      auto& attribute = *node.add_attribute();
      attribute.set_name("equation");
      attribute.set_type(::onnx::AttributeProto::STRING);
      attribute.set_s(combination.equation);
    }
    model.output("y");
    CAPTURE(std::string(combination.op));
    CAPTURE(onnx::typeName(combination.operands[0].type));
    // Nothing is rewritten: constants would be folded, and nothing be left.
    const std::string bytes = model.bytes();
    const std::string refusal = refusalOf(host, bytes, {.optimize = false});
    CHECK(refusal == "");
    if (!refusal.empty()) continue;
    const auto results = host.open(bytes, {.optimize = false}).run(inputs);
    const auto expected = host.open(bytes, {.engine = Engine::Processor, .optimize = false}).run(inputs);
    CHECK(compareTensors(results[0].tensor, expected[0].tensor, {4e-3, 4e-3}) == "");
  }
}

}  // namespace
}  // namespace dimple::testing
