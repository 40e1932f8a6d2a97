#include "tools/kernelgen/dxil.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernels/kernel_table.h"
#include "tools/kernelgen/error.h"
#include "tools/kernelgen/files.h"
#include "tools/kernelgen/hlsl.h"
#include "tools/kernelgen/jobs.h"
#include "tools/kernelgen/process.h"

namespace kernelgen {

namespace fs = std::filesystem;

namespace {

// Changed whenever the same HLSL would be judged differently.
constexpr std::string_view kFormat = "2";

// What programs write and read lies in a folder that goes with the object.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& parent) : path_(parent / ("dxil." + std::to_string(processId()) + ".tmp")) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool usesNative16(uint32_t features) {
  using dimple::KernelFeature;
  return has(features, KernelFeature::Storage16) || has(features, KernelFeature::Int16) ||
         has(features, KernelFeature::Float16) || has(features, KernelFeature::Push16);
}

// A module begins with "DXBC" and the digest that the validator signs it with; zeros are no digest.
constexpr size_t kHeaderBytes = 20;
bool isSigned(std::string_view code) {
  return std::ranges::any_of(code.substr(4, kHeaderBytes - 4), [](char c) { return c != 0; });
}

std::string readIfThere(const fs::path& path) { return fs::exists(path) ? readText(path) : std::string(); }

}  // namespace

DxilCompiler::DxilCompiler(DxcTools tools, fs::path cache) : tools_(std::move(tools)), cache_(std::move(cache)) {
  if (!tools_.dxc.empty() && !tools_.batch.empty())
    throw Error("The options --dxc and --dxc-batch exclude each other.");
  if (!tools_.batch.empty() && tools_.identity.empty()) throw Error("The option --dxc-batch needs --dxc-identity.");
  if (tools_.dxc.empty()) return;
  ProcessResult result = runProcess({tools_.dxc, "--version"});
  if (result.exitCode != 0) throw Error("The program " + tools_.dxc + " does not run: " + result.output);
  tools_.identity = std::move(result.output);
}

// A module to compile.
struct DxilCompiler::Job {
  CompiledKernel* kernel;
  DxilModule* module;
  std::string name;  // of its files
  std::string hlsl;
  std::vector<std::string> arguments;
  std::string key;  // in the cache
};

namespace {

// Without -WX arithmetic in double silently becomes float and 64-bit atomics 32-bit ones; without -Gis comparisons with
// NaN are folded away and divisions become multiplications; what it takes away beside that is given back (contract.h).
// Without -enable-16bit-types 16-bit types are accepted, but computed in 32 bits. In HLSL 2021, ?:, && and || evaluate
// only what they need: a selection would become a branch, and what is loaded for it would be loaded in this branch,
// after what stands before. -O3 makes code of the same size as -O2.
std::vector<std::string> argumentsFor(bool has16Bits, bool isO3) {
  std::vector<std::string> result{
      "-E", "main", "-HV", "2018", isO3 ? "-O3" : "-O2", "-Gis", "-WX", "-Wno-ambig-lit-shift", "-Qstrip_reflect",
      "-T"};
  if (has16Bits) {
    result.insert(result.end(), {"cs_6_2", "-enable-16bit-types"});
  } else {
    result.push_back("cs_6_0");
  }
  return result;
}

}  // namespace

std::vector<DxilCompiler::Job> DxilCompiler::jobsOf(std::vector<CompiledKernel>& kernels) const {
  std::vector<Job> jobs;
  for (CompiledKernel& kernel : kernels)
    for (DxilModule& module : kernel.dxil) {
      std::string hlsl = module.key.isLong ? kernel.hlslLong : kernel.hlsl;
      if (module.key.convertsHalves) hlsl = withHalfConversions(std::move(hlsl));
      Job job{&kernel,
              &module,
              kernel.kernel.name + moduleSuffix(module.key),
              withFixed(hlsl, module.key.fixed, kernel.kernel.family),
              argumentsFor(module.key.convertsHalves || usesNative16(kernel.features), module.key.isO3),
              {}};
      Hash hash;
      hash.add(kFormat);
      hash.add(tools_.identity);
      hash.add(job.hlsl);
      for (const std::string& argument : job.arguments) hash.add(argument);
      job.key = hash.hex();
      jobs.push_back(std::move(job));
    }
  return jobs;
}

void DxilCompiler::runBatch(const std::vector<const Job*>& jobs, const fs::path& folder) const {
  std::string list;
  for (const Job* job : jobs) {
    list += job->name;
    for (const std::string& argument : job->arguments) list += " " + argument;
    list += '\n';
  }
  writeAtomically(folder / "list", list);
  const ProcessResult result = runProcess({tools_.batch, folder.string()});
  if (result.exitCode != 0)
    throw Error("The program " + tools_.batch + " failed with " + std::to_string(result.exitCode) + ": " +
                result.output);
}

void DxilCompiler::runEach(const std::vector<const Job*>& jobs, const fs::path& folder, size_t threads) const {
  forEach(jobs.size(), threads, "modules of DXIL", [&](size_t i) {
    const std::string base = (folder / jobs[i]->name).string();
    std::vector<std::string> command{tools_.dxc, base + ".hlsl", "-Fo", base + ".dxil"};
    command.insert(command.end(), jobs[i]->arguments.begin(), jobs[i]->arguments.end());
    const auto start = std::chrono::steady_clock::now();
    const ProcessResult result = runProcess(command);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    writeAtomically(base + ".time", std::to_string(time.count()));
    if (!result.output.empty()) writeAtomically(base + ".log", result.output);
    // Some versions leave a file behind when they refuse a kernel.
    if (result.exitCode != 0) fs::remove(base + ".dxil");
  });
}

// Puts into the cache what DXC made of a job.
void DxilCompiler::take(const Job& job, const fs::path& folder) const {
  const fs::path base = folder / job.name;
  const std::string log = readIfThere(base.string() + ".log");
  const std::string code = readIfThere(base.string() + ".dxil");
  if (!log.empty()) throw Error("The kernel " + job.name + " is refused by DXC:\n" + log);
  if (!code.starts_with("DXBC") || code.size() < kHeaderBytes)
    throw Error("The kernel " + job.name + " got no DXIL of DXC, which says nothing.");
  if (!isSigned(code))
    throw Error("The DXIL of the kernel " + job.name +
                " is not signed, so Direct3D 12 would refuse it; dxil.dll is missing beside DXC.");
  writeAtomically(cache_ / (job.key + ".dxil"), code);
  // The time is written last: where it is, the code is whole.
  writeAtomically(cache_ / (job.key + ".time"), readText(base.string() + ".time"));
}

void DxilCompiler::compile(std::vector<CompiledKernel>& kernels, size_t jobs) const {
  if (tools_.dxc.empty() && tools_.batch.empty()) return;
  const std::vector<Job> all = jobsOf(kernels);
  std::vector<const Job*> missing;
  std::set<std::string> keys;  // literals of constants that a kernel does not read change nothing
  for (const Job& job : all)
    if (!fs::exists(cache_ / (job.key + ".time")) && keys.insert(job.key).second) missing.push_back(&job);
  if (!missing.empty()) {
    const WorkFolder folder(cache_);
    for (const Job* job : missing) writeAtomically(folder.path() / (job->name + ".hlsl"), job->hlsl);
    if (tools_.dxc.empty()) {
      runBatch(missing, folder.path());
    } else {
      runEach(missing, folder.path(), jobs);
    }
    forEach(missing.size(), 1, "modules of DXIL", [&](size_t i) {
      take(*missing[i], folder.path());
      missing[i]->kernel->fromCache = false;
    });
  }
  for (const Job& job : all) {
    job.module->code = readText(cache_ / (job.key + ".dxil"));
    job.kernel->cpuSeconds += 1e-3 * std::strtod(readText(cache_ / (job.key + ".time")).c_str(), nullptr);
  }
}

}  // namespace kernelgen
