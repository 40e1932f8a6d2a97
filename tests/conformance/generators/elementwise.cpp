#include <algorithm>

#include "core/schema/element_text.h"
#include "core/schema/op_schema.h"
#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

std::string realText(Random& random, double low, double high) {
  return numberText(static_cast<float>(low + (high - low) * random.unit()));
}

// The bounds of CLIP and the parameters of activations.
std::string floatAttribute(Generator& generator, const Field& field) {
  Random& random = generator.random;
  const DML_OPERATOR_TYPE type = generator.schema.type;
  if (type != DML_OPERATOR_ELEMENT_WISE_CLIP && type != DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD)
    return realText(random, 0.1, 2);
  const bool integral = random.chance(0.3);
  const auto text = [&](double low, double high) {
    return integral ? std::to_string(random.range(static_cast<int64_t>(low), static_cast<int64_t>(high)))
                    : realText(random, low, high);
  };
  // Bounds in the wrong order now and then, or beyond the type's range.
  if (random.chance(0.06)) return text(-300, 300);
  if (random.chance(0.04)) return field.name == "Min" ? "-inf" : "inf";
  return field.name == "Min" ? text(-3, 1) : text(3, 20);
}

// The bounds of CLIP1 and CLIP_GRAD1, as elements of the tensor's type.
std::string scalarAttribute(Generator& generator, const Field& field) {
  Random& random = generator.random;
  const bool lower = field.name == "Min";
  if (isFloat(generator.type)) return lower ? realText(random, -3, 1) : realText(random, 3, 20);
  const int64_t least = isSigned(generator.type) ? -3 : 0;
  if (bitWidth(generator.type) == 64 && random.chance(0.2))
    return lower ? cat(least) : cat(random.range(1, 1 << 20) << 20);
  return std::to_string(lower ? random.range(least, 1) : random.range(3, 20));
}

std::string scaleBias(Generator& generator) {
  Random& random = generator.random;
  if (byteWidth(generator.type) == 8 || random.chance(0.15)) return "[1,0]";
  if (random.chance(0.05)) return cat("[0,", random.range(-8, 8), "]");
  const bool positive = !isSigned(generator.type) || generator.schema.type == DML_OPERATOR_ELEMENT_WISE_SQRT;
  const bool negative = random.chance(positive ? 0.05 : 0.5);
  const std::string_view sign = negative ? "-" : "";
  // Small elements of unsigned types stay above 0, and below the bounds of CLIP.
  const int64_t least = isSigned(generator.type) ? -4 : -1;
  if (random.chance(0.3)) {
    const int64_t scale = random.range(1, 3);
    return cat("[", sign, scale, ",", random.range(least, 2), "]");
  }
  const std::string scale = realText(random, 0.4, 2);
  return cat("[", sign, scale, ",", realText(random, static_cast<double>(least), 2), "]");
}

// Types of the tensors: one as the rules tie it, any in turn where they do not.
std::vector<DataType> tensorTypes(const Generator& generator) {
  std::vector<DataType> types;
  for (const TensorRule& rule : generator.schema.rules) {
    std::vector<DataType> allowed;
    for (uint32_t t = 1; t < 32; ++t)
      if (rule.types() & kAllTypes & (1u << t)) allowed.push_back(static_cast<DataType>(t));
    if (&rule == mainRule(generator.schema))
      types.push_back(generator.type);
    else if (rule.as.type >= 0)
      types.push_back(types[static_cast<size_t>(rule.as.type)]);
    else
      types.push_back(allowed[generator.index() % allowed.size()]);
  }
  return types;
}

void addCase(Generator& generator, const Sizes& sizes, bool plain) {
  Random& random = generator.random;
  const OpSchema& schema = generator.schema;
  const std::vector<DataType> types = tensorTypes(generator);
  const size_t cycle = generator.cycle();
  const bool inPlace = schema.inPlace && types.front() == types.back() && !plain && random.chance(0.15);
  Line line(schema);
  std::string_view fill = generator.randomFill();
  // What asks for special values has to meet them.
  if (schema.type == DML_OPERATOR_ELEMENT_WISE_IS_INFINITY || schema.type == DML_OPERATOR_ELEMENT_WISE_IS_NAN)
    fill = "special";
  TensorText first;
  size_t tensors = 0;
  for (const Field& field : schema.fields) {
    if (isTensor(field)) {
      const DataType type = types[tensors];
      // The layouts of the tensors of a case are in step for two of three cases and shifted for the third.
      const size_t at = cycle + (generator.index() % 3 == 0 ? tensors * 3 : 0);
      TensorText tensor{type, sizes};
      const Layout layout = generator.layout(at);
      if (!plain) {
        tensor = makeTensor(random, field.role == Role::Output ? Side::Output : Side::Input, type, sizes,
                            inPlace && tensors == 0 && !isInjective(layout) ? Layout::Padded : layout);
        if (field.role == Role::Input && !(inPlace && tensors == 0)) generator.maybeOwn(tensor);
      }
      if (tensors++ == 0) first = tensor;
      line.set(field.name, inPlace && field.role == Role::Output ? first : tensor);
      continue;
    }
    switch (field.type) {
      case FieldType::Float:
        line.set(field.name, floatAttribute(generator, field));
        break;
      case FieldType::ScaleBias:
        if (random.chance(0.4)) line.set(field.name, scaleBias(generator));
        break;
      case FieldType::Scalar:
        line.set(field.name, scalarAttribute(generator, field));
        break;
      case FieldType::Enum:
        if (field.values == &kTensorDataTypes) {
          line.set(field.name, dataTypeName(generator.type));
          break;
        }
        line.set(field.name, field.values->names[generator.index() % field.values->names.size()]);
        break;
      case FieldType::Operator:
        if (const std::string text = fusedActivation(generator, generator.index()); !text.empty())
          line.set(field.name, text);
        break;
      default:
        break;
    }
  }
  if (inPlace) line.set("inplace", 0);
  generator.keep(std::move(line), fill);
}

}  // namespace

std::string fusedActivation(Generator& generator, size_t turn) {
  std::vector<const OpSchema*> activations;
  for (const OpSchema* schema : allSchemas())
    if (schema->fusable && schema->plan) activations.push_back(schema);
  turn %= activations.size() + 2;
  if (turn >= activations.size()) return {};
  constexpr std::string_view kPrefix = "ACTIVATION_";
  std::string text(activations[turn]->name.substr(kPrefix.size()));
  std::string parameters;
  for (const Field& field : activations[turn]->fields)
    if (field.type == FieldType::Float)
      parameters += cat(parameters.empty() ? "" : ",", field.name, "=", realText(generator.random, 0.1, 2));
  return parameters.empty() ? text : cat(text, "(", parameters, ")");
}

void generateElementwise(Generator& generator) {
  Random& random = generator.random;
  // Each pair of types of a CAST gets as many as others need for three.
  const size_t count = generator.schema.type == DML_OPERATOR_CAST ? 3 * kCasesPerType / 2 : kCasesPerType;
  while (generator.index() < count)
    addCase(generator, makeSizes(random, generator.rank(), logUniform(random, 4096)), false);
  // A row of every length around the widths of kernels.
  for (uint32_t size :
       {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 33u, 63u, 65u, 127u, 255u, 257u, 1023u, 4097u})
    addCase(generator, {size}, true);
  addCase(generator, {kLargeCount}, true);
  addCase(generator, {3, 5, 4099}, false);
}

void generateFill(Generator& generator) {
  Random& random = generator.random;
  const bool real = isFloat(generator.type);
  const auto value = [&]() -> std::string {
    constexpr std::string_view kReals[] = {"nan", "inf", "-inf", "-0", "0", "65504", "0.1", "5.9604645e-8"};
    if (real) return random.chance(0.3) ? std::string(random.pick(kReals)) : realText(random, -100, 100);
    const uint32_t bits = bitWidth(generator.type) - (isSigned(generator.type) ? 1 : 0);
    const uint64_t magnitude = random.next() >> (64 - random.size(1, bits));
    return cat(isSigned(generator.type) && magnitude != 0 && random.chance(0.5) ? "-" : "", magnitude);
  };
  const auto add = [&](const TensorText& output) {
    Line line(generator.schema);
    line.set("OutputTensor", output).set("ValueDataType", dataTypeName(generator.type)).set("Value", value());
    generator.keep(std::move(line), "int");
  };
  while (generator.index() < kCasesPerType) {
    Sizes sizes = makeSizes(random, generator.rank(), logUniform(random, 4096));
    add(generator.output(generator.type, std::move(sizes), generator.cycle()));
  }
  for (uint32_t size : {1u, 2u, 3u, 5u, 7u, 9u, 17u, 33u, 257u, kLargeCount}) add({generator.type, {size}});
}

}  // namespace dimple::testing
