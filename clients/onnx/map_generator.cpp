// Tensors that are made of nothing but their description.
#include <cmath>
#include <limits>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

void mapConstant(NodeContext& node) {
  const Attributes& attributes = node.attributes();
  if (SharedTensor tensor = attributes.tensor("value")) return node.setOutput(0, hostValue(std::move(tensor)));
  if (attributes.has("value_int")) return node.setOutput(0, integerScalar(attributes.integer("value_int", 0)));
  if (attributes.has("value_float"))
    return node.setOutput(0,
                          hostValue(scalarTensor(Type::Float, static_cast<double>(attributes.real("value_float", 0)))));
  if (const auto values = attributes.integers("value_ints"))
    return node.setOutput(0, hostValue(integerTensor(Type::Int64, *values)));
  if (attributes.has("value_floats")) {
    const std::vector<float> values = attributes.reals("value_floats");
    HostTensor tensor(Type::Float, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) tensor.setReal(i, static_cast<double>(values[i]));
    return node.setOutput(0, hostValue(std::move(tensor)));
  }
  throw ModelError("It has no value that is a tensor of numbers.");
}

void mapConstantOfShape(NodeContext& node) {
  const SharedTensor given = node.attributes().tensor("value");
  const HostTensor value = given ? *given : scalarTensor(Type::Float, 0);
  if (!node.knows(0)) return;
  const Sizes sizes = node.constant(0).integers();
  if (value.elements() != 1)
    throw ModelError(cat("Attribute value has ", value.elements(), " elements, expected one."));
  constexpr int64_t kSmall = 4096;
  if (elementCount(sizes) > kSmall) return node.setOutput(0, fill(node.graph(), value.type, sizes, value));
  HostTensor tensor(value.type, sizes);
  const size_t size = traits(value.type).hostBytes;
  for (size_t i = 0; i < tensor.bytes.size(); ++i) tensor.bytes[i] = value.bytes[i % size];
  node.setOutput(0, hostValue(std::move(tensor)));
}

void mapRange(NodeContext& node) {
  const Type type = commonType(node, 0, 2);
  if (!node.knows(0) || !node.knows(1) || !node.knows(2)) return;
  const HostTensor& start = node.constant(0);
  const HostTensor& limit = node.constant(1);
  // Microsoft's Range has a step of 1 where none is given.
  const HostTensor step = node.has(2) ? node.constant(2) : scalarTensor(type, 1);
  for (const HostTensor* tensor : {&start, &limit, &step})
    if (tensor->elements() != 1 || tensor->type != type) throw ModelError("Its inputs are not scalars of one type.");
  const double stepValue = step.real(0);
  if (stepValue == 0) throw ModelError("Its step is 0.");
  const double count = std::ceil((limit.real(0) - start.real(0)) / stepValue);
  if (!(count < 0x1p40)) throw ModelError(cat("It has ", count, " elements, expected less than 2^40."));
  const Sizes sizes = {static_cast<int64_t>(std::max(count, 0.0))};
  if (sizes[0] == 0) return node.setOutput(0, emptyValue(type, sizes));
  Op op(node.graph());
  DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC desc{};
  desc.OutputTensor = op.output(type, sizes);
  desc.ValueDataType = traits(type).device;
  desc.ValueStart = scalarUnion(type, start);
  desc.ValueDelta = scalarUnion(type, step);
  node.setOutput(0, op.make(DML_OPERATOR_FILL_VALUE_SEQUENCE, desc));
}

void mapEyeLike(NodeContext& node) {
  const Value& x = node.input(0);
  const Type type =
      static_cast<Type>(node.attributes().integer("dtype", static_cast<int64_t>(static_cast<int32_t>(x.type))));
  if (x.rank() != 2) throw ModelError(cat("Input 0 has sizes ", listText(x.sizes), ", expected two dimensions."));
  const int64_t reach = x.sizes[0] + x.sizes[1];
  const int64_t diagonal = std::clamp(node.attributes().integer("k", 0), -reach, reach);
  Op op(node.graph());
  DML_DIAGONAL_MATRIX1_OPERATOR_DESC desc{};
  op.optionalInput({});
  desc.OutputTensor = op.output(type, x.sizes);
  desc.ValueDataType = traits(type).device;
  desc.Value = scalarUnion(type, scalarTensor(Type::Float, 1));
  desc.DiagonalFillBegin = static_cast<INT>(diagonal);
  desc.DiagonalFillEnd = static_cast<INT>(diagonal + 1);
  node.setOutput(0, op.make(DML_OPERATOR_DIAGONAL_MATRIX1, desc));
}

constexpr Mapping kGeneratorMappings[] = {
    {kOnnx, "Constant", 1, mapConstant}, {kOnnx, "ConstantOfShape", 9, mapConstantOfShape},
    {kOnnx, "EyeLike", 9, mapEyeLike},   {kOnnx, "Range", 11, mapRange},
    {kMicrosoft, "Range", 1, mapRange},
};

}  // namespace

std::span<const Mapping> generatorMappings() { return kGeneratorMappings; }

}  // namespace dimple::onnx
