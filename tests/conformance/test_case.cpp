#include "tests/conformance/test_case.h"

#include <fstream>

#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::testing {
namespace {

template <class T>
T valueOf(const void* desc, const Field& field) {
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(desc) + field.offset);
}

const DML_BUFFER_TENSOR_DESC* bufferOf(const DML_TENSOR_DESC* tensor) {
  return tensor ? static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc) : nullptr;
}

void collectTensors(TestCase& test) {
  const OpSchema& schema = test.desc.schema();
  const void* desc = test.desc.desc().Desc;
  for (const Field& field : schema.fields) {
    if (!isTensor(field)) continue;
    const auto* tensors = valueOf<const DML_TENSOR_DESC*>(desc, field);
    auto& target = field.role == Role::Input ? test.inputs : test.outputs;
    UINT count = 1;
    if (field.type == FieldType::TensorArray)
      count = valueOf<UINT>(desc, schema.fields[static_cast<size_t>(field.countField)]);
    for (UINT i = 0; i < count; ++i) {
      target.push_back(bufferOf(tensors ? tensors + i : nullptr));
      if (field.role == Role::Output) test.outputNames.emplace_back(field.name);
    }
  }
}

Status readExtra(TestCase& test, const std::string& key, const std::string& value) {
  const auto unexpected = [&](std::string_view expected) {
    return invalid(cat(key, " is \"", value, "\", expected ", expected, "."));
  };
  const auto indexed = [&](std::string_view prefix) -> std::optional<uint32_t> {
    return key.starts_with(prefix) ? parseNumber<uint32_t>(std::string_view(key).substr(prefix.size())) : std::nullopt;
  };
  if (key == "seed") {
    const auto seed = parseNumber<uint64_t>(value);
    if (!seed) return unexpected("an integer");
    test.seed = *seed;
  } else if (key == "fill") {
    if (value == "int")
      test.fill = FillKind::Int;
    else if (value == "float")
      test.fill = FillKind::Float;
    else if (value == "special")
      test.fill = FillKind::Special;
    else
      return unexpected("int, float or special");
  } else if (key == "indices") {
    if (value != "wild") return unexpected("wild");
    test.wildIndices = true;
  } else if (key == "inplace") {
    if (value != "0") return unexpected("0, the input whose memory the output shares");
    test.inPlace = true;
  } else if (key == "half") {
    if (value != "allowed") return unexpected("allowed");
    test.halfPrecision = true;
  } else if (key == "expect") {
    if (value != "refused") return unexpected("refused");
    test.refused = true;
  } else if (const auto input = indexed("input")) {
    test.givenInputs[*input] = value;
  } else if (const auto output = indexed("expect")) {
    test.givenOutputs[*output] = value;
  } else {
    return invalid(cat("There is no key ", key,
                       "; the keys are seed, fill, indices, input0.., expect0.., inplace, half and expect."));
  }
  return {};
}

}  // namespace

Result<TestCase> parseTestCase(std::string_view line) {
  auto text = parseCase(line);
  if (!text) return text.error();
  TestCase test{std::string(line), std::move(text->desc)};
  for (const auto& [key, value] : text->extras) TRY(readExtra(test, key, value));
  collectTensors(test);
  for (const auto& [index, values] : test.givenInputs)
    if (index >= test.inputs.size() || !test.inputs[index])
      return invalid(cat("input", index, " is given, but the operator has no such input."));
  for (const auto& [index, values] : test.givenOutputs)
    if (index >= test.outputs.size() || !test.outputs[index])
      return invalid(cat("expect", index, " is given, but the operator has no such output."));
  if (test.inPlace && (test.inputs.empty() || !test.inputs[0] || test.outputs.size() != 1))
    return invalid("inplace is given, but the operator has not one output beside its inputs.");
  return test;
}

Result<std::vector<std::string>> readCaseFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::NotFound, cat(path, " cannot be read.")};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (const auto comment = line.find(" #"); comment != line.npos) line.resize(comment);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace dimple::testing
