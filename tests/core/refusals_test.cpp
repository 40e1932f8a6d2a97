// Every rule has a description that breaks it, and says so in its sentence.
//
// The rules of the tables (data types, ranks, relations, required tensors, enumerators) are told by the grammar of
// their sentences; those of the check functions by the line that refuses. descriptions/refusals.txt holds a description
// for each of the latter, with its sentence; DIMPLE_WRITE_REFUSALS=1 writes it anew, to be read before it is kept.
#include <doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/operation.h"
#include "core/schema/desc_text.h"
#include "core/text.h"
#include "tests/core/descriptions.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

constexpr const char* kRefusalsFile = DIMPLE_TEST_SOURCE_DIR "/core/descriptions/refusals.txt";

std::optional<Error> refusalOf(const std::string& line) {
  auto parsed = parseCase(line);
  if (!parsed) return {};
  const auto view = Operation::parse(parsed->desc.desc());
  return view ? std::nullopt : std::optional(view.error());
}

// The first words of a sentence: the field, without an index.
std::string fieldOf(const std::string& text) { return text.substr(0, text.find_first_of(" [.")); }

// Which rule of a table a sentence is about; empty for others.
std::string tableRule(const std::string& text) {
  static const std::pair<std::regex, const char*> predicates[] = {
      {std::regex("is null, but it is required\\."), "required"},
      {std::regex("has DataType \\(\\w*\\), expected one of [A-Z0-9, ]+\\."), "types"},
      {std::regex("has DimensionCount \\(\\d+\\), outside \\d\\.\\.\\d\\."), "rank"},
      {std::regex("has DataType \\(\\w*\\), expected that of \\w+ \\(\\w*\\)\\."), "same type"},
      {std::regex("has DimensionCount \\(\\d+\\), expected that of \\w+ \\(\\d+\\)\\."), "same rank"},
      {std::regex("has Sizes \\(\\{[\\d, ]+\\}\\), expected those of \\w+ \\(\\{[\\d, ]+\\}\\)\\."), "same sizes"},
      {std::regex("has value \\(\\d+\\), expected one of DML_\\w+\\* \\(0\\.\\.\\d+\\)\\."), "enumerator"},
  };
  // Behind the subject, one word: a pattern that began with any text would be tried at each of its ends.
  const std::string predicate = text.substr(text.find(' ') + 1);
  for (const auto& [pattern, name] : predicates)
    if (std::regex_match(predicate, pattern)) return name;
  return {};
}

std::set<std::string> rulesOfTables() {
  std::set<std::string> rules;
  for (const OpSchema* schema : allSchemas()) {
    size_t index = 0;
    for (const Field& field : schema->fields) {
      const auto add = [&](std::string_view rule) { rules.insert(cat(schema->name, " ", field.name, ": ", rule)); };
      if (field.type == FieldType::Enum) add("enumerator");
      if (field.role == Role::Attribute) continue;
      const TensorRule& rule = schema->rules[index++];
      if (field.type == FieldType::Tensor && !field.optional) add("required");
      // A relation to a tensor of the same types refuses whatever the set would.
      if (rule.as.type < 0 || schema->rules[static_cast<size_t>(rule.as.type)].types() != rule.types()) add("types");
      if (rule.minRank() > 1 || rule.maxRank() < 8) add("rank");
      if (rule.as.type >= 0) add("same type");
      if (rule.as.rank >= 0) add("same rank");
      if (rule.as.sizes >= 0) add("same sizes");
    }
  }
  return rules;
}

// ---- check functions ------------------------------------------------------------------------------------------------

struct CheckSite {
  std::string file;
  uint32_t line = 0;
  uint32_t last = 0;  // of the call
};

std::string fileName(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

std::string readAll(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The calls of core/ops/*.cpp that can refuse a description.
std::vector<CheckSite> checkSites() {
  const std::filesystem::path folder = DIMPLE_SOURCE_DIR "/core/ops";
  std::string names = "invalid";
  const std::string helpers = readAll(folder / "checks.h");
  const std::regex helper("inline Status (check\\w+)\\(");
  for (std::sregex_iterator i(helpers.begin(), helpers.end(), helper), end; i != end; ++i)
    names += cat("|", (*i)[1].str());
  const std::regex call(cat("\\b(", names, ")\\("));
  std::vector<CheckSite> sites;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = readAll(entry.path());
    const auto lineAt = [&](size_t position) {
      return static_cast<uint32_t>(
          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    };
    for (std::sregex_iterator i(text.begin(), text.end(), call), end; i != end; ++i) {
      const auto start = static_cast<size_t>(i->position());
      size_t at = start + i->str().size();
      for (int depth = 1; depth != 0 && at < text.size(); ++at) depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      sites.push_back({entry.path().filename().string(), lineAt(start), lineAt(at)});
    }
  }
  return sites;
}

// A description, and the sentence that refuses it.
using Refusals = std::map<std::string, std::string>;

Refusals readRefusals() {
  Refusals refusals;
  std::ifstream file(kRefusalsFile);
  std::string description;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("  "))
      refusals[description] = line.substr(line.find_first_not_of(' '));
    else
      description = line;
  }
  return refusals;
}

void writeRefusals(const Refusals& refusals) {
  std::ofstream file(kRefusalsFile, std::ios::binary);
  file << "# A description for each rule of the check functions that it breaks, and the sentence that refuses it.\n";
  for (const auto& [description, text] : refusals) file << description << "\n  " << text << "\n";
}

TEST_CASE("every rule is broken by a description" *
          leftOut(Run::Sanitized, "the variations of descriptions run the same code")) {
  const auto sites = checkSites();
  std::vector<std::pair<std::string, std::string>> breakers(sites.size());  // shortest description, sentence
  auto missing = rulesOfTables();
  const size_t tableRules = missing.size();
  const auto meet = [&](const std::string& line, const Error& error) {
    const std::string rule = tableRule(error.text);
    if (!rule.empty()) missing.erase(cat(line.substr(0, line.find(' ')), " ", fieldOf(error.text), ": ", rule));
    const std::string file = fileName(error.rule.file);
    for (size_t i = 0; i < sites.size(); ++i)
      if (sites[i].file == file && error.rule.line >= sites[i].line && error.rule.line <= sites[i].last &&
          (breakers[i].first.empty() || line.size() < breakers[i].first.size()))
        breakers[i] = {line, error.text};
  };
  for (const std::string& line : refusedDescriptions()) {
    const auto error = refusalOf(line);
    CHECK_MESSAGE(error, line);
    if (error) meet(line, *error);
  }
  for (const std::string& written : writtenDescriptions())
    for (const std::string& line : variationsOf(written))
      if (const auto error = refusalOf(line)) meet(line, *error);

  for (const std::string& rule : missing) FAIL_CHECK("No description breaks the rule ", rule);
  Refusals found;
  for (size_t i = 0; i < sites.size(); ++i) {
    CHECK_MESSAGE(!breakers[i].first.empty(), sites[i].file, ":", sites[i].line);
    if (!breakers[i].first.empty()) found[breakers[i].first] = breakers[i].second;
  }
  MESSAGE(tableRules, " rules of tables, ", sites.size(), " of check functions");
  if (std::getenv("DIMPLE_WRITE_REFUSALS")) writeRefusals(found);
}

TEST_CASE("rules of check functions refuse with the sentences on file") {
  const auto sites = checkSites();
  std::vector<bool> met(sites.size());
  for (const auto& refusal : readRefusals()) {
    const auto& line = refusal.first;
    const auto& text = refusal.second;
    const auto error = refusalOf(line);
    REQUIRE_MESSAGE(error, line);
    CHECK_MESSAGE(error->text == text, line);
    const std::string file = fileName(error->rule.file);
    for (size_t i = 0; i < sites.size(); ++i)
      if (sites[i].file == file && error->rule.line >= sites[i].line && error->rule.line <= sites[i].last)
        met[i] = true;
  }
  for (size_t i = 0; i < sites.size(); ++i) CHECK_MESSAGE(met[i], sites[i].file, ":", sites[i].line);
}

}  // namespace
}  // namespace dimple::testing
