// The schema against DirectML.h, and against what the documentation says of data types and ranks.
#include <doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "core/operation.h"
#include "core/schema/desc_text.h"
#include "core/text.h"

namespace dimple::testing {
namespace {

// ---- DirectML.h -----------------------------------------------------------------------------------------------------

struct HeaderField {
  std::string type;
  std::string name;
  std::string count;  // of an array
  bool optional = false;
};

struct Header {
  std::map<std::string, std::vector<HeaderField>> structures;  // by the operator's name
  std::map<std::string, std::vector<std::string>> enumerations;

  static Header read() {
    std::ifstream file(DIMPLE_DIRECTML_HEADER);
    std::stringstream stream;
    stream << file.rdbuf();
    const std::string text = std::regex_replace(stream.str(), std::regex("//[^\n]*|#[^\n]*"), "");
    Header header;
    const std::regex structure("struct DML_(\\w+)_OPERATOR_DESC\\s*\\{([^}]*)\\}");
    for (std::sregex_iterator i(text.begin(), text.end(), structure), end; i != end; ++i)
      header.structures[(*i)[1]] = fields((*i)[2]);
    const std::regex enumeration("enum (DML_\\w+)\\s*\\{([^}]*)\\}");
    const std::regex enumerator("[A-Z]\\w+");
    for (std::sregex_iterator i(text.begin(), text.end(), enumeration), end; i != end; ++i) {
      const std::string body = (*i)[2];
      auto& names = header.enumerations[(*i)[1]];
      for (std::sregex_iterator e(body.begin(), body.end(), enumerator), none; e != none; ++e)
        names.push_back(e->str());
    }
    return header;
  }

 private:
  static std::vector<HeaderField> fields(const std::string& body) {
    std::vector<HeaderField> result;
    const std::regex field("\\s*(_Maybenull_\\s+)?(_Field_size_\\((\\w+)\\)\\s+)?([\\w\\s*]+?)\\s*(\\w+)\\s*;");
    for (std::sregex_iterator i(body.begin(), body.end(), field), end; i != end; ++i) {
      result.push_back({std::regex_replace((*i)[4].str(), std::regex("\\s+"), " "), (*i)[5], (*i)[3], (*i)[1].matched});
    }
    return result;
  }
};

// The C types of a kind of field, and how many bytes one takes.
struct CType {
  std::vector<std::string> names;
  size_t bytes;
  size_t alignment;
};

CType cTypeOf(const Field& field) {
  const size_t pointer = sizeof(void*);
  switch (field.type) {
    case FieldType::Tensor:
    case FieldType::TensorArray:
      return {{"const DML_TENSOR_DESC*"}, pointer, pointer};
    case FieldType::Operator:
    case FieldType::OperatorArray:
      return {{"const DML_OPERATOR_DESC*"}, pointer, pointer};
    case FieldType::UIntArray:
      return {{"const UINT*"}, pointer, pointer};
    case FieldType::IntArray:
      return {{"const INT*"}, pointer, pointer};
    case FieldType::FloatArray:
      return {{"const FLOAT*"}, pointer, pointer};
    case FieldType::ScaleBias:
      return {{"const DML_SCALE_BIAS*"}, pointer, pointer};
    case FieldType::UInt:
      return {{"UINT"}, 4, 4};
    case FieldType::Int:
      return {{"INT"}, 4, 4};
    case FieldType::Float:
      return {{"FLOAT", "float"}, 4, 4};
    case FieldType::Bool:
      return {{"BOOL"}, 4, 4};
    case FieldType::Enum: {
      std::string name(field.values->prefix);
      name.pop_back();
      return {{name}, 4, 4};
    }
    case FieldType::Scalar:
      return {{"DML_SCALAR_UNION"}, sizeof(DML_SCALAR_UNION), alignof(DML_SCALAR_UNION)};
    case FieldType::Size2D:
      return {{"DML_SIZE_2D"}, sizeof(DML_SIZE_2D), alignof(DML_SIZE_2D)};
  }
  return {};
}

// The structure of SCATTER_ELEMENTS has the name that the operator had first.
std::string structureOf(const OpSchema& schema) {
  return schema.type == DML_OPERATOR_SCATTER_ELEMENTS ? "SCATTER" : std::string(schema.name);
}

TEST_CASE("every operator of DirectML.h has a schema with the fields of its structure") {
  const Header header = Header::read();
  CHECK(header.structures.size() == 177);
  CHECK(allSchemas().size() == 177);
  const auto& types = header.enumerations.at("DML_OPERATOR_TYPE");
  for (const std::string& name : types)
    if (name != "DML_OPERATOR_INVALID" && name != "DML_OPERATOR_SCATTER") CHECK_MESSAGE(findSchema(name), name);

  for (const OpSchema* schema : allSchemas()) {
    CAPTURE(schema->name);
    const auto found = header.structures.find(structureOf(*schema));
    REQUIRE(found != header.structures.end());
    const auto& fields = found->second;
    REQUIRE(schema->fields.size() == fields.size());
    size_t end = 0;
    size_t largest = 1;
    for (size_t i = 0; i < fields.size(); ++i) {
      const Field& field = schema->fields[i];
      CAPTURE(field.name);
      CHECK(field.name == fields[i].name);
      const CType type = cTypeOf(field);
      CHECK_MESSAGE(std::find(type.names.begin(), type.names.end(), fields[i].type) != type.names.end(),
                    fields[i].type);
      CHECK(field.optional == fields[i].optional);
      CHECK((field.countField < 0 ? "" : std::string(schema->fields[static_cast<size_t>(field.countField)].name)) ==
            fields[i].count);
      end = (end + type.alignment - 1) / type.alignment * type.alignment;
      CHECK(field.offset == end);
      end += type.bytes;
      largest = std::max(largest, type.alignment);
    }
    CHECK(schema->descBytes == (end + largest - 1) / largest * largest);
  }
}

TEST_CASE("enumerations are those of DirectML.h") {
  const Header header = Header::read();
  std::map<std::string, const EnumTable*> tables;
  for (const OpSchema* schema : allSchemas())
    for (const Field& field : schema->fields)
      if (field.type == FieldType::Enum) tables[std::string(field.values->prefix)] = field.values;
  CHECK(tables.size() == 15);
  for (const auto& entry : tables) {
    const std::string& prefix = entry.first;
    const EnumTable* const table = entry.second;
    CAPTURE(prefix);
    const auto& names = header.enumerations.at(prefix.substr(0, prefix.size() - 1));
    REQUIRE(names.size() == table->names.size());
    for (size_t i = 0; i < names.size(); ++i) CHECK(names[i] == prefix + std::string(table->names[i]));
  }
}

// ---- the documentation ----------------------------------------------------------------------------------------------

using nlohmann::json;

// Where DirectML 1.15.4 takes other data types or ranks than the documentation says. The schema follows it.
struct Deviation {
  std::string_view name;  // of the operator
  std::string_view tensor;
  std::string_view reason;
};
constexpr Deviation kDeviations[] = {
    {"REDUCE", "InputTensor", "differs by function: see the next test case"},
    {"REDUCE", "OutputTensor", "differs by function: see the next test case"},
    {"ADAM_OPTIMIZER", "InputParametersTensor", "DirectML takes any rank"},
    {"ADAM_OPTIMIZER", "InputFirstMomentTensor", "DirectML takes any rank"},
    {"ADAM_OPTIMIZER", "InputSecondMomentTensor", "DirectML takes any rank"},
    {"ADAM_OPTIMIZER", "GradientTensor", "DirectML takes any rank"},
    {"ADAM_OPTIMIZER", "TrainingStepTensor", "DirectML takes any rank"},
    {"ADAM_OPTIMIZER", "OutputParametersTensor", "DirectML takes any rank"},
    {"ADAM_OPTIMIZER", "OutputFirstMomentTensor", "DirectML takes any rank"},
    {"ADAM_OPTIMIZER", "OutputSecondMomentTensor", "DirectML takes any rank"},
    {"FOLD", "InputTensor", "the page lists no types; DirectML takes 3 dimensions"},
    {"FOLD", "OutputTensor", "the page lists no types"},
    {"MULTIHEAD_ATTENTION1", "PastSequenceLengthsTensor", "DirectML takes INT32 alone"},
    {"UNFOLD", "InputTensor", "the page lists no types"},
    {"UNFOLD", "OutputTensor", "the page lists no types; DirectML takes 3 dimensions"},
    {"TILE", "InputTensor", "takes FLOAT64"},
    {"TILE", "OutputTensor", "takes FLOAT64"},
};

TypeSet typesOf(const json& names) {
  TypeSet types = 0;
  for (const json& name : names)
    for (size_t i = 0; i < kTensorDataTypes.names.size(); ++i)
      if (kTensorDataTypes.names[i] == name.get<std::string>()) types |= 1u << i;
  return types;
}

// "4_1"
uint32_t levelOf(const std::string& text) {
  return static_cast<uint32_t>(text[0] - '0') << 12 | static_cast<uint32_t>(text[2] - '0') << 8;
}

std::vector<TypeRow> rowsOf(const json& rows) {
  std::vector<TypeRow> result;
  for (const json& row : rows) {
    const std::string ranks = row.at("ranks");
    const auto rank = [](char c) { return static_cast<uint8_t>(c - '0'); };
    const TypeRow next{static_cast<DML_FEATURE_LEVEL>(levelOf(row.at("since"))), typesOf(row.at("types")),
                       rank(ranks.front()), rank(ranks.back())};
    // A level at which only another tensor changed.
    const bool same = !result.empty() && result.back().types == next.types && result.back().minRank == next.minRank &&
                      result.back().maxRank == next.maxRank;
    if (!same) result.push_back(next);
  }
  return result;
}

TEST_CASE("data types and ranks are those of the documentation at every feature level") {
  std::ifstream file(DIMPLE_TEST_DATA_DIR "/operator_support.json");
  const json support = json::parse(file);
  CHECK(support.at("operators").size() == 177);
  size_t deviations = 0;
  for (const json& documented : support.at("operators")) {
    const std::string name = documented.at("operator");
    const OpSchema* schema = findSchema(name);
    REQUIRE_MESSAGE(schema, name);
    CAPTURE(name);
    CHECK(schema->inPlace == documented.at("in_place").get<bool>());
    const json& tensors = documented.at("tensors");
    REQUIRE(tensors.size() == schema->rules.size());
    size_t index = 0;
    for (const Field& field : schema->fields) {
      if (!isTensor(field)) continue;
      CAPTURE(field.name);
      const json& tensor = tensors.at(index);
      CHECK(field.name == tensor.at("name").get<std::string>());
      CHECK(field.optional == tensor.at("optional").get<bool>());
      const auto rows = schema->rules[index++].history.rows();
      const auto expected = rowsOf(tensor.at("rows"));
      const bool same = std::equal(
          rows.begin(), rows.end(), expected.begin(), expected.end(), [](const TypeRow& a, const TypeRow& b) {
            return a.since == b.since && a.types == b.types && a.minRank == b.minRank && a.maxRank == b.maxRank;
          });
      const auto deviation = std::find_if(std::begin(kDeviations), std::end(kDeviations),
                                          [&](const Deviation& d) { return d.name == name && d.tensor == field.name; });
      deviations += deviation != std::end(kDeviations);
      CHECK(same == (deviation == std::end(kDeviations)));
    }
  }
  CHECK(deviations == std::size(kDeviations));
}

TEST_CASE("REDUCE takes the data types that the documentation gives each function") {
  std::ifstream file(DIMPLE_TEST_DATA_DIR "/operator_support.json");
  const json support = json::parse(file);
  const json& operators = support.at("operators");
  const auto reduce =
      std::find_if(operators.begin(), operators.end(), [](const json& o) { return o.at("operator") == "REDUCE"; });
  REQUIRE(reduce != operators.end());
  size_t functions = 0;
  for (const auto& [names, tensors] : reduce->at("by_function").items()) {
    const TypeSet inputs = rowsOf(tensors.at("InputTensor")).back().types;
    const TypeSet outputs = rowsOf(tensors.at("OutputTensor")).back().types;
    std::stringstream list(names);
    for (std::string function; std::getline(list, function, ',');) {
      ++functions;
      for (uint32_t in = 1; in < kTensorDataTypes.names.size(); ++in)
        for (uint32_t out = 1; out < kTensorDataTypes.names.size(); ++out) {
          const std::string line = cat("REDUCE Function=", function, " InputTensor=", shortTypeName(DataType(in)),
                                       "[2,3] OutputTensor=", shortTypeName(DataType(out)), "[2,1] Axes=[1]");
          auto parsed = parseCase(line);
          REQUIRE(parsed);
          const bool taken = (inputs >> in & 1) && (outputs >> out & 1) && (function.starts_with("ARG") || in == out);
          CHECK_MESSAGE(static_cast<bool>(Operation::parse(parsed->desc.desc())) == taken, line);
        }
    }
  }
  CHECK(functions == kReduceFunctions.names.size());
}

}  // namespace
}  // namespace dimple::testing
