#include "core/operation.h"

#include <algorithm>
#include <cstring>

#include "core/text.h"

namespace dimple {
namespace {

// LSTM takes the most: three for each of two directions.
constexpr UINT kMaxActivations = 6;

std::string typeListText(TypeSet types) {
  std::string out;
  for (uint32_t t = 0; t < 32; ++t)
    if (types & (1u << t)) out += cat(out.empty() ? "" : ", ", dataTypeName(static_cast<DataType>(t)));
  return out;
}

Status checkRule(const TensorRule& rule, std::string_view name, const Tensor& tensor) {
  if (!(rule.types() & typeBit(tensor.type)))
    return invalid(cat(name, " has DataType (", dataTypeName(tensor.type), "), expected one of ",
                       typeListText(rule.types()), "."));
  if (tensor.rank < rule.minRank() || tensor.rank > rule.maxRank())
    return invalid(
        cat(name, " has DimensionCount (", tensor.rank, "), outside ", rule.minRank(), "..", rule.maxRank(), "."));
  return {};
}

// An output whose coordinates provably share elements has no defined value. Overlaps that take more than these rules to
// see are accepted, as DirectML accepts them.
Status checkOutput(std::string_view name, const Tensor& tensor) {
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    if (tensor.sizes[d] == 1) continue;
    if (tensor.strides[d] == 0)
      return invalid(cat(name, " has Strides[", d, "] (0) for Sizes[", d, "] (", tensor.sizes[d],
                         "), expected an output without broadcast."));
    for (uint32_t e = 0; e < d; ++e)
      if (tensor.sizes[e] != 1 && tensor.strides[e] == tensor.strides[d])
        return invalid(cat(name, " has Strides[", e, "] and Strides[", d, "] (", tensor.strides[d],
                           "), expected different strides of an output."));
  }
  if (tensor.extent < tensor.elements)
    return invalid(cat(name, " has Strides (", listText(tensor.strideSpan()), ") that span ", tensor.extent,
                       " elements, expected at least ", tensor.elements, ", one for each coordinate."));
  return {};
}

// The limit is checked before an array is read. An array has one element per dimension, or it has axes, which may
// repeat.
Status checkLength(const OpSchema& schema, const Field& array, UINT count) {
  constexpr UINT kMaxLength = 64;
  if (count <= kMaxLength) return {};
  return invalid(cat(schema.fields[static_cast<size_t>(array.countField)].name, " has value (", count,
                     "), expected at most ", kMaxLength, "."));
}

// Which operators `fusing` may fuse. `name` is the field's, with an index if it is an array.
Status checkFusable(const OpSchema& fusing, std::string_view name, DML_OPERATOR_TYPE type) {
  const OpSchema* schema = findSchema(type);
  if (schema && (schema->fusable || std::ranges::find(fusing.alsoFuses, type) != fusing.alsoFuses.end())) return {};
  return invalid(cat(name, " has Type (",
                     schema ? cat("DML_OPERATOR_", schema->name) : std::to_string(static_cast<int>(type)),
                     "), expected an activation that can be fused."));
}

// The attributes of an activation that is fused.
Result<Activation> parseActivation(std::string_view name, const OpSchema& schema, const void* desc) {
  Activation activation{schema.type};
  size_t count = 0;
  for (const Field& f : schema.fields) {
    if (f.type == FieldType::ScaleBias)
      if (const auto* given = fieldValue<const DML_SCALE_BIAS*>(desc, f))
        return invalid(cat(name, ".", f.name, " has Scale (", given->Scale, ") and Bias (", given->Bias,
                           "), expected null in a fused activation."));
    if (f.type == FieldType::Float && count < activation.parameters.size())
      activation.parameters[count++] = fieldValue<FLOAT>(desc, f);
    if (f.type == FieldType::UIntArray) {
      const UINT length = countOf(schema, desc, f);
      TRY(checkLength(schema, f, length));
      const auto* values = fieldValue<const UINT*>(desc, f);
      if (length != 0 && !values) return invalid(cat(name, ".", f.name, " is null, expected ", length, " values."));
      activation.axes.assign(values, values + length);
    }
  }
  return activation;
}

Result<Activation> parseActivation(const OpSchema& fusing, std::string_view name, const DML_OPERATOR_DESC& desc) {
  TRY(checkFusable(fusing, name, desc.Type));
  if (!desc.Desc) return invalid(cat(name, " has a null Desc."));
  const OpSchema& schema = *findSchema(desc.Type);
  for (const Field& f : schema.fields)
    if (f.type == FieldType::Tensor && fieldValue<const DML_TENSOR_DESC*>(desc.Desc, f))
      return invalid(cat(name, ".", f.name, " is a tensor, expected null in a fused activation."));
  return parseActivation(name, schema, desc.Desc);
}

Status checkAttribute(const OpSchema& schema, const void* desc, const Field& field) {
  switch (field.type) {
    case FieldType::UIntArray:
    case FieldType::IntArray:
    case FieldType::FloatArray: {
      const UINT count = countOf(schema, desc, field);
      TRY(checkLength(schema, field, count));
      if (count != 0 && !fieldValue<const void*>(desc, field) && !field.optional)
        return invalid(cat(field.name, " is null, expected ", count, " values (",
                           schema.fields[static_cast<size_t>(field.countField)].name, ")."));
      return {};
    }
    case FieldType::Enum: {
      const auto value = fieldValue<uint32_t>(desc, field);
      if (value >= field.values->names.size())
        return invalid(cat(field.name, " has value (", value, "), expected one of ", field.values->prefix, "* (0..",
                           field.values->names.size() - 1, ")."));
      return {};
    }
    default:
      return {};
  }
}

// Checks what kernels with an epilogue require of the layouts of results, addends and parameters of channels.
Status checkEpilogue(const Operation& op) {
  const Epilogue& epilogue = op.epilogue();
  if (epilogue.steps == 0) return {};
  constexpr DML_OPERATOR_TYPE kOfRows[] = {DML_OPERATOR_ACTIVATION_SOFTMAX, DML_OPERATOR_ACTIVATION_SOFTMAX1};
  if (std::ranges::find(kOfRows, op.activation().type) != std::end(kOfRows))
    return invalid(cat(op.schema().name, " has an epilogue, expected an activation of single elements after it."));
  if ((epilogue.steps & (kEpilogueAddsC | kEpilogueAddsFloats | kEpiloguePositive | kEpilogueClips)) != 0) return {};
  if (epilogue.addend != 0 && !sameLayout(op.input(epilogue.addend), op.output()))
    return invalid(cat(op.inputName(epilogue.addend), " has other Sizes or Strides than ", op.outputName(0), "."));
  const Tensor& bias = op.input(kEpilogueBias);
  for (uint32_t d = 0; epilogue.channels != 0 && d < bias.rank; ++d)
    if (bias.sizes[d] > 1 && bias.strides[d] != (d == epilogue.channel ? 1 : 0))
      return invalid(cat(op.inputName(kEpilogueBias), " has Strides (", listText(bias.strideSpan()),
                         "), expected one element per channel, side by side."));
  return {};
}

// How many tensors of an operation a field describes.
size_t tensorsOf(const OpSchema& schema, const void* attributes, const Field& field) {
  if (field.type == FieldType::TensorArray) return countOf(schema, attributes, field);
  return field.type == FieldType::Tensor ? 1 : 0;
}

}  // namespace

// Checks the tensors of an operation, in the order of its schema's fields, against their rules and each other.
class Operation::TensorChecker {
 public:
  explicit TensorChecker(const Operation& op) : op_(op) { firsts_.reserve(op.schema().rules.size()); }

  // Checks the next tensor. `isFirst` says whether it is the first one of its field.
  Status check(const Field& field, std::string_view name, bool isFirst) {
    const bool isOutput = field.role == Role::Output;
    const size_t index = next_[isOutput]++;
    if (isFirst) firsts_.push_back({&field, index});
    const Tensor& tensor = tensorOf({&field, index});
    if (!tensor.present()) return {};
    const TensorRule& rule = op_.schema().rules[firsts_.size() - 1];
    TRY(checkRule(rule, name, tensor));
    TRY(checkRelations(rule, name, tensor));
    if (isOutput) TRY(checkOutput(name, tensor));
    if (tensor.ownedByDml && isOutput)
      return invalid(cat(name, " has Flags (OWNED_BY_DML), expected NONE for an output."));
    if (tensor.ownedByDml && !rule.ownable)
      return invalid(cat(name, " has Flags (OWNED_BY_DML), expected NONE for this operator."));
    return {};
  }

 private:
  // The first tensor of a field, by its index in its role.
  struct First {
    const Field* field;
    size_t index;
  };

  const Tensor& tensorOf(const First& at) const {
    return at.field->role == Role::Output ? op_.output(at.index) : op_.input(at.index);
  }

  // A rule of a tensor array may refer to itself: its elements must then be like the first.
  Status checkRelations(const TensorRule& rule, std::string_view name, const Tensor& tensor) const {
    // The tensor that a rule refers to, or null if it is absent.
    const auto referred = [&](int8_t index) -> const Tensor* {
      if (index < 0 || static_cast<size_t>(index) >= firsts_.size()) return nullptr;
      const Tensor& other = tensorOf(firsts_[static_cast<size_t>(index)]);
      return other.present() ? &other : nullptr;
    };
    const auto nameOf = [&](int8_t index) { return firsts_[static_cast<size_t>(index)].field->name; };
    if (const Tensor* other = referred(rule.as.type); other && other->type != tensor.type)
      return invalid(cat(name, " has DataType (", dataTypeName(tensor.type), "), expected that of ",
                         nameOf(rule.as.type), " (", dataTypeName(other->type), ")."));
    if (const Tensor* other = referred(rule.as.rank); other && other->rank != tensor.rank)
      return invalid(cat(name, " has DimensionCount (", tensor.rank, "), expected that of ", nameOf(rule.as.rank), " (",
                         other->rank, ")."));
    if (const Tensor* other = referred(rule.as.sizes); other && !sameSizes(*other, tensor))
      return invalid(cat(name, " has Sizes (", listText(tensor.sizeSpan()), "), expected those of ",
                         nameOf(rule.as.sizes), " (", listText(other->sizeSpan()), ")."));
    return {};
  }

  const Operation& op_;
  std::array<size_t, 2> next_{};
  std::vector<First> firsts_;  // by rule
};

// Reads a description, field by field.
class Operation::Parser {
 public:
  Parser(Operation& op, const void* desc) : op_(op), desc_(desc), checker_(op) {}

  Status parse() {
    for (const Role role : {Role::Input, Role::Output}) op_.tensors(role).reserve(op_.schema().rules.size());
    for (const Field& field : op_.schema().fields) TRY(parseField(field));
    return {};
  }

 private:
  Status parseField(const Field& field) {
    switch (field.type) {
      case FieldType::Tensor:
        return parseTensorOf(field, field.name, fieldValue<const DML_TENSOR_DESC*>(desc_, field), true);
      case FieldType::TensorArray:
        return parseTensors(field);
      case FieldType::Operator:
        if (const auto* fused = fieldValue<const DML_OPERATOR_DESC*>(desc_, field))
          return parseActivationOf(field.name, *fused);
        return {};
      case FieldType::OperatorArray:
        return parseActivations(field);
      default:
        return checkAttribute(op_.schema(), desc_, field);
    }
  }

  std::string_view countName(const Field& field) const {
    return op_.schema().fields[static_cast<size_t>(field.countField)].name;
  }

  Status parseTensorOf(const Field& field, std::string_view name, const DML_TENSOR_DESC* given, bool isFirst) {
    Tensor& tensor = op_.tensors(field.role).emplace_back();
    if (given || !field.optional) {
      auto parsed = parseTensor(name, given);
      TRY(parsed);
      tensor = *parsed;
    }
    return checker_.check(field, name, isFirst);
  }

  Status parseTensors(const Field& field) {
    const UINT count = countOf(op_.schema(), desc_, field);
    const auto* array = fieldValue<const DML_TENSOR_DESC*>(desc_, field);
    if (count == 0) return invalid(cat(countName(field), " has value (0), expected at least 1."));
    if (!array) return invalid(cat(field.name, " is null, expected ", count, " tensors (", countName(field), ")."));
    for (UINT i = 0; i < count; ++i) TRY(parseTensorOf(field, dimple::tensorName(field, i), &array[i], i == 0));
    return {};
  }

  Status parseActivationOf(std::string_view name, const DML_OPERATOR_DESC& fused) {
    auto activation = parseActivation(op_.schema(), name, fused);
    TRY(activation);
    op_.activations_.push_back(std::move(*activation));
    return {};
  }

  Status parseActivations(const Field& field) {
    const UINT count = countOf(op_.schema(), desc_, field);
    const auto* array = fieldValue<const DML_OPERATOR_DESC*>(desc_, field);
    if (count > kMaxActivations)
      return invalid(cat(countName(field), " has value (", count, "), expected at most ", kMaxActivations, "."));
    if (count != 0 && !array)
      return invalid(cat(field.name, " is null, expected ", count, " activations (", countName(field), ")."));
    for (UINT i = 0; i < count; ++i) TRY(parseActivationOf(cat(field.name, "[", i, "]"), array[i]));
    return {};
  }

  Operation& op_;
  const void* desc_;
  TensorChecker checker_;
};

bool mayAlias(const Operation& op, size_t input, size_t output) {
  const Tensor& in = op.input(input);
  const Tensor& out = op.output(output);
  return op.schema().inPlace && byteWidth(in.type) == byteWidth(out.type) && sameSizes(in, out) &&
         in.strides == out.strides;
}

Result<Operation> Operation::parse(const DML_OPERATOR_DESC& desc) {
  const OpSchema* schema = findSchema(desc.Type);
  if (!schema)
    return invalid(cat("Type has value (", static_cast<uint32_t>(desc.Type),
                       "), which is not a DML_OPERATOR_TYPE of feature level 6.4."));
  if (!desc.Desc) return invalid(cat("DML_OPERATOR_", schema->name, " has a null Desc."));
  Operation op(*schema);
  TRY(Parser(op, desc.Desc).parse());
  op.attributes_ = copyAttributes(*schema, desc.Desc);
  if (schema->check) TRY(schema->check(op));
  return op;
}

Result<Operation> Operation::make(const DML_OPERATOR_DESC& attributes, std::vector<Tensor> inputs,
                                  std::vector<Tensor> outputs) {
  Operation op(*findSchema(attributes.Type));
  op.attributes_ = copyAttributes(op.schema(), attributes.Desc);
  op.inputs_ = std::move(inputs);
  op.outputs_ = std::move(outputs);
  TRY(op.check());
  return op;
}

std::string Operation::tensorName(Role role, size_t index) const {
  if (names_) return (role == Role::Input ? names_->inputs : names_->outputs)[index];
  return dimple::tensorName(schema(), role, index, (role == Role::Input ? inputs_ : outputs_).size());
}

Status Operation::setStrides(Role role, size_t index, std::span<const uint32_t> strides, uint64_t totalBytes) {
  Tensor& tensor = tensors(role)[index];
  auto changed = withStrides(tensor, strides, totalBytes);
  TRY(changed);
  tensor = *changed;
  return {};
}

Status Operation::fuse(const Operation& activation) {
  constexpr std::string_view kName = "FusedActivation";
  if (!findField(schema(), FieldType::Operator) || !activations_.empty())
    return invalid(cat(schema().name, " has no free FusedActivation."));
  TRY(checkFusable(schema(), kName, activation.schema().type));
  auto parsed = parseActivation(kName, activation.schema(), activation.attributes_.get());
  TRY(parsed);
  activations_.push_back(std::move(*parsed));
  return {};
}

void Operation::setFieldBytes(const Field& f, const void* value, size_t bytes) {
  const std::shared_ptr<void> changed = copyAttributes(schema(), attributes_.get());
  std::memcpy(static_cast<std::byte*>(changed.get()) + f.offset, value, bytes);
  attributes_ = changed;
}

size_t Operation::addInput(const Tensor& tensor, std::string name) {
  TensorNames names;
  for (size_t i = 0; i < inputs_.size(); ++i) names.inputs.push_back(inputName(i));
  for (size_t o = 0; o < outputs_.size(); ++o) names.outputs.push_back(outputName(o));
  names.inputs.push_back(std::move(name));
  names_ = std::make_shared<const TensorNames>(std::move(names));
  inputs_.push_back(tensor);
  return inputs_.size() - 1;
}

Status Operation::check() const {
  // An operation that no description describes has no fields.
  TensorChecker checker(*this);
  for (const Field& field : schema().fields)
    for (size_t i = 0, count = tensorsOf(schema(), attributes_.get(), field); i < count; ++i)
      TRY(checker.check(field, dimple::tensorName(field, i), i == 0));
  TRY(checkEpilogue(*this));
  return schema().check ? schema().check(*this) : Status();
}

}  // namespace dimple
