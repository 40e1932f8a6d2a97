// kernelgen: compiles the kernels of kernels/manifest.txt and writes the table that the library embeds.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/kernelgen/compile.h"
#include "tools/kernelgen/dxil.h"
#include "tools/kernelgen/emit.h"
#include "tools/kernelgen/enums.h"
#include "tools/kernelgen/error.h"
#include "tools/kernelgen/files.h"
#include "tools/kernelgen/hlsl.h"
#include "tools/kernelgen/interfaces.h"
#include "tools/kernelgen/jobs.h"
#include "tools/kernelgen/manifest.h"

namespace kernelgen {

namespace fs = std::filesystem;

namespace {

constexpr const char* kUsage =
    R"(usage: kernelgen --manifest FILE --root FOLDER --output FOLDER --cache FOLDER --directml DirectML.h
                 --glslang PROGRAM --spirv-cross PROGRAM --spirv-val PROGRAM
                 [--data-files N] [--jobs N] [--max-modules N] [--max-bytes N] [--max-seconds N]
                 [--dxc PROGRAM | --dxc-batch PROGRAM --dxc-identity TEXT] [--modules FILE]
       kernelgen --manifest FILE --directml DirectML.h --interfaces FOLDER

Compiles every kernel of the manifest to SPIR-V, and to HLSL where it is portable, checks them and writes C++ sources
with the table of kernels to the output folder. With DXC the table also has DXIL of the portable ones; a program for
batches takes a folder as dxc/dxc_batch.cpp says, and the text tells one DXC behind it from another. The file names
modules of DXIL beside those, as modules.h says. The ceilings are on the number of modules of DXIL, on the compressed
bytes of all modules, and on the seconds, by the clock, of a generation without a cache on two cores.

With --interfaces it compiles nothing: it writes the C++ headers of what kernels are given, and the names of kernels.
)";

struct Options {
  std::map<std::string, std::string> values{
      {"--data-files", "16"},      {"--jobs", "0"},          {"--max-modules", "2500"},
      {"--max-bytes", "16777216"}, {"--max-seconds", "900"}, {"--dxc", ""},
      {"--dxc-batch", ""},         {"--dxc-identity", ""},   {"--modules", ""},
  };

  const std::string& text(const std::string& name) const {
    const auto found = values.find(name);
    if (found == values.end()) throw Error("The option " + name + " is missing.\n" + kUsage);
    return found->second;
  }
  uint64_t number(const std::string& name) const {
    const std::string& value = text(name);
    uint64_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size())
      throw Error("The option " + name + " takes a number, not '" + value + "'.");
    return result;
  }
};

Options parseOptions(int count, char** arguments) {
  static const char* const known[] = {"--manifest",     "--root",        "--output",      "--cache",      "--directml",
                                      "--glslang",      "--spirv-cross", "--spirv-val",   "--data-files", "--jobs",
                                      "--max-modules",  "--max-bytes",   "--max-seconds", "--dxc",        "--dxc-batch",
                                      "--dxc-identity", "--interfaces",  "--modules"};
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    if (std::ranges::find(known, name) == std::end(known))
      throw Error("The option " + name + " is not known.\n" + kUsage);
    if (i + 1 == count) throw Error("The option " + name + " has no value.");
    options.values[name] = arguments[i + 1];
  }
  return options;
}

// Devices whose own conversions to FLOAT16 round to nearest even get modules with these, and have 16-bit storage. So
// kernels for this storage need no other modules, and those that such a kernel stands in for need none of these.
void addHalfConversions(CompiledKernel& kernel, const std::vector<CompiledKernel>& all) {
  dimple::KernelId native = kernel.kernel.id;
  native.native = true;
  const auto isNative = [&](const CompiledKernel& other) { return other.kernel.id == native; };
  const bool isStoodInFor = !kernel.kernel.id.native && std::ranges::any_of(all, isNative);
  const bool has = convertsToHalves(kernel.hlsl) && !isStoodInFor;
  std::vector<DxilModule> modules;
  for (const DxilModule& module : kernel.dxil) {
    if (module.key.convertsHalves && (!has || kernel.kernel.id.native))
      throw Error("The kernel " + kernel.kernel.name + " gets HALVES modules, but " +
                  (has ? "has no others." : "no devices take such modules of it."));
    if (!module.key.convertsHalves && has) {
      modules.push_back(module);
      modules.back().key.convertsHalves = true;
    }
  }
  if (has && kernel.kernel.id.native) kernel.dxil.clear();
  std::ranges::move(modules, std::back_inserter(kernel.dxil));
}

// Portable kernels get the modules that are to be made of them.
void addModules(std::vector<CompiledKernel>& kernels, const Options& options, const Enums& enums) {
  std::map<std::string, std::vector<ModuleKey>> modules;
  if (const std::string& file = options.text("--modules"); !file.empty()) {
    std::vector<const Kernel*> all;
    for (const CompiledKernel& kernel : kernels) all.push_back(&kernel.kernel);
    modules = parseModules(readText(file), file, all, enums);
  }
  for (CompiledKernel& kernel : kernels) {
    if (!kernel.kernel.portable) continue;
    kernel.dxil.emplace_back();
    for (ModuleKey& key : modules[kernel.kernel.name]) {
      if (key.isLong && kernel.hlslLong.empty())
        throw Error("The kernel " + kernel.kernel.name +
                    " gets LONG modules, but has no long form: nothing of it depends on DIMPLE_COMPACT, and it "
                    "has no products of 64 bits.");
      kernel.dxil.push_back({std::move(key), {}});
    }
    addHalfConversions(kernel, kernels);
  }
  size_t count = 0;
  for (const CompiledKernel& kernel : kernels) count += kernel.dxil.size();
  if (count > options.number("--max-modules"))
    throw Error("There are " + std::to_string(count) + " modules of DXIL, above the ceiling of " +
                options.text("--max-modules") + ".");
}

void checkCeilings(const std::vector<CompiledKernel>& kernels, uint64_t bytes, const Options& options) {
  double seconds = 0;
  const auto codeBytes = [](const CompiledKernel& kernel) { return 4 * kernel.spirv.size() + kernel.dxilBytes(); };
  const CompiledKernel* largest = nullptr;
  const CompiledKernel* slowest = nullptr;
  for (const CompiledKernel& kernel : kernels) {
    seconds += kernel.cpuSeconds / 2;
    if (!largest || codeBytes(kernel) > codeBytes(*largest)) largest = &kernel;
    if (!slowest || kernel.cpuSeconds > slowest->cpuSeconds) slowest = &kernel;
  }
  if (bytes > options.number("--max-bytes"))
    throw Error("The kernels take " + std::to_string(bytes) + " bytes, above the ceiling of " +
                options.text("--max-bytes") + "; the largest is " + largest->kernel.name + ".");
  if (seconds > double(options.number("--max-seconds")))
    throw Error("Making all kernels takes " + std::to_string(int(seconds)) + " s on two cores, above the ceiling of " +
                options.text("--max-seconds") + " s; the slowest is " + slowest->kernel.name + ".");
}

Manifest readManifest(const Options& options, const Enums& enums) {
  const std::string& file = options.text("--manifest");
  return parseManifest(readText(file), file, enums);
}

void generateInterfaces(const Options& options) {
  const Enums enums = Enums::parse(readText(options.text("--directml")));
  emitInterfaces(readManifest(options, enums), options.text("--interfaces"));
}

void generate(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const Folders folders{fs::absolute(options.text("--root")).lexically_normal(),
                        fs::absolute(options.text("--output")).lexically_normal(),
                        fs::absolute(options.text("--cache")).lexically_normal()};
  fs::create_directories(folders.output / "tagged");
  const Enums enums = Enums::parse(readText(options.text("--directml")));
  writeIfChanged(folders.output / "directml_enums.glsl", enums.glsl());
  writeIfChanged(folders.output / "tagged" / "directml_enums.glsl", enums.taggedGlsl());
  writeIfChanged(folders.output / "directml_enums_check.cpp", enums.check());

  const std::vector<Kernel> kernels = readManifest(options, enums).kernels;
  std::string_view written;
  for (const Kernel& kernel : kernels) {
    if (std::exchange(written, kernel.interface) == kernel.interface) continue;
    const fs::path folder = folders.output / "interfaces" / kernel.interface;
    fs::create_directories(folder);
    writeIfChanged(folder / "interface.glsl", interfaceGlsl(kernel.family));
  }
  const Compiler compiler({options.text("--glslang"), options.text("--spirv-cross"), options.text("--spirv-val")},
                          folders);
  const DxilCompiler dxil(
      {options.values.at("--dxc"), options.values.at("--dxc-batch"), options.values.at("--dxc-identity")},
      folders.cache);
  const size_t jobs = options.number("--jobs");
  std::vector<CompiledKernel> compiled(kernels.size());
  forEach(kernels.size(), jobs, "kernels", [&](size_t i) { compiled[i] = compiler.compile(kernels[i]); });
  addModules(compiled, options, enums);
  dxil.compile(compiled, jobs);
  const uint64_t dataFiles = options.number("--data-files");
  if (dataFiles < 1 || dataFiles > 256) throw Error("The option --data-files takes a number from 1 to 256.");
  const uint64_t bytes = emitTable(compiled, unsigned(dataFiles), folders.output);
  checkCeilings(compiled, bytes, options);

  size_t made = 0;
  size_t withDxil = 0;
  size_t modules = 0;
  for (const CompiledKernel& kernel : compiled) {
    withDxil += kernel.hasDxil();
    made += !kernel.fromCache;
    if (kernel.hasDxil()) modules += kernel.dxil.size();
  }
  std::printf(
      "kernelgen: %zu kernels, %zu compiled, %zu from the cache, %zu with DXIL in %zu modules, %.2f MB, %.1f s\n",
      compiled.size(), made, compiled.size() - made, withDxil, modules, double(bytes) * 1e-6,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

}  // namespace kernelgen

int main(int count, char** arguments) {
  try {
    const kernelgen::Options options = kernelgen::parseOptions(count, arguments);
    if (options.values.contains("--interfaces"))
      kernelgen::generateInterfaces(options);
    else
      kernelgen::generate(options);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kernelgen: %s\n", e.what());
    return 1;
  }
}
