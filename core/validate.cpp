#include <algorithm>

#include "core/op_view.h"
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

// `name` is the field's, with an index if it is an array.
Result<Activation> parseActivation(const OpSchema& fusing, std::string_view name, const DML_OPERATOR_DESC& desc) {
  const OpSchema* schema = findSchema(desc.Type);
  if (!schema || !(schema->fusable || std::ranges::find(fusing.alsoFuses, desc.Type) != fusing.alsoFuses.end()))
    return invalid(cat(name, " has Type (",
                       schema ? cat("DML_OPERATOR_", schema->name) : std::to_string(static_cast<int>(desc.Type)),
                       "), expected an activation that can be fused."));
  if (!desc.Desc) return invalid(cat(name, " has a null Desc."));
  Activation activation{desc.Type, {}};
  size_t count = 0;
  for (const Field& f : schema->fields) {
    if (f.type == FieldType::Tensor && fieldValue<const DML_TENSOR_DESC*>(desc.Desc, f))
      return invalid(cat(name, ".", f.name, " is a tensor, expected null in a fused activation."));
    if (f.type == FieldType::ScaleBias)
      if (const auto* given = fieldValue<const DML_SCALE_BIAS*>(desc.Desc, f))
        return invalid(cat(name, ".", f.name, " has Scale (", given->Scale, ") and Bias (", given->Bias,
                           "), expected null in a fused activation."));
    if (f.type == FieldType::Float && count < activation.parameters.size())
      activation.parameters[count++] = fieldValue<FLOAT>(desc.Desc, f);
    if (f.type == FieldType::UIntArray) {
      const auto length = fieldValue<UINT>(desc.Desc, schema->fields[static_cast<size_t>(f.countField)]);
      const auto* values = fieldValue<const UINT*>(desc.Desc, f);
      if (length != 0 && !values) return invalid(cat(name, ".", f.name, " is null, expected ", length, " values."));
      activation.axes = {values, length};
    }
  }
  return activation;
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

}  // namespace

bool mayAlias(const OpView& view, size_t input, size_t output) {
  const Tensor& in = view.input(input);
  const Tensor& out = view.output(output);
  return view.schema().inPlace && byteWidth(in.type) == byteWidth(out.type) && sameSizes(in, out) &&
         in.strides == out.strides;
}

Result<OpView> validate(const DML_OPERATOR_DESC& desc) {
  const OpSchema* schema = findSchema(desc.Type);
  if (!schema)
    return invalid(cat("Type has value (", static_cast<uint32_t>(desc.Type),
                       "), which is no DML_OPERATOR_TYPE of feature level 6.4."));
  if (!desc.Desc) return invalid(cat("DML_OPERATOR_", schema->name, " has a null Desc."));

  OpView view;
  view.schema_ = schema;
  view.desc_ = desc.Desc;
  std::vector<std::string_view> ruleNames;
  std::vector<Tensor> firstTensors;

  const auto addTensor = [&](const Field& field, std::string name, const DML_TENSOR_DESC* given, size_t ruleIndex,
                             bool firstOfField) -> Status {
    Tensor tensor;
    if (given || !field.optional) {
      auto parsed = parseTensor(name, given);
      if (!parsed) return parsed.error();
      tensor = *parsed;
      const TensorRule& rule = schema->rules[ruleIndex];
      if (auto error = checkRule(rule, name, tensor)) return error;
      if (auto error = checkRelations(rule, name, tensor, ruleNames, firstTensors)) return error;
      if (field.role == Role::Output)
        if (auto error = checkOutput(name, tensor)) return error;
      if (tensor.ownedByDml && field.role == Role::Output)
        return invalid(cat(name, " has Flags (OWNED_BY_DML), expected NONE for an output."));
      if (tensor.ownedByDml && !rule.ownable)
        return invalid(cat(name, " has Flags (OWNED_BY_DML), expected NONE for this operator."));
    }
    if (firstOfField) {
      ruleNames.push_back(field.name);
      firstTensors.push_back(tensor);
    }
    auto& tensors = field.role == Role::Input ? view.inputs_ : view.outputs_;
    auto& names = field.role == Role::Input ? view.inputNames_ : view.outputNames_;
    tensors.push_back(tensor);
    names.push_back(std::move(name));
    return {};
  };

  size_t ruleIndex = 0;
  for (const Field& field : schema->fields) {
    if (field.type == FieldType::Tensor) {
      const auto* tensorDesc = fieldValue<const DML_TENSOR_DESC*>(desc.Desc, field);
      if (auto error = addTensor(field, std::string(field.name), tensorDesc, ruleIndex++, true)) return *error;
    } else if (field.type == FieldType::TensorArray) {
      const Field& countField = schema->fields[static_cast<size_t>(field.countField)];
      const UINT count = fieldValue<UINT>(desc.Desc, countField);
      const auto* array = fieldValue<const DML_TENSOR_DESC*>(desc.Desc, field);
      if (count == 0) return invalid(cat(countField.name, " has value (0), expected at least 1."));
      if (!array) return invalid(cat(field.name, " is null, expected ", count, " tensors (", countField.name, ")."));
      for (UINT i = 0; i < count; ++i)
        if (auto error = addTensor(field, cat(field.name, "[", i, "]"), &array[i], ruleIndex, i == 0)) return *error;
      ++ruleIndex;
    } else if (auto error = checkAttribute(*schema, desc.Desc, field)) {
      return *error;
    }
    if (field.type == FieldType::Operator) {
      if (const auto* fused = fieldValue<const DML_OPERATOR_DESC*>(desc.Desc, field)) {
        auto activation = parseActivation(*schema, field.name, *fused);
        if (!activation) return activation.error();
        view.activations_.push_back(*activation);
      }
    } else if (field.type == FieldType::OperatorArray) {
      const Field& countField = schema->fields[static_cast<size_t>(field.countField)];
      const UINT count = fieldValue<UINT>(desc.Desc, countField);
      const auto* array = fieldValue<const DML_OPERATOR_DESC*>(desc.Desc, field);
      if (count > kMaxActivations)
        return invalid(cat(countField.name, " has value (", count, "), expected at most ", kMaxActivations, "."));
      if (count != 0 && !array)
        return invalid(cat(field.name, " is null, expected ", count, " activations (", countField.name, ")."));
      for (UINT i = 0; i < count; ++i) {
        auto activation = parseActivation(*schema, cat(field.name, "[", i, "]"), array[i]);
        if (!activation) return activation.error();
        view.activations_.push_back(*activation);
      }
    }
  }
  if (schema->check)
    if (auto error = schema->check(view)) return *error;
  return view;
}

}  // namespace dimple
