// Arithmetic, comparisons and logic, element by element.
#include <bit>
#include <cmath>
#include <limits>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

template <class Desc, DML_OPERATOR_TYPE type>
void mapUnary(NodeContext& node) {
  const Value& x = node.input(0);
  node.setOutput(0, unary<Desc>(node.graph(), type, x, x.type));
}

template <class Desc, DML_OPERATOR_TYPE type>
void mapTest(NodeContext& node) {
  node.setOutput(0, unary<Desc>(node.graph(), type, node.input(0), Type::Bool));
}

template <class Desc, DML_OPERATOR_TYPE type>
void mapBinary(NodeContext& node) {
  node.setOutput(0, binary<Desc>(node.graph(), type, node.input(0), node.input(1), commonType(node, 0, 2)));
}

template <class Desc, DML_OPERATOR_TYPE type>
void mapComparison(NodeContext& node) {
  commonType(node, 0, 2);
  node.setOutput(0, binary<Desc>(node.graph(), type, node.input(0), node.input(1), Type::Bool));
}

Value isNaN(GraphBuilder& graph, const Value& x) {
  return unary<DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_IS_NAN, x, Type::Bool);
}

// DirectML takes the other operand of a NaN, ONNX the NaN.
template <Value (*combine)(GraphBuilder&, const Value&, const Value&)>
Value orNaN(GraphBuilder& graph, const Value& a, const Value& b) {
  const Value result = combine(graph, a, b);
  if (!isFloat(a.type) || result.elements() == 0) return result;
  return select(graph, isNaN(graph, a), a, select(graph, isNaN(graph, b), b, result));
}

template <Value (*combine)(GraphBuilder&, const Value&, const Value&)>
Value fold(NodeContext& node) {
  commonType(node, 0, node.inputCount());
  Value sum = node.input(0);
  for (size_t i = 1; i < node.inputCount(); ++i) sum = combine(node.graph(), sum, node.input(i));
  return sum;
}

template <Value (*combine)(GraphBuilder&, const Value&, const Value&)>
void mapVariadic(NodeContext& node) {
  node.setOutput(0, fold<combine>(node));
}

void mapMean(NodeContext& node) {
  node.setOutput(0, scaleBias(node.graph(), fold<add>(node), 1.0f / static_cast<float>(node.inputCount()), 0));
}

void mapNegate(NodeContext& node) {
  const Value& x = node.input(0);
  node.setOutput(
      0, unary<DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC>(node.graph(), DML_OPERATOR_ELEMENT_WISE_NEGATE, x, x.type));
}

void mapMod(NodeContext& node) {
  const bool truncate = node.attributes().flag("fmod");
  if (truncate)
    mapBinary<DML_ELEMENT_WISE_MODULUS_TRUNCATE_OPERATOR_DESC, DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE>(node);
  else
    mapBinary<DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC, DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR>(node);
}

void mapShift(NodeContext& node) {
  const std::string direction = node.attributes().text("direction", "");
  if (direction == "LEFT")
    mapBinary<DML_ELEMENT_WISE_BIT_SHIFT_LEFT_OPERATOR_DESC, DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_LEFT>(node);
  else if (direction == "RIGHT")
    mapBinary<DML_ELEMENT_WISE_BIT_SHIFT_RIGHT_OPERATOR_DESC, DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_RIGHT>(node);
  else
    throw ModelError(cat("Attribute direction is \"", direction, "\", expected LEFT or RIGHT."));
}

// DirectML has no powers of 64-bit integers: squares of the base, of which the bits of the exponent choose. Exponents
// below 0 and from 64 on are left to bases whose powers are 0, 1 or -1 then, or wrap to nothing but zeros.
Value integerPower(GraphBuilder& graph, Value base, const Value& exponent) {
  Value power = scalar(Type::Int64, 1);
  for (int64_t bit = 1; bit < 64; bit *= 2) {
    const Value chosen =
        cast(graph,
             binary<DML_ELEMENT_WISE_BIT_AND_OPERATOR_DESC>(graph, DML_OPERATOR_ELEMENT_WISE_BIT_AND, exponent,
                                                            scalar(Type::Int64, static_cast<double>(bit)), Type::Int64),
             Type::Bool);
    power = multiply(graph, power, select(graph, chosen, base, scalar(Type::Int64, 1)));
    if (bit < 32) base = multiply(graph, base, base);
  }
  return power;
}

void mapPow(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& base = node.input(0);
  Value exponent = node.input(1);
  const bool wide = base.type == Type::Int64 || base.type == Type::UInt64;
  if (wide && !isFloat(exponent.type)) {
    node.setOutput(0, graph.reinterpret(
                          integerPower(graph, graph.reinterpret(base, Type::Int64), cast(graph, exponent, Type::Int64)),
                          base.type));
    return;
  }
  Value x = base;
  // A fraction in an exponent counts for integers, too.
  if (!isFloat(base.type) && isFloat(exponent.type)) x = cast(graph, base, Type::Float);
  if (wide) x = cast(graph, base, Type::Float);
  exponent = cast(graph, exponent, x.type);
  const Sizes sizes = broadcastSizes(x.sizes, exponent.sizes);
  Value power;
  {
    Op op(graph);
    DML_ELEMENT_WISE_POW_OPERATOR_DESC desc{};
    desc.InputTensor = op.input(graph.broadcast(x, sizes));
    desc.ExponentTensor = op.input(graph.broadcast(exponent, sizes));
    desc.OutputTensor = op.output(x.type, sizes);
    power = op.make(DML_OPERATOR_ELEMENT_WISE_POW, desc);
  }
  node.setOutput(0, cast(graph, power, base.type));
}

void mapIsInf(NodeContext& node) {
  const bool positive = node.attributes().flag("detect_positive", true);
  const bool negative = node.attributes().flag("detect_negative", true);
  const Value& x = node.input(0);
  if (!positive && !negative) {
    node.setOutput(0, fill(node.graph(), Type::Bool, x.sizes, scalarTensor(Type::Bool, 0)));
    return;
  }
  DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC desc{};
  desc.InfinityMode = positive && negative ? DML_IS_INFINITY_MODE_EITHER
                      : positive           ? DML_IS_INFINITY_MODE_POSITIVE
                                           : DML_IS_INFINITY_MODE_NEGATIVE;
  node.setOutput(0, unary(node.graph(), DML_OPERATOR_ELEMENT_WISE_IS_INFINITY, x, Type::Bool, desc));
}

void mapRound(NodeContext& node) {
  const Value& x = node.input(0);
  DML_ELEMENT_WISE_ROUND_OPERATOR_DESC desc{};
  desc.RoundingMode = DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN;
  node.setOutput(0, unary(node.graph(), DML_OPERATOR_ELEMENT_WISE_ROUND, x, x.type, desc));
}

void mapClipAttributes(NodeContext& node) {
  const Value& x = node.input(0);
  DML_ELEMENT_WISE_CLIP_OPERATOR_DESC desc{};
  desc.Min = node.attributes().real("min", std::numeric_limits<float>::lowest());
  desc.Max = node.attributes().real("max", std::numeric_limits<float>::max());
  node.setOutput(0, unary(node.graph(), DML_OPERATOR_ELEMENT_WISE_CLIP, x, x.type, desc));
}

void mapClip(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  Value x = node.input(0);
  const Type type = x.type;
  for (const size_t bound : {size_t{1}, size_t{2}})
    if (node.has(bound) && node.input(bound).type != type)
      throw ModelError(
          cat("Input ", bound, " is of ", typeName(node.input(bound).type), ", expected ", typeName(type), "."));
  const auto known = [&](size_t bound) { return !node.has(bound) || node.input(bound).constant; };
  if (node.has(1) && node.has(2) && known(1) && known(2) &&
      node.scalarConstant(1).real(0) <= node.scalarConstant(2).real(0)) {
    DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC desc{};
    desc.MinMaxDataType = traits(type).device;
    desc.Min = scalarUnion(type, node.constant(1));
    desc.Max = scalarUnion(type, node.constant(2));
    node.setOutput(0, unary(graph, DML_OPERATOR_ELEMENT_WISE_CLIP1, x, type, desc));
    return;
  }
  // If the lower bound is above the upper one, the upper one counts.
  if (node.has(1)) x = maximum(graph, x, graph.reshape(node.input(1), {}));
  if (node.has(2)) x = minimum(graph, x, graph.reshape(node.input(2), {}));
  node.setOutput(0, x);
}

void mapWhere(NodeContext& node) {
  commonType(node, 1, 2);
  if (node.input(0).type != Type::Bool)
    throw ModelError(cat("Input 0 is of ", typeName(node.input(0).type), ", expected bool."));
  node.setOutput(0, select(node.graph(), node.input(0), node.input(1), node.input(2)));
}

void mapCastTo(NodeContext& node, Type type) {
  const Value& x = node.input(0);
  if (traits(type).device == DML_TENSOR_DATA_TYPE_UNKNOWN || traits(x.type).device == DML_TENSOR_DATA_TYPE_UNKNOWN)
    throw ModelError(cat("A conversion of ", typeName(x.type), " to ", typeName(type),
                         " is needed, but DirectML does not have both types."));
  node.setOutput(0, cast(node.graph(), x, type));
}

void mapCast(NodeContext& node) { mapCastTo(node, static_cast<Type>(node.attributes().integer("to", 0))); }
void mapCastLike(NodeContext& node) { mapCastTo(node, node.input(1).type); }

#define DIMPLE_MAP(map, name) map<DML_##name##_OPERATOR_DESC, DML_OPERATOR_##name>

constexpr Mapping kElementwiseMappings[] = {
    {kOnnx, "Abs", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ABS)},
    {kOnnx, "Acos", 7, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ACOS)},
    {kOnnx, "Acosh", 9, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ACOSH)},
    {kOnnx, "Add", 7, DIMPLE_MAP(mapBinary, ELEMENT_WISE_ADD)},
    {kOnnx, "And", 7, DIMPLE_MAP(mapBinary, ELEMENT_WISE_LOGICAL_AND)},
    {kOnnx, "Asin", 7, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ASIN)},
    {kOnnx, "Asinh", 9, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ASINH)},
    {kOnnx, "Atan", 7, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ATAN)},
    {kOnnx, "Atanh", 9, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ATANH)},
    {kOnnx, "BitShift", 11, mapShift},
    {kOnnx, "BitwiseAnd", 18, DIMPLE_MAP(mapBinary, ELEMENT_WISE_BIT_AND)},
    {kOnnx, "BitwiseNot", 18, DIMPLE_MAP(mapUnary, ELEMENT_WISE_BIT_NOT)},
    {kOnnx, "BitwiseOr", 18, DIMPLE_MAP(mapBinary, ELEMENT_WISE_BIT_OR)},
    {kOnnx, "BitwiseXor", 18, DIMPLE_MAP(mapBinary, ELEMENT_WISE_BIT_XOR)},
    {kOnnx, "Cast", 6, mapCast},
    {kOnnx, "CastLike", 15, mapCastLike},
    {kOnnx, "Ceil", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_CEIL)},
    {kOnnx, "Clip", 6, mapClipAttributes},
    {kOnnx, "Clip", 11, mapClip},
    {kOnnx, "Cos", 7, DIMPLE_MAP(mapUnary, ELEMENT_WISE_COS)},
    {kOnnx, "Cosh", 9, DIMPLE_MAP(mapUnary, ELEMENT_WISE_COSH)},
    {kOnnx, "Div", 7, DIMPLE_MAP(mapBinary, ELEMENT_WISE_DIVIDE)},
    {kOnnx, "Equal", 7, DIMPLE_MAP(mapComparison, ELEMENT_WISE_LOGICAL_EQUALS)},
    {kOnnx, "Erf", 9, DIMPLE_MAP(mapUnary, ELEMENT_WISE_ERF)},
    {kOnnx, "Exp", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_EXP)},
    {kOnnx, "Floor", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_FLOOR)},
    {kOnnx, "Greater", 7, DIMPLE_MAP(mapComparison, ELEMENT_WISE_LOGICAL_GREATER_THAN)},
    {kOnnx, "GreaterOrEqual", 12, DIMPLE_MAP(mapComparison, ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL)},
    {kOnnx, "IsInf", 10, mapIsInf},
    {kOnnx, "IsNaN", 9, DIMPLE_MAP(mapTest, ELEMENT_WISE_IS_NAN)},
    {kOnnx, "Less", 7, DIMPLE_MAP(mapComparison, ELEMENT_WISE_LOGICAL_LESS_THAN)},
    {kOnnx, "LessOrEqual", 12, DIMPLE_MAP(mapComparison, ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL)},
    {kOnnx, "Log", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_LOG)},
    {kOnnx, "Max", 6, mapVariadic<orNaN<maximum>>},
    {kOnnx, "Mean", 6, mapMean},
    {kOnnx, "Min", 6, mapVariadic<orNaN<minimum>>},
    {kOnnx, "Mod", 10, mapMod},
    {kOnnx, "Mul", 7, DIMPLE_MAP(mapBinary, ELEMENT_WISE_MULTIPLY)},
    {kOnnx, "Neg", 6, mapNegate},
    {kOnnx, "Not", 1, DIMPLE_MAP(mapUnary, ELEMENT_WISE_LOGICAL_NOT)},
    {kOnnx, "Or", 7, DIMPLE_MAP(mapBinary, ELEMENT_WISE_LOGICAL_OR)},
    {kOnnx, "Pow", 7, mapPow},
    {kOnnx, "Reciprocal", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_RECIP)},
    {kOnnx, "Round", 11, mapRound},
    {kOnnx, "Sign", 9, DIMPLE_MAP(mapUnary, ELEMENT_WISE_SIGN)},
    {kOnnx, "Sin", 7, DIMPLE_MAP(mapUnary, ELEMENT_WISE_SIN)},
    {kOnnx, "Sinh", 9, DIMPLE_MAP(mapUnary, ELEMENT_WISE_SINH)},
    {kOnnx, "Sqrt", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_SQRT)},
    {kOnnx, "Sub", 7, DIMPLE_MAP(mapBinary, ELEMENT_WISE_SUBTRACT)},
    {kOnnx, "Sum", 6, mapVariadic<add>},
    {kOnnx, "Tan", 7, DIMPLE_MAP(mapUnary, ELEMENT_WISE_TAN)},
    {kOnnx, "Tanh", 6, DIMPLE_MAP(mapUnary, ELEMENT_WISE_TANH)},
    {kOnnx, "Where", 9, mapWhere},
    {kOnnx, "Xor", 7, DIMPLE_MAP(mapBinary, ELEMENT_WISE_LOGICAL_XOR)},
};

#undef DIMPLE_MAP

}  // namespace

std::span<const Mapping> elementwiseMappings() { return kElementwiseMappings; }

}  // namespace dimple::onnx
