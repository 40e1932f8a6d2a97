#include "tools/kernelgen/manifest.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "tools/kernelgen/error.h"
#include "tools/kernelgen/interfaces.h"
#include "tools/kernelgen/values.h"

namespace kernelgen {

namespace {

using dimple::KernelType;

// What of a stanza makes kernels: its own lines, or those of a form.
struct Sources {
  std::string form;
  std::string name;  // of its kernels
  std::string source;
  std::vector<KernelType> types;
  std::vector<KernelType> native;
  std::vector<std::string> defines;
  std::string packedOf;  // a family
  std::vector<Spec> specs;
  bool vulkanOnly = false;
  bool pruned = false;
};

uint32_t bitsOf(KernelType type) {
  const std::string_view name = dimple::kKernelTypeNames[size_t(type)];
  return name.empty() ? 32 : uint32_t(std::stoul(std::string(name.substr(1))));
}

// Words that are no names in C++ or GLSL.
constexpr std::string_view kReserved[] = {
    "auto",    "bool",     "break",   "buffer",    "case",     "char",   "class",    "const",    "continue",
    "default", "delete",   "do",      "double",    "else",     "enum",   "false",    "float",    "for",
    "friend",  "goto",     "half",    "if",        "in",       "inline", "inout",    "int",      "long",
    "new",     "operator", "out",     "namespace", "private",  "public", "register", "return",   "sample",
    "shared",  "short",    "signed",  "sizeof",    "static",   "struct", "switch",   "this",     "true",
    "typedef", "uint",     "uniform", "union",     "unsigned", "using",  "void",     "volatile", "while"};

// Members that the generated structure has beside its buffers.
constexpr std::string_view kMembers[] = {"form", "type", "push", "spec"};

class Parser {
 public:
  Parser(const std::string& fileName, const Enums& enums) : fileName_(fileName), enums_(enums) {}

  Manifest parse(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      line.resize(std::min(line.find('#'), line.size()));
      std::istringstream stream(line);
      std::vector<std::string> words;
      for (std::string word; stream >> word;) words.push_back(word);
      if (!words.empty()) statement(words);
    }
    finishFamily();
    std::ranges::sort(result_.kernels, {}, &Kernel::id);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const {
    throw Error(fileName_ + ":" + std::to_string(line_) + ": " + sentence);
  }

  void statement(const std::vector<std::string>& words) {
    const std::string& key = words[0];
    const auto need = [&](size_t least, size_t most, const char* pattern) {
      if (words.size() < least + 1 || words.size() > most + 1)
        fail("The line should read: " + std::string(pattern) + ".");
    };
    constexpr size_t kAny = 1000;
    if (key == "kernel") {
      finishFamily();
      need(1, 1, "kernel NAME");
      begin(words[1]);
      return;
    }
    if (key == "group") {
      finishFamily();
      need(1, 1, "group NAME");
      beginGroup(words[1]);
      return;
    }
    if (openGroup_) {
      if ((key != "push" && key != "spec") || words.size() < 3) fail("A group has lines of push and spec alone.");
      openGroup_->push_back(words);
      return;
    }
    if (!inFamily_) fail("The line '" + key + "' stands outside a kernel.");
    Sources& sources = forms_.empty() ? common_ : forms_.back();
    if (words.size() == 2 && (key == "push" || key == "spec")) {
      addGroup(key, words[1]);
    } else if (key == "source") {
      need(1, 1, "source FILE");
      sources.source = words[1];
    } else if (key == "type" || key == "native") {
      need(1, kAny, "type f32 f16 ...");
      for (size_t i = 1; i < words.size(); ++i)
        (key == "type" ? sources.types : sources.native).push_back(parseType(words[i], key == "native"));
    } else if (key == "define") {
      need(1, kAny, "define NAME=VALUE");
      sources.defines.insert(sources.defines.end(), words.begin() + 1, words.end());
    } else if (key == "packed-of") {
      need(1, 1, "packed-of KERNEL");
      sources.packedOf = words[1];
    } else if (key == "vulkan-only") {
      need(0, 0, "vulkan-only");
      sources.vulkanOnly = true;
    } else if (key == "pruned") {
      need(0, 0, "pruned");
      sources.pruned = true;
    } else if (key == "form") {
      need(1, 2, "form NAME, or form NAME KERNEL");
      addForm(words);
    } else if (!forms_.empty() && (key == "push" || key == "buffer")) {
      fail("The line '" + key + "' stands below a form; an interface is that of all forms.");
    } else if (key == "push") {
      need(2, kAny, "push TYPE NAME ...");
      for (size_t i = 2; i < words.size(); ++i) addPush(words[1], words[i]);
    } else if (key == "spec") {
      need(5, kAny,
           "spec ID structural TYPE NAME operators, or spec ID uniform TYPE NAME=DEFAULT value ..., whose TYPE is u32, "
           "i32 or f32");
      addSpec(words, sources);
    } else if (key == "buffer") {
      need(3, 3, "buffer ACCESS TYPE NAME");
      addBuffer(words);
    } else {
      fail("The word '" + key +
           "' is not known; a kernel has: push, spec, buffer, source, type, native, define, packed-of, vulkan-only, "
           "pruned, form.");
    }
  }

  void begin(const std::string& name) {
    checkKernelName(name);
    if (std::ranges::find(result_.families, name, &Family::name) != result_.families.end())
      fail("The kernel " + name + " is declared twice.");
    inFamily_ = true;
    openGroup_ = nullptr;
    family_ = {};
    common_ = {};
    forms_.clear();
    family_.name = common_.name = name;
    family_.number = dimple::KernelFamily(result_.families.size());
    family_.line = line_;
  }

  void beginGroup(const std::string& name) {
    checkKernelName(name);
    checkName(name);
    if (groups_.contains(name)) fail("The group " + name + " is declared twice.");
    openGroup_ = &groups_[name];
  }

  void addGroup(const std::string& key, const std::string& name) {
    const auto group = groups_.find(name);
    if (group == groups_.end()) fail("The group '" + name + "' is not declared above.");
    group_ = name;
    for (const std::vector<std::string>& line : group->second)
      if (line[0] == key) statement(line);
    group_.clear();
  }

  void checkKernelName(const std::string& name) const {
    const bool good =
        std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (!good || name.find("__") != name.npos || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
      fail("The name '" + name + "' may hold a-z, 0-9 and single underscores, and begins with a letter.");
  }

  // A name in GLSL and in C++.
  void checkName(const std::string& name) const {
    const bool good = std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!good || std::isalpha(static_cast<unsigned char>(name[0])) == 0 || name.find("__") != name.npos)
      fail("The name '" + name + "' is none in C++ and GLSL.");
    if (std::ranges::find(kReserved, name) != std::end(kReserved))
      fail("The name '" + name + "' means something else in C++ or GLSL.");
  }

  void addForm(const std::vector<std::string>& words) {
    checkKernelName(words[1]);
    checkName(words[1]);
    if (std::ranges::find(family_.forms, words[1]) != family_.forms.end())
      fail("The form " + words[1] + " is declared twice.");
    const std::string name = words.size() > 2 ? words[2] : family_.name + "_" + words[1];
    checkKernelName(name);
    family_.forms.push_back(words[1]);
    forms_.push_back({words[1], name, {}, {}, {}, {}, {}, {}, false});
  }

  KernelType parseType(const std::string& word, bool native) const {
    const auto found = std::ranges::find(dimple::kKernelTypeNames, word);
    if (word.empty() || found == std::end(dimple::kKernelTypeNames))
      fail("The type '" + word + "' is not one of f32, f16, f64, i8, u8, ..., i64, u64, b8, b16, b32, b64.");
    const auto type = KernelType(found - std::begin(dimple::kKernelTypeNames));
    if (native && bitsOf(type) > 16) fail("The type '" + word + "' has no native form; those of 8 and 16 bits have.");
    return type;
  }

  const WordType& wordType(const std::string& name) const {
    const WordType* type = findWordType(name);
    if (!type) fail("The type '" + name + "' of a word is not one of " + wordTypeNames() + ".");
    return *type;
  }

  void addPush(const std::string& typeName, const std::string& name) {
    checkName(name);
    const WordType& type = wordType(typeName);
    const auto isGridWord = [&](const char* word) { return name == word; };
    if (std::ranges::any_of(kGridWords, isGridWord) ||
        std::ranges::find(family_.push, name, &PushWord::name) != family_.push.end())
      fail("The push word " + name + " is declared twice.");
    const uint32_t offset = family_.pushBytes();
    if (offset % type.bytes != 0)
      fail("The push word " + name + " of type " + typeName + " would leave a gap before it, at byte " +
           std::to_string(offset) + "; wider words come first.");
    constexpr uint32_t kLimit = 128;
    if (offset + type.bytes > kLimit)
      fail("The push word " + name + " ends at byte " + std::to_string(offset + type.bytes) + ", above the limit of " +
           std::to_string(kLimit) + ".");
    family_.push.push_back({name, &type, offset, group_});
  }

  void addSpec(const std::vector<std::string>& words, Sources& sources) {
    const ValueParser values(enums_, [this](const std::string& sentence) { fail(sentence); });
    Spec spec;
    spec.id = values.number(words[1]);
    if (words[2] != "structural" && words[2] != "uniform")
      fail("The word '" + words[2] + "' is neither structural nor uniform.");
    spec.structural = words[2] == "structural";
    spec.type = &wordType(words[3]);
    const size_t equals = words[4].find('=');
    spec.name = words[4].substr(0, equals);
    checkName(spec.name);
    checkName(memberName(spec.name));
    if ((spec.id == dimple::kInvocationsId) != (spec.name == "INVOCATIONS"))
      fail("The specialization constant " + words[1] + " is named " + spec.name + "; " +
           std::to_string(dimple::kInvocationsId) + " is INVOCATIONS, and no other is.");
    if (spec.id == dimple::kRoundedHalvesId)
      fail("The specialization constant " + words[1] + " is ROUNDED_HALVES, which every kernel has.");
    if (spec.type->bytes != 4)
      fail("The specialization constant " + spec.name + " is of type " + words[3] +
           "; it takes a word of 32 bits: u32, i32 or f32.");
    spec.standard = values.glsl(
        values.bits(equals == std::string::npos ? "0" : words[4].substr(equals + 1), *spec.type), *spec.type);
    // As common/grid.glsl declares it.
    if (spec.id == dimple::kInvocationsId && spec.standard != "256u")
      fail("The specialization constant INVOCATIONS is " + spec.standard + " by default; it has to be the u32 256.");
    const auto clashes = [&](const Spec& other) { return other.id == spec.id || other.name == spec.name; };
    const auto differs = [&](const Spec& other) {
      return clashes(other) &&
             (other.id != spec.id || other.name != spec.name || other.type != spec.type || other.group != group_);
    };
    if (std::ranges::any_of(common_.specs, clashes) || std::ranges::any_of(sources.specs, clashes))
      fail("The specialization constant " + words[1] + " (" + spec.name + ") is declared twice.");
    if (std::ranges::any_of(family_.specs, differs))
      fail("The specialization constant " + words[1] + " (" + spec.name +
           ") has another id, name, type or group in a form.");
    std::set<uint32_t> all;
    for (size_t i = 5; i < words.size(); ++i) {
      if (words[i] == "operators")
        spec.operators = true;
      else
        values.addRange(words[i], *spec.type, all);
    }
    spec.values.assign(all.begin(), all.end());
    spec.group = group_;
    if (!forms_.empty()) spec.forms = 1u << (forms_.size() - 1);
    insert(sources.specs, spec);
    const auto same = std::ranges::find(family_.specs, spec.id, &Spec::id);
    if (same == family_.specs.end())
      insert(family_.specs, spec);
    else
      same->forms |= spec.forms;
  }

  static void insert(std::vector<Spec>& specs, const Spec& spec) {
    specs.insert(std::ranges::upper_bound(specs, spec.id, {}, &Spec::id), spec);
  }

  void addBuffer(const std::vector<std::string>& words) {
    Buffer buffer;
    buffer.name = words[3];
    checkName(buffer.name);
    if (std::ranges::find(kMembers, buffer.name) != std::end(kMembers))
      fail("The buffer " + buffer.name + " has the name of another member: form, type, push, spec.");
    if (words[1] == "r" || words[1] == "w" || words[1] == "rw")
      buffer.access = {words[1] != "w", words[1] != "r"};
    else
      fail("The access '" + words[1] + "' is not one of r, w, rw.");
    std::istringstream types(words[2]);
    for (std::string type; std::getline(types, type, ',');) {
      buffer.types.push_back(type == "T" ? type : elementGlsl(type));
      if (buffer.types.back().empty())
        fail("The type '" + type + "' of the buffer " + buffer.name + " is neither T nor one of " + wordTypeNames() +
             ", nor one of 32 bits with x2, x3 or x4.");
    }
    if (std::ranges::find(family_.buffers, buffer.name, &Buffer::name) != family_.buffers.end())
      fail("The buffer " + buffer.name + " is declared twice.");
    family_.buffers.push_back(std::move(buffer));
  }

  // Lines of a form come before those of its stanza.
  Sources merged(const Sources& form) const {
    Sources all = form;
    if (all.source.empty()) all.source = common_.source;
    if (all.types.empty()) all.types = common_.types;
    if (all.native.empty()) all.native = common_.native;
    if (all.packedOf.empty()) all.packedOf = common_.packedOf;
    all.defines.insert(all.defines.begin(), common_.defines.begin(), common_.defines.end());
    for (const Spec& spec : common_.specs) insert(all.specs, spec);
    all.vulkanOnly |= common_.vulkanOnly;
    all.pruned |= common_.pruned;
    return all;
  }

  void finishFamily() {
    if (!std::exchange(inFamily_, false)) return;
    std::vector<Sources> all;
    if (forms_.empty()) all.push_back(common_);
    for (const Sources& form : forms_) all.push_back(merged(form));
    for (const Sources& sources : all) {
      if (sources.source.empty()) fail("The kernel " + sources.name + " has no source.");
      family_.native |= !sources.native.empty();
      family_.typed |= !sources.types.empty() || !sources.native.empty();
    }
    if (family_.buffers.empty()) fail("The kernel " + family_.name + " declares no buffers.");
    result_.families.push_back(family_);
    for (size_t form = 0; form < all.size(); ++form) {
      addKernels(all[form], uint8_t(form));
      if (!all[form].packedOf.empty()) addPacked(all[form], uint8_t(form));
    }
  }

  void addPacked(const Sources& sources, uint8_t form) {
    const auto strided = std::ranges::find(result_.families, sources.packedOf, &Family::name);
    if (strided == result_.families.end())
      fail("The kernel " + sources.name + " is packed-of " + sources.packedOf + ", which is no kernel above it.");
    result_.packed.push_back({family_.number, form, strided->number});
  }

  void addKernels(const Sources& sources, uint8_t form) {
    if (sources.types.empty() && sources.native.empty()) {
      if (family_.typed) fail("The kernel " + sources.name + " has no types, unlike other forms.");
      addKernel(sources, form, KernelType::None, false);
    }
    for (const KernelType type : sources.types) addKernel(sources, form, type, false);
    for (const KernelType type : sources.native) addKernel(sources, form, type, true);
  }

  void addKernel(const Sources& sources, uint8_t form, KernelType type, bool native) {
    const std::string typeName(dimple::kKernelTypeNames[size_t(type)]);
    Kernel kernel;
    kernel.name = sources.name + (native ? "_native" : "") + (typeName.empty() ? "" : "." + typeName);
    if (!names_.insert(kernel.name).second) fail("The kernel " + kernel.name + " is declared twice.");
    kernel.id = {family_.number, form, type, native};
    kernel.family = family_;
    kernel.family.specs = sources.specs;
    kernel.interface = family_.name + (family_.hasFormSpecs() ? "." + sources.form : "");
    kernel.source = sources.source;
    kernel.defines = sources.defines;
    if (native) kernel.defines.push_back("NATIVE=1");
    if (!typeName.empty()) {
      kernel.defines.push_back("T=" + typeName);
      kernel.defines.push_back("T_" + typeName + "=1");
    }
    kernel.pruned = sources.pruned || std::ranges::any_of(sources.specs, [](const Spec& spec) {
                      return spec.structural && spec.name == "OP";
                    });
    kernel.portable = !sources.vulkanOnly && !(native && bitsOf(type) == 8);
    if (kernel.portable) checkPortable(kernel);
    result_.kernels.push_back(std::move(kernel));
  }

  void checkPortable(const Kernel& kernel) const {
    const std::string& name = kernel.name;
    const auto invocations = std::ranges::find(kernel.family.specs, dimple::kInvocationsId, &Spec::id);
    if (invocations != kernel.family.specs.end() && invocations->values.size() != 1)
      fail("The kernel " + name + " has the specialization constant INVOCATIONS with " +
           std::to_string(invocations->values.size()) +
           " values, but HLSL's workgroups are of one size; it has to be vulkan-only.");
    for (const PushWord& word : family_.push) {
      if (word.type->hlsl.empty())
        fail("The kernel " + name + " has a push word of 8 bits, " + word.name +
             ", which HLSL does not have; it has to be vulkan-only.");
      if (word.offset % 4 != 0)
        fail("The kernel " + name + " has the push word " + word.name + " at byte " + std::to_string(word.offset) +
             "; in HLSL each begins at a multiple of 4, unless it is vulkan-only.");
    }
  }

  const std::string& fileName_;
  const Enums& enums_;
  int line_ = 0;
  bool inFamily_ = false;
  Family family_;
  Sources common_;
  std::vector<Sources> forms_;
  std::map<std::string, std::vector<std::vector<std::string>>> groups_;  // their lines
  std::vector<std::vector<std::string>>* openGroup_ = nullptr;
  std::string group_;  // whose lines are being added
  std::set<std::string> names_;
  Manifest result_;
};

}  // namespace

Manifest parseManifest(std::string_view text, const std::string& fileName, const Enums& enums) {
  return Parser(fileName, enums).parse(text);
}

}  // namespace kernelgen
