// Recurrent networks, and ADAM_OPTIMIZER.
#include <array>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/generators/context.h"

namespace dimple::testing {
namespace {

std::string realText(Random& random, double low, double high) {
  return numberText(static_cast<float>(low + (high - low) * random.unit()));
}

// What a network is described by.
struct Shape {
  uint32_t steps = 1;
  uint32_t batch = 1;
  uint32_t inputs = 1;
  uint32_t hidden = 1;
};

// "TANH" or "ELU(Alpha=0.5)": those that networks use most of the time, and all in turn.
std::string activationText(Generator& generator, size_t turn) {
  Random& random = generator.random;
  constexpr std::array<std::string_view, 3> kUsual = {"SIGMOID", "TANH", "RELU"};
  if (random.chance(0.5)) return std::string(random.pick(kUsual));
  std::vector<const OpSchema*> activations;
  for (const OpSchema* schema : allSchemas())
    if (schema->fusable && schema->plan) activations.push_back(schema);
  const OpSchema& schema = *activations[turn % activations.size()];
  constexpr std::string_view kPrefix = "ACTIVATION_";
  std::string text(schema.name.substr(kPrefix.size()));
  std::string parameters;
  for (const Field& field : schema.fields)
    if (field.type == FieldType::Float)
      parameters += cat(parameters.empty() ? "" : ",", field.name, "=", realText(random, 0.1, 1.2));
  return parameters.empty() ? text : cat(text, "(", parameters, ")");
}

// Plain: of packed tensors. Usual: with the functions of most networks, too, whose states are bounded.
enum class Kind { Any, Plain, Usual };

void addNetwork(Generator& generator, const Shape& shape, Kind kind) {
  const bool plain = kind != Kind::Any;
  Random& random = generator.random;
  const DML_OPERATOR_TYPE type = generator.schema.type;
  const bool isLstm = type == DML_OPERATOR_LSTM;
  const uint32_t gates = isLstm ? 4 : type == DML_OPERATOR_GRU ? 3 : 1;
  const uint32_t activations = isLstm ? 3 : type == DML_OPERATOR_GRU ? 2 : 1;
  constexpr std::array<std::string_view, 3> kDirections = {"FORWARD", "BACKWARD", "BIDIRECTIONAL"};
  const size_t direction = plain ? 2 * random.below(2) : generator.index() % 3;
  const uint32_t directions = direction == 2 ? 2 : 1;
  const uint32_t rows = gates * shape.hidden;
  size_t tensors = 0;
  const auto input = [&](Sizes sizes, DataType of) {
    if (plain) return TensorText{of, std::move(sizes)};
    return generator.input(of, std::move(sizes), generator.cycle() + tensors++ % 3 * 2);
  };
  Line line(generator.schema);
  const auto set = [&](std::string_view name, Sizes sizes) { line.set(name, input(std::move(sizes), generator.type)); };
  set("InputTensor", {1, shape.steps, shape.batch, shape.inputs});
  set("WeightTensor", {1, directions, rows, shape.inputs});
  set("RecurrenceTensor", {1, directions, rows, shape.hidden});
  if (random.chance(0.7)) set("BiasTensor", {1, 1, directions, 2 * rows});
  if (random.chance(0.6)) set("HiddenInitTensor", {1, directions, shape.batch, shape.hidden});
  if (isLstm && random.chance(0.6)) set("CellMemInitTensor", {1, directions, shape.batch, shape.hidden});
  const bool hasLengths = random.chance(0.5);
  if (hasLengths) line.set("SequenceLengthsTensor", input({1, 1, 1, shape.batch}, DML_TENSOR_DATA_TYPE_UINT32));
  if (isLstm && random.chance(0.5)) set("PeepholeTensor", {1, 1, directions, 3 * shape.hidden});
  const auto output = [&](std::string_view name, uint32_t first) {
    const Sizes sizes = {first, directions, shape.batch, shape.hidden};
    line.set(name, plain ? TensorText{generator.type, sizes}
                         : generator.output(generator.type, sizes, generator.cycle() / 2 + tensors++));
  };
  const size_t outputs = random.below(3);  // both, the sequence, the single one
  if (outputs != 2) output("OutputSequenceTensor", shape.steps);
  if (outputs != 1) output("OutputSingleTensor", 1);
  if (isLstm && random.chance(0.6)) output("OutputCellSingleTensor", 1);
  std::string list;
  for (size_t i = 0; i < size_t{activations} * directions; ++i) {
    const std::string_view usual = activations > 1 && i % activations == 0 ? "SIGMOID" : "TANH";
    list += cat(list.empty() ? "" : ",",
                kind == Kind::Usual ? std::string(usual) : activationText(generator, generator.index() + 7 * i));
  }
  line.set("ActivationDescs", cat("(", list, ")")).set("Direction", kDirections[direction]);
  if (isLstm) {
    line.set("CoupleInputForget", random.chance(0.25) ? 1 : 0);
    if (random.chance(0.35)) line.set("UseClipThreshold", 1).set("ClipThreshold", realText(random, 0.2, 2));
  }
  if (type == DML_OPERATOR_GRU) line.set("LinearBeforeReset", generator.index() % 2);
  if (hasLengths && random.chance(0.2)) line.set("indices", "wild");
  constexpr std::string_view kFills[] = {"int", "float", "float", "float", "special"};
  generator.keep(std::move(line), random.pick(kFills));
}

}  // namespace

void generateRecurrent(Generator& generator) {
  Random& random = generator.random;
  while (generator.index() < kCasesPerType)
    addNetwork(generator, {random.size(1, 5), random.size(1, 4), random.size(1, 9), random.size(1, 9)},
               random.chance(0.2) ? Kind::Usual : Kind::Any);
  // Around the widths of tiles, and long. Few steps take the weights as they are.
  for (const uint32_t size : {15U, 16U, 17U, 33U, 64U}) {
    for (const uint32_t steps : {2U, 4U}) {
      addNetwork(generator, {steps, random.size(1, 3), size, random.size(1, 20)}, Kind::Plain);
      addNetwork(generator, {steps, random.size(1, 3), random.size(1, 20), size}, Kind::Plain);
    }
    for (const uint32_t batch : {1U, 5U, 16U, 33U})
      addNetwork(generator, {4, batch, random.size(1, 20), size}, batch % 2 ? Kind::Usual : Kind::Plain);
  }
  // Depths of which subgroups take one, two, four and eight matrices each.
  for (const uint32_t size : {80U, 144U, 264U, 520U}) addNetwork(generator, {5, 17, 3, size}, Kind::Usual);
  addNetwork(generator, {3, 19, 5, 7}, Kind::Plain);
  addNetwork(generator, {40, 2, 3, 5}, Kind::Plain);
  addNetwork(generator, {40, 18, 3, 24}, Kind::Usual);
  addNetwork(generator, {1, 1, 100003, 1}, Kind::Plain);
  addNetwork(generator, {1, 349529, 3, 1}, Kind::Plain);
  // Depths of whole parts and nearly all of another one, for few sequences and many.
  addNetwork(generator, {4, 3, 3, 472}, Kind::Usual);
  addNetwork(generator, {4, 17, 3, 233}, Kind::Usual);
  // Whole tiles, and depths of whole parts.
  addNetwork(generator, {4, 16, 3, 128}, Kind::Usual);
}

void generateAdam(Generator& generator) {
  Random& random = generator.random;
  const auto add = [&](const Sizes& sizes, bool plain) {
    Line line(generator.schema);
    size_t tensors = 0;
    for (const Field& field : generator.schema.fields) {
      if (field.type != FieldType::Tensor) continue;
      TensorText tensor{generator.type, sizes};
      const size_t cycle = generator.cycle() + tensors++ * 3;
      if (field.name == "TrainingStepTensor")
        tensor = {DML_TENSOR_DATA_TYPE_UINT32, Sizes(sizes.size(), 1)};
      else if (!plain && field.role == Role::Output)
        tensor = generator.output(generator.type, sizes, cycle);
      else if (!plain)
        tensor = generator.input(generator.type, sizes, cycle);
      if (!plain && field.role == Role::Input) generator.maybeOwn(tensor);
      line.set(field.name, tensor);
    }
    constexpr std::string_view kBetas[] = {"0.9", "0.999", "0.5", "0", "0.99", "0.25"};
    constexpr std::string_view kEpsilons[] = {"1e-8", "1.1920929e-7", "0.25", "1"};
    line.set("LearningRate", realText(random, 0.001, 1)).set("Beta1", random.pick(kBetas));
    line.set("Beta2", random.pick(kBetas)).set("Epsilon", random.pick(kEpsilons));
    generator.keep(std::move(line));
  };
  while (generator.index() < kCasesPerType) add(makeSizes(random, generator.rank(), logUniform(random, 2048)), false);
  for (const uint32_t size : {1U, 2U, 255U, 257U, 4097U, kLargeCount}) add({size}, true);
}

}  // namespace dimple::testing
