#include "tools/kernelgen/modules.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "tools/kernelgen/error.h"
#include "tools/kernelgen/hlsl.h"
#include "tools/kernelgen/values.h"

namespace kernelgen {

namespace {

class Parser {
 public:
  Parser(const std::string& fileName, const Enums& enums)
      : fileName_(fileName), values_(enums, [this](const std::string& sentence) { fail(sentence); }) {}

  std::map<std::string, std::vector<ModuleKey>> parse(std::string_view text,
                                                      const std::vector<const Kernel*>& kernels) {
    std::map<std::string, std::set<ModuleKey>> sets;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      line.resize(std::min(line.find('#'), line.size()));
      std::istringstream words(line);
      std::string name;
      if (!(words >> name)) continue;
      const auto kernel = std::ranges::find(kernels, name, [](const Kernel* each) { return each->name; });
      if (kernel == kernels.end()) fail("There is no kernel " + name + ".");
      if (!(*kernel)->portable) fail("The kernel " + name + " is vulkan-only, so that no DXIL is made of it.");
      for (ModuleKey& module : combinations(words, (*kernel)->family))
        if (!sets[name].insert(std::move(module)).second) fail("The kernel " + name + " has such a module already.");
    }
    std::map<std::string, std::vector<ModuleKey>> result;
    for (const auto& [name, all] : sets) result[name].assign(all.begin(), all.end());
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const {
    throw Error(fileName_ + ":" + std::to_string(line_) + ": " + sentence);
  }

  // Of the words NAME=VALUE,VALUE, LONG, HALVES and O3 that are left of a line.
  std::vector<ModuleKey> combinations(std::istringstream& words, const Family& family) const {
    std::map<uint32_t, std::set<uint32_t>> constants;
    ModuleKey key;
    const std::map<std::string, bool ModuleKey::*> flags{
        {"LONG", &ModuleKey::isLong}, {"HALVES", &ModuleKey::convertsHalves}, {"O3", &ModuleKey::isO3}};
    for (std::string word; words >> word;) {
      if (const auto flag = flags.find(word); flag != flags.end()) {
        key.*flag->second = true;
        continue;
      }
      const size_t equals = std::min(word.find('='), word.size());
      const auto spec = std::ranges::find(family.specs, word.substr(0, equals), &Spec::name);
      if (spec == family.specs.end() || equals == word.size())
        fail("The word '" + word + "' is not NAME=VALUE,... of a constant of the kernel.");
      std::set<uint32_t>& values = constants[spec->id];
      if (!values.empty()) fail("The constant " + spec->name + " stands twice in the line.");
      std::istringstream list(word.substr(equals + 1));
      for (std::string value; std::getline(list, value, ',');) {
        if (value == "*") {
          values.insert(spec->values.begin(), spec->values.end());
        } else {
          values_.addRange(value, *spec->type, values);
        }
      }
      if (values.empty()) fail("The constant " + spec->name + " has no value.");
      for (const uint32_t value : values)
        if (std::ranges::find(spec->values, value) == spec->values.end())
          fail("The value " + ValueParser::glsl(value, *spec->type) + " is none that the manifest gives " + spec->name +
               ".");
    }
    if (constants.empty() && !key.isLong) fail("The line names no constant.");
    std::vector<ModuleKey> result{key};
    for (const auto& [id, values] : constants) {
      std::vector<ModuleKey> longer;
      for (const ModuleKey& module : result)
        for (const uint32_t value : values) {
          longer.push_back(module);
          longer.back().fixed.emplace_back(id, value);
        }
      result = std::move(longer);
    }
    return result;
  }

  const std::string& fileName_;
  const ValueParser values_;
  int line_ = 0;
};

}  // namespace

std::map<std::string, std::vector<ModuleKey>> parseModules(std::string_view text, const std::string& fileName,
                                                           const std::vector<const Kernel*>& kernels,
                                                           const Enums& enums) {
  return Parser(fileName, enums).parse(text, kernels);
}

std::string moduleSuffix(const ModuleKey& module) {
  std::string suffix;
  for (const auto& [id, value] : module.fixed) suffix += "." + std::to_string(id) + "-" + std::to_string(value);
  return suffix + (module.isLong ? ".long" : "") + (module.convertsHalves ? ".halves" : "");
}

std::string withFixed(const std::string& hlsl, const FixedConstants& fixed, const Family& family) {
  std::string text = hlsl;
  for (const auto& [id, value] : fixed) {
    const auto spec = std::ranges::find(family.specs, id, &Spec::id);
    const std::string macro = specializationMacro(id);
    const std::string read = macro + specializationMember(id) + "\n";
    const std::string literal = macro + "(" + ValueParser::glsl(value, *spec->type) + ")\n";
    if (text.find(literal) != text.npos) continue;  // it has no other value
    const size_t at = text.find(read);
    if (at == text.npos) throw Error("The HLSL of " + family.name + " does not read its constant " + spec->name + ".");
    text.replace(at, read.size(), literal);
  }
  return text;
}

}  // namespace kernelgen
