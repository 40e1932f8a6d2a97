#include "tools/kernelgen/manifest.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "tools/kernelgen/error.h"

namespace kernelgen {

namespace {

struct Variant {
  std::string macro;
  std::vector<std::string> values;
};

struct Stanza {
  Kernel kernel;
  std::vector<Variant> variants;
  std::vector<std::string> vulkanOnly;  // values of variants
  bool hasAccess = false;
};

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

class Parser {
 public:
  Parser(const std::string& fileName, const Enums& enums) : fileName_(fileName), enums_(enums) {}

  std::vector<Kernel> parse(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      line.resize(std::min(line.find('#'), line.size()));
      std::istringstream stream(line);
      std::vector<std::string> words;
      for (std::string word; stream >> word;) words.push_back(word);
      if (!words.empty()) statement(words);
    }
    finishStanza();
    std::ranges::sort(kernels_, {}, &Kernel::name);
    const auto twice = std::ranges::adjacent_find(kernels_, {}, &Kernel::name);
    if (twice != kernels_.end()) {
      line_ = std::max(twice->line, std::next(twice)->line);
      fail("The kernel " + twice->name + " is declared twice.");
    }
    return std::move(kernels_);
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const {
    throw Error(fileName_ + ":" + std::to_string(line_) + ": " + sentence);
  }

  void statement(const std::vector<std::string>& words) {
    const std::string& key = words[0];
    const auto need = [&](size_t least, const char* form) {
      if (words.size() < least + 1) fail("The line should read: " + std::string(form) + ".");
    };
    if (key == "kernel") {
      finishStanza();
      need(1, "kernel NAME");
      if (words.size() > 2) fail("A kernel's name is one word.");
      checkName(words[1]);
      inStanza_ = true;
      stanza_ = {};
      stanza_.kernel.name = words[1];
      stanza_.kernel.line = line_;
      return;
    }
    if (!inStanza_) fail("The line '" + key + "' stands outside a kernel.");
    Kernel& kernel = stanza_.kernel;
    if (key == "source") {
      need(1, "source FILE");
      kernel.source = words[1];
    } else if (key == "type") {
      need(1, "type f32 f16 ...");
      stanza_.variants.push_back({"T", {words.begin() + 1, words.end()}});
    } else if (key == "variant") {
      need(2, "variant MACRO value ...");
      stanza_.variants.push_back({words[1], {words.begin() + 2, words.end()}});
    } else if (key == "access") {
      need(1, "access r r w");
      for (size_t i = 1; i < words.size(); ++i) kernel.access.push_back(parseAccess(words[i]));
      stanza_.hasAccess = true;
    } else if (key == "spec") {
      need(3, "spec ID NAME operators, or spec ID NAME value ...");
      kernel.specs.push_back(parseSpec(words));
    } else if (key == "define") {
      need(1, "define NAME=VALUE");
      kernel.defines.insert(kernel.defines.end(), words.begin() + 1, words.end());
    } else if (key == "vulkan-only") {
      if (words.size() == 1) kernel.portable = false;
      stanza_.vulkanOnly.insert(stanza_.vulkanOnly.end(), words.begin() + 1, words.end());
    } else {
      fail("The word '" + key +
           "' is not known; a stanza has: source, type, variant, access, spec, define, vulkan-only.");
    }
  }

  void checkName(const std::string& name) const {
    const bool good = std::ranges::all_of(
        name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; });
    if (!good || name.find("__") != name.npos)
      fail("The name '" + name + "' may hold a-z, 0-9, dots and single underscores.");
  }

  Access parseAccess(const std::string& word) const {
    if (word == "r") return {true, false};
    if (word == "w") return {false, true};
    if (word == "rw") return {true, true};
    fail("The access '" + word + "' is not one of r, w, rw.");
  }

  uint32_t parseValue(const std::string& word) const {
    if (const Enumerator* enumerator = enums_.find(word)) return enumerator->value;
    if (!word.empty() && word.size() < 10 && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); }))
      return uint32_t(std::stoul(word));
    fail("The value '" + word + "' is neither a number nor an enumerator of DirectML.h.");
  }

  Spec parseSpec(const std::vector<std::string>& words) const {
    Spec spec{parseValue(words[1]), words[2], false, {}};
    std::set<uint32_t> values;
    for (size_t i = 3; i < words.size(); ++i) {
      const size_t dots = words[i].find("..");
      if (words[i] == "operators") {
        spec.operators = true;
      } else if (dots != std::string::npos) {
        const uint32_t first = parseValue(words[i].substr(0, dots));
        const uint32_t last = parseValue(words[i].substr(dots + 2));
        if (first > last || last - first > 4096) fail("The range '" + words[i] + "' is empty or too long.");
        for (uint32_t value = first; value <= last; ++value) values.insert(value);
      } else {
        values.insert(parseValue(words[i]));
      }
    }
    spec.values.assign(values.begin(), values.end());
    return spec;
  }

  void finishStanza() {
    if (!std::exchange(inStanza_, false)) return;
    Kernel& kernel = stanza_.kernel;
    if (kernel.source.empty()) fail("The kernel " + kernel.name + " has no source.");
    if (!stanza_.hasAccess) fail("The kernel " + kernel.name + " declares no access of its bindings.");
    for (const std::string& value : stanza_.vulkanOnly)
      if (std::ranges::none_of(stanza_.variants, [&](const Variant& v) { return contains(v.values, value); }))
        fail("The kernel " + kernel.name + " has no variant '" + value + "' that could be vulkan-only.");
    std::ranges::sort(kernel.specs, {}, &Spec::id);
    expand(kernel, 0);
  }

  void expand(const Kernel& kernel, size_t axis) {
    if (axis == stanza_.variants.size()) {
      kernels_.push_back(kernel);
      return;
    }
    const Variant& variant = stanza_.variants[axis];
    for (const std::string& value : variant.values) {
      checkName(value);
      Kernel expanded = kernel;
      expanded.name += "." + value;
      expanded.defines.push_back(variant.macro + "=" + value);
      expanded.defines.push_back(variant.macro + "_" + value + "=1");
      if (contains(stanza_.vulkanOnly, value)) expanded.portable = false;
      expand(expanded, axis + 1);
    }
  }

  const std::string& fileName_;
  const Enums& enums_;
  int line_ = 0;
  bool inStanza_ = false;
  Stanza stanza_;
  std::vector<Kernel> kernels_;
};

}  // namespace

std::vector<Kernel> parseManifest(std::string_view text, const std::string& fileName, const Enums& enums) {
  return Parser(fileName, enums).parse(text);
}

}  // namespace kernelgen
