#include "tools/kernelgen/compile.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernels/kernel_table.h"
#include "tools/kernelgen/check.h"
#include "tools/kernelgen/contract.h"
#include "tools/kernelgen/error.h"
#include "tools/kernelgen/facts.h"
#include "tools/kernelgen/files.h"
#include "tools/kernelgen/hlsl.h"
#include "tools/kernelgen/process.h"
#include "tools/kernelgen/spirv.h"
#include "tools/kernelgen/values.h"

namespace kernelgen {

namespace fs = std::filesystem;

namespace {

// Changed whenever the same sources would make something else or be judged differently.
constexpr std::string_view kFormat = "8";

// Where a kernel finds what kernelgen makes of its family.
fs::path interfaceFolder(const Folders& folders, const Kernel& kernel) {
  return folders.output / "interfaces" / kernel.interface;
}

std::optional<fs::path> findInclude(const std::string& name, const fs::path& includer,
                                    const std::vector<fs::path>& folders) {
  if (fs::exists(includer.parent_path() / name)) return (includer.parent_path() / name).lexically_normal();
  for (const fs::path& folder : folders)
    if (fs::exists(folder / name)) return (folder / name).lexically_normal();
  return {};
}

// The text of a file and of all it may include, whatever conditions stand around the includes.
void appendClosure(const fs::path& file, const std::vector<fs::path>& folders, std::set<fs::path>& seen,
                   std::string& closure) {
  if (!seen.insert(file).second) return;
  const std::string text = readText(file);
  closure += text;
  closure += '\0';
  for (size_t at = 0; (at = text.find("#include", at)) != text.npos;) {
    const size_t lineEnd = std::min(text.find('\n', at), text.size());
    const size_t open = text.find('"', at);
    const size_t close = open < lineEnd ? text.find('"', open + 1) : text.npos;
    at = lineEnd;
    if (close == text.npos || close > lineEnd) continue;
    const std::string name = text.substr(open + 1, close - open - 1);
    // A missing file is glslang's to report: the line may be inside a comment.
    if (const auto found = findInclude(name, file, folders)) appendClosure(*found, folders, seen, closure);
  }
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

void fillOperators(std::vector<Spec>& specs, const OperatorCases& cases) {
  const auto isSpec = [&](const std::string& name) {
    return std::ranges::find(specs, name, &Spec::name) != specs.end();
  };
  const bool isOnlyOne = std::ranges::count_if(specs, &Spec::operators) == 1;
  for (Spec& spec : specs) {
    if (!spec.operators) continue;
    std::set<uint32_t> values(spec.values.begin(), spec.values.end());
    for (const auto& [over, operators] : cases)
      if (over == spec.name || ((isOnlyOne || !cases.contains(spec.name)) && !isSpec(over)))
        values.insert(operators.begin(), operators.end());
    spec.values.assign(values.begin(), values.end());
  }
}

// Whether something of a kernel, of whose sources `closure` is the text, is shorter with DIMPLE_COMPACT.
bool hasLongForm(const std::string& closure) { return closure.find("DIMPLE_COMPACT") != closure.npos; }

// The constants that have one value, by their ids.
std::map<uint32_t, std::string> literalsOf(const Family& family) {
  std::map<uint32_t, std::string> literals;
  for (const Spec& spec : family.specs)
    if (!spec.operators && spec.values.size() == 1)
      literals[spec.id] = "(" + ValueParser::glsl(spec.values.front(), *spec.type) + ")";
  return literals;
}

bool usesOperatorCases(const Kernel& kernel) { return std::ranges::any_of(kernel.family.specs, &Spec::operators); }

}  // namespace

// What the cache keeps of a kernel.
struct Compiler::Entry {
  Facts facts;
  std::vector<uint32_t> spirv;
  std::string hlsl;
  std::string hlslLong;
};

// A module in a file of its own that goes with it.
struct Compiler::Module {
  explicit Module(const fs::path& folder) {
    static std::atomic<unsigned> counter{0};
    file = folder / ("module." + std::to_string(processId()) + "." + std::to_string(counter++) + ".tmp");
  }
  Module(Module&& other) noexcept
      : file(std::exchange(other.file, {})), words(std::move(other.words)), interface(std::move(other.interface)) {}
  Module& operator=(Module&&) = delete;
  ~Module() {
    if (file.empty()) return;
    std::error_code ignored;
    fs::remove(file, ignored);
  }

  fs::path file;
  std::vector<uint32_t> words;
  Interface interface;
};

Compiler::Compiler(Tools tools, Folders folders) : tools_(std::move(tools)), folders_(std::move(folders)) {
  Hash hash;
  for (const auto& [program, option] :
       {std::pair{tools_.glslang, "--version"}, {tools_.spirvCross, "--revision"}, {tools_.spirvVal, "--version"}}) {
    const ProcessResult result = runProcess({program, option});
    if (result.exitCode != 0) throw Error("The program " + program + " does not run: " + result.output);
    hash.add(result.output);
  }
  versions_ = hash.hex();
  fs::create_directories(folders_.cache);
}

std::string Compiler::run(const std::vector<std::string>& arguments, const Kernel& kernel, Entry& entry) const {
  ProcessResult result = runProcess(arguments);
  entry.facts.cpuSeconds += result.cpuSeconds;
  if (result.exitCode != 0) {
    const std::string program = fs::path(arguments[0]).filename().string();
    throw Error("The kernel " + kernel.name + " is refused by " + program + ":\n" + result.output);
  }
  return std::move(result.output);
}

std::vector<std::string> Compiler::sourceArguments(const Kernel& kernel, const fs::path& enums) const {
  std::vector<std::string> arguments{(folders_.root / kernel.source).string(), "-I" + enums.string(),
                                     "-I" + interfaceFolder(folders_, kernel).string(), "-I" + folders_.root.string()};
  for (const std::string& define : kernel.defines) arguments.push_back("-D" + define);
  return arguments;
}

Compiler::Module Compiler::compileGlsl(const Kernel& kernel, const std::vector<std::string>& defines,
                                       Entry& entry) const {
  Module module(folders_.cache);
  const std::string file = module.file.string();
  std::vector<std::string> arguments{tools_.glslang, "-V", "--quiet", "--target-env", "vulkan1.2", "-o", file};
  std::ranges::copy(sourceArguments(kernel, folders_.output), std::back_inserter(arguments));
  for (const std::string& define : defines) arguments.push_back("-D" + define + "=1");
  run(arguments, kernel, entry);
  run({tools_.spirvVal, "--target-env", "vulkan1.2", file}, kernel, entry);
  module.words = readWords(module.file);
  // SPIRV-Cross reads no cooperative matrices: the interface is that of a module without.
  if (defines.empty() && (inspectModule(module.words).features & uint32_t(dimple::KernelFeature::CooperativeMatrix)))
    module.interface = compileGlsl(kernel, {"DIMPLE_REFLECT"}, entry).interface;
  else
    module.interface = reflect(run({tools_.spirvCross, file, "--reflect"}, kernel, entry), kernel.name);
  return module;
}

std::string Compiler::makeHlsl(const Kernel& kernel, const Module& module, Entry& entry) const {
  const ModuleFacts facts = inspectModule(module.words);
  entry.facts.features |= facts.features;
  if (!facts.notPortable.empty())
    throw Error("The kernel " + kernel.name + " uses " + joined(facts.notPortable) +
                ", which does not survive HLSL; write it otherwise or mark it vulkan-only.");
  writeAtomically(module.file, bytesOf(contractProducts(module.words)));
  std::string hlsl = run({tools_.spirvCross, module.file.string(), "--hlsl", "--shader-model", "62",
                          "--hlsl-enable-16bit-types", "--hlsl-force-storage-buffer-as-uav"},
                         kernel, entry);
  if (const size_t marks = hlsl.find("???"); marks != hlsl.npos) {
    const size_t begin = hlsl.find_first_not_of(" \t", hlsl.rfind('\n', marks) + 1);
    throw Error("The kernel " + kernel.name + " has ??? in its HLSL, where there is no word for a type: " +
                hlsl.substr(begin, hlsl.find('\n', marks) - begin));
  }
  return bindHlsl(hlsl, module.interface, kernel.name, literalsOf(kernel.family));
}

OperatorCases Compiler::operatorCases(const Kernel& kernel, Entry& entry) const {
  std::vector<std::string> arguments{tools_.glslang, "-E", "--quiet"};
  std::ranges::copy(sourceArguments(kernel, folders_.output / "tagged"), std::back_inserter(arguments));
  return Enums::taggedOperatorCases(run(arguments, kernel, entry));
}

std::string Compiler::cacheKey(const Kernel& kernel, std::string& closure) const {
  const fs::path source = (folders_.root / kernel.source).lexically_normal();
  if (!fs::exists(source))
    throw Error("The kernel " + kernel.name + " has the source " + kernel.source + ", which does not exist.");
  std::set<fs::path> seen;
  appendClosure(source, {interfaceFolder(folders_, kernel), folders_.root, folders_.output}, seen, closure);
  Hash hash;
  hash.add(kFormat);
  hash.add(versions_);
  hash.add(closure);
  for (const std::string& define : kernel.defines) hash.add(define);
  hash.add(kernel.portable ? "portable" : "vulkan-only");
  if (kernel.portable)
    for (const auto& [id, literal] : literalsOf(kernel.family)) hash.add(std::to_string(id) + literal);
  hash.add(usesOperatorCases(kernel) ? "operators" : "");
  return hash.hex();
}

// HLSL of a kernel that is compiled otherwise for it.
std::string Compiler::makePortable(const Kernel& kernel, const std::vector<std::string>& defines, Entry& entry) const {
  const Module portable = compileGlsl(kernel, defines, entry);
  // It may have other views of a buffer.
  Interface expected = entry.facts.interface;
  expected.views = portable.interface.views;
  if (portable.interface != expected)
    throw Error("The kernel " + kernel.name + " has another interface with DIMPLE_HLSL than without.");
  return makeHlsl(kernel, portable, entry);
}

Compiler::Entry Compiler::make(const Kernel& kernel, const std::string& closure) const {
  const bool differsForHlsl = hasLongForm(closure) || closure.find("DIMPLE_HLSL") != closure.npos;
  Entry entry;
  const Module module = compileGlsl(kernel, {}, entry);
  const ModuleFacts facts = inspectModule(module.words);
  if (!facts.unknownCapabilities.empty())
    throw Error("The kernel " + kernel.name +
                " needs SPIR-V capabilities without a KernelFeature: " + joined(facts.unknownCapabilities) + ".");
  entry.facts.interface = module.interface;
  entry.facts.features = facts.features;
  entry.spirv = stripModule(module.words);
  if (kernel.portable && differsForHlsl) {
    entry.hlsl = makePortable(kernel, {"DIMPLE_HLSL", "DIMPLE_COMPACT"}, entry);
    if (hasLongForm(closure)) entry.hlslLong = makePortable(kernel, {"DIMPLE_HLSL"}, entry);
  } else if (kernel.portable) {
    entry.hlsl = makeHlsl(kernel, module, entry);
  }
  if (usesOperatorCases(kernel)) entry.facts.operatorCases = operatorCases(kernel, entry);
  return entry;
}

CompiledKernel Compiler::compile(const Kernel& kernel) const {
  std::string closure;
  const std::string key = cacheKey(kernel, closure);
  const fs::path base = folders_.cache / key;
  const fs::path facts = base.string() + ".txt";
  const fs::path spirv = base.string() + ".spv";
  const fs::path hlsl = base.string() + ".hlsl";
  const fs::path hlslLong = base.string() + ".long.hlsl";

  CompiledKernel result;
  result.kernel = kernel;
  Entry entry;
  // The facts are written last: where they are, the rest is whole.
  if (fs::exists(facts)) {
    entry.facts = parseFacts(readText(facts));
    entry.spirv = readWords(spirv);
    if (kernel.portable) entry.hlsl = readText(hlsl);
    if (kernel.portable && hasLongForm(closure)) entry.hlslLong = readText(hlslLong);
    result.fromCache = true;
  } else {
    entry = make(kernel, closure);
    writeAtomically(spirv, bytesOf(entry.spirv));
    if (kernel.portable) writeAtomically(hlsl, entry.hlsl);
    if (kernel.portable && hasLongForm(closure)) writeAtomically(hlslLong, entry.hlslLong);
    writeAtomically(facts, toText(entry.facts));
  }

  fillOperators(result.kernel.family.specs, entry.facts.operatorCases);
  checkAgainstManifest(result.kernel, entry.facts.interface);
  if (kernel.portable) {
    result.hlslPush = hlslWords(entry.hlsl, "Push");
    result.hlslSpecs = hlslWords(entry.hlsl, "Specialization");
    checkHlslAgainstManifest(result.kernel, result.hlslPush, result.hlslSpecs);
  }
  result.interface = std::move(entry.facts.interface);
  result.features = entry.facts.features;
  result.spirv = std::move(entry.spirv);
  if (entry.hlslLong.empty() && hasProducts(entry.hlsl)) entry.hlslLong = entry.hlsl;
  result.hlsl = std::move(entry.hlsl);
  result.hlslLong = withWideProducts(std::move(entry.hlslLong));
  result.cpuSeconds = entry.facts.cpuSeconds;
  return result;
}

}  // namespace kernelgen
