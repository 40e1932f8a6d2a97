#include "core/operation.h"

#include <algorithm>
#include <cstring>

#include "core/text.h"

namespace dimple {
namespace {

// LSTM takes most: three for each of two directions.
constexpr UINT kMaxActivations = 6;

template <class T>
const T& fieldValue(const void* desc, const Field& field) {
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(desc) + field.offset);
}

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

// A rule of a tensor array may refer to itself: elements after the first must then be like the first.
Status checkRelations(const TensorRule& rule, std::string_view name, const Tensor& tensor,
                      std::span<const std::string_view> ruleNames, std::span<const Tensor> firstTensors) {
  // The tensor that a rule refers to, or null if it is absent.
  const auto referred = [&](int8_t index) -> const Tensor* {
    if (index < 0 || static_cast<size_t>(index) >= firstTensors.size()) return nullptr;
    const Tensor& other = firstTensors[static_cast<size_t>(index)];
    return other.present() ? &other : nullptr;
  };
  const auto nameOf = [&](int8_t index) { return ruleNames[static_cast<size_t>(index)]; };
  if (const Tensor* other = referred(rule.as.type); other && other->type != tensor.type)
    return invalid(cat(name, " has DataType (", dataTypeName(tensor.type), "), expected that of ", nameOf(rule.as.type),
                       " (", dataTypeName(other->type), ")."));
  if (const Tensor* other = referred(rule.as.rank); other && other->rank != tensor.rank)
    return invalid(cat(name, " has DimensionCount (", tensor.rank, "), expected that of ", nameOf(rule.as.rank), " (",
                       other->rank, ")."));
  if (const Tensor* other = referred(rule.as.sizes); other && !sameSizes(*other, tensor))
    return invalid(cat(name, " has Sizes (", listText(tensor.sizeSpan()), "), expected those of ",
                       nameOf(rule.as.sizes), " (", listText(other->sizeSpan()), ")."));
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
      const auto length = fieldValue<UINT>(desc, schema.fields[static_cast<size_t>(f.countField)]);
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
      const UINT count = fieldValue<UINT>(desc, schema.fields[static_cast<size_t>(field.countField)]);
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
    case FieldType::Tensor:
    case FieldType::TensorArray:
    case FieldType::Operator:
    case FieldType::OperatorArray:
    case FieldType::UInt:
    case FieldType::Int:
    case FieldType::Float:
    case FieldType::Bool:
    case FieldType::ScaleBias:
    case FieldType::Scalar:
    case FieldType::Size2D:
      return {};
  }
  return {};
}

// Checks the tensors of an operation, in the order of its schema's fields, against their rules and each other.
class TensorChecker {
 public:
  explicit TensorChecker(const OpSchema& schema) : schema_(schema) {}

  // The next tensor; of an array the first one is `firstOfField`.
  Status check(const Field& field, std::string_view name, const Tensor& tensor, bool firstOfField) {
    if (firstOfField) ++rule_;
    if (tensor.present()) {
      const TensorRule& rule = schema_.rules[rule_ - 1];
      TRY(checkRule(rule, name, tensor));
      TRY(checkRelations(rule, name, tensor, names_, firsts_));
      if (field.role == Role::Output) TRY(checkOutput(name, tensor));
      if (tensor.ownedByDml && field.role == Role::Output)
        return invalid(cat(name, " has Flags (OWNED_BY_DML), expected NONE for an output."));
      if (tensor.ownedByDml && !rule.ownable)
        return invalid(cat(name, " has Flags (OWNED_BY_DML), expected NONE for this operator."));
    }
    if (firstOfField) {
      names_.push_back(field.name);
      firsts_.push_back(tensor);
    }
    return {};
  }

 private:
  const OpSchema& schema_;
  size_t rule_ = 0;  // behind that of the field at hand
  std::vector<std::string_view> names_;
  std::vector<Tensor> firsts_;
};

bool isTensor(const Field& field) { return field.type == FieldType::Tensor || field.type == FieldType::TensorArray; }

// Reads a description, field by field.
class OperationParser {
 public:
  OperationParser(const OpSchema& schema, const void* desc) : schema_(schema), desc_(desc) {}

  Status parse() {
    for (const Field& field : schema_.fields) TRY(parseField(field));
    return {};
  }

  std::vector<Tensor> inputs, outputs;
  std::vector<std::string> inputNames, outputNames;
  std::vector<Activation> activations;

 private:
  Status parseField(const Field& field) {
    switch (field.type) {
      case FieldType::Tensor:
        return parseTensorOf(field, std::string(field.name), fieldValue<const DML_TENSOR_DESC*>(desc_, field), true);
      case FieldType::TensorArray:
        return parseTensors(field);
      case FieldType::Operator:
        if (const auto* fused = fieldValue<const DML_OPERATOR_DESC*>(desc_, field))
          return parseActivationOf(field.name, *fused);
        return {};
      case FieldType::OperatorArray:
        return parseActivations(field);
      default:
        return checkAttribute(schema_, desc_, field);
    }
  }

  UINT countOf(const Field& field) const {
    return fieldValue<UINT>(desc_, schema_.fields[static_cast<size_t>(field.countField)]);
  }
  std::string_view countName(const Field& field) const {
    return schema_.fields[static_cast<size_t>(field.countField)].name;
  }

  Status parseTensorOf(const Field& field, std::string name, const DML_TENSOR_DESC* given, bool firstOfField) {
    Tensor tensor;
    if (given || !field.optional) {
      auto parsed = parseTensor(name, given);
      TRY(parsed);
      tensor = *parsed;
    }
    TRY(checker_.check(field, name, tensor, firstOfField));
    (field.role == Role::Input ? inputs : outputs).push_back(tensor);
    (field.role == Role::Input ? inputNames : outputNames).push_back(std::move(name));
    return {};
  }

  Status parseTensors(const Field& field) {
    const UINT count = countOf(field);
    const auto* array = fieldValue<const DML_TENSOR_DESC*>(desc_, field);
    if (count == 0) return invalid(cat(countName(field), " has value (0), expected at least 1."));
    if (!array) return invalid(cat(field.name, " is null, expected ", count, " tensors (", countName(field), ")."));
    for (UINT i = 0; i < count; ++i) TRY(parseTensorOf(field, cat(field.name, "[", i, "]"), &array[i], i == 0));
    return {};
  }

  Status parseActivationOf(std::string_view name, const DML_OPERATOR_DESC& fused) {
    auto activation = parseActivation(schema_, name, fused);
    TRY(activation);
    activations.push_back(std::move(*activation));
    return {};
  }

  Status parseActivations(const Field& field) {
    const UINT count = countOf(field);
    const auto* array = fieldValue<const DML_OPERATOR_DESC*>(desc_, field);
    if (count > kMaxActivations)
      return invalid(cat(countName(field), " has value (", count, "), expected at most ", kMaxActivations, "."));
    if (count != 0 && !array)
      return invalid(cat(field.name, " is null, expected ", count, " activations (", countName(field), ")."));
    for (UINT i = 0; i < count; ++i) TRY(parseActivationOf(cat(field.name, "[", i, "]"), array[i]));
    return {};
  }

  const OpSchema& schema_;
  const void* desc_;
  TensorChecker checker_{schema_};
};

// The attributes of a description alone, as they are shared.
std::shared_ptr<const void> attributesOf(const OpSchema& schema, const void* desc) {
  const auto owned = std::make_shared<const OwnedDesc>(OwnedDesc::attributesOf(schema, desc));
  return {owned, owned->desc().Desc};
}

}  // namespace

bool mayAlias(const Operation& op, size_t input, size_t output) {
  const Tensor& in = op.input(input);
  const Tensor& out = op.output(output);
  return op.schema().inPlace && byteWidth(in.type) == byteWidth(out.type) && sameSizes(in, out) &&
         in.strides == out.strides;
}

Operation::Operation(const OpSchema& schema, std::shared_ptr<const void> attributes, std::vector<Tensor> inputs,
                     std::vector<std::string> inputNames, std::vector<Tensor> outputs,
                     std::vector<std::string> outputNames)
    : shared_(std::make_shared<const Shared>(
          Shared{&schema, std::move(attributes), std::move(inputNames), std::move(outputNames)})),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)) {}

Result<Operation> Operation::parse(const DML_OPERATOR_DESC& desc) {
  const OpSchema* schema = findSchema(desc.Type);
  if (!schema)
    return invalid(cat("Type has value (", static_cast<uint32_t>(desc.Type),
                       "), which is no DML_OPERATOR_TYPE of feature level 6.4."));
  if (!desc.Desc) return invalid(cat("DML_OPERATOR_", schema->name, " has a null Desc."));
  OperationParser parser(*schema, desc.Desc);
  TRY(parser.parse());
  Operation op(*schema, attributesOf(*schema, desc.Desc), std::move(parser.inputs), std::move(parser.inputNames),
               std::move(parser.outputs), std::move(parser.outputNames));
  op.activations_ = std::move(parser.activations);
  if (schema->check) TRY(schema->check(op));
  return op;
}

Result<Operation> Operation::make(const DML_OPERATOR_DESC& attributes, std::vector<Tensor> inputs,
                                  std::vector<Tensor> outputs) {
  const OpSchema& schema = *findSchema(attributes.Type);
  std::vector<std::string> inputNames, outputNames;
  for (const Field& field : schema.fields) {
    auto& names = field.role == Role::Input ? inputNames : outputNames;
    if (field.type == FieldType::Tensor) names.emplace_back(field.name);
    if (field.type != FieldType::TensorArray) continue;
    const auto count = fieldValue<UINT>(attributes.Desc, schema.fields[static_cast<size_t>(field.countField)]);
    for (UINT i = 0; i < count; ++i) names.push_back(cat(field.name, "[", i, "]"));
  }
  Operation op(schema, attributesOf(schema, attributes.Desc), std::move(inputs), std::move(inputNames),
               std::move(outputs), std::move(outputNames));
  TRY(op.check());
  return op;
}

Status Operation::setStrides(Role role, size_t index, std::span<const uint32_t> strides, uint64_t totalBytes) {
  Tensor& tensor = (role == Role::Input ? inputs_ : outputs_)[index];
  auto changed = withStrides(tensor, strides, totalBytes);
  TRY(changed);
  tensor = *changed;
  return {};
}

Status Operation::fuse(const Operation& activation) {
  constexpr std::string_view kName = "FusedActivation";
  if (!findField(schema(), FieldType::Operator) || !activations_.empty())
    return invalid(cat(schema().name, " has no FusedActivation that is free."));
  TRY(checkFusable(schema(), kName, activation.schema().type));
  auto parsed = parseActivation(kName, activation.schema(), activation.shared_->attributes.get());
  TRY(parsed);
  activations_.push_back(std::move(*parsed));
  return {};
}

void Operation::setFieldBytes(const Field& f, const void* value, size_t bytes) {
  auto owned = std::make_shared<OwnedDesc>(OwnedDesc::attributesOf(schema(), shared_->attributes.get()));
  std::memcpy(&owned->field<std::byte>(f), value, bytes);
  Shared changed = *shared_;
  changed.attributes = {owned, owned->desc().Desc};
  shared_ = std::make_shared<const Shared>(std::move(changed));
}

Status Operation::check() const {
  // What no description says has no rules.
  if (schema().fields.empty()) return {};
  TensorChecker checker(schema());
  std::array<size_t, 2> next{};
  for (const Field& field : schema().fields) {
    if (!isTensor(field)) continue;
    const bool isInput = field.role == Role::Input;
    const size_t count =
        field.type == FieldType::Tensor ? 1 : this->field<UINT>(schema().fields[static_cast<size_t>(field.countField)]);
    for (size_t i = 0; i < count; ++i) {
      const size_t at = next[isInput]++;
      TRY(checker.check(field, isInput ? inputName(at) : outputName(at), isInput ? inputs_[at] : outputs_[at], i == 0));
    }
  }
  return schema().check ? schema().check(*this) : Status();
}

}  // namespace dimple
