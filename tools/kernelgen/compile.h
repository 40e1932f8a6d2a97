// From a kernel of the manifest to a checked module.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/kernelgen/manifest.h"
#include "tools/kernelgen/modules.h"
#include "tools/kernelgen/reflect.h"

namespace kernelgen {

struct Tools {
  std::string glslang;
  std::string spirvCross;
  std::string spirvVal;
};

struct Folders {
  std::filesystem::path root;    // of the shaders, and of their includes
  std::filesystem::path output;  // generated files; also an include folder, as is interfaces/<interface> in it
  std::filesystem::path cache;
};

// DXIL of a kernel, with some of its constants for literals.
struct DxilModule {
  ModuleKey key;     // nothing fixed: it serves all values
  std::string code;  // empty without DXC
};

struct CompiledKernel {
  Kernel kernel;  // with all values of its specialization constants
  Interface interface;
  uint32_t features = 0;
  std::vector<uint32_t> spirv;
  std::string hlsl;                     // empty when it is not portable
  std::string hlslLong;                 // of its long form; empty where it has none
  std::vector<ReflectedWord> hlslPush;  // the words of its constant buffers
  std::vector<ReflectedWord> hlslSpecs;
  std::vector<DxilModule> dxil;  // first the one that fixes nothing; empty when it is not portable
  double cpuSeconds = 0;         // of the programs that made it, when it was made
  bool fromCache = false;

  bool hasDxil() const { return !dxil.empty() && !dxil.front().code.empty(); }
  size_t dxilBytes() const {
    size_t bytes = 0;
    for (const DxilModule& module : dxil) bytes += module.code.size();
    return bytes;
  }
};

class Compiler {
 public:
  // Asks the programs for their versions: another version makes every kernel anew.
  Compiler(Tools tools, Folders folders);

  // Safe to call from several threads.
  CompiledKernel compile(const Kernel& kernel) const;

 private:
  struct Entry;
  struct Module;

  std::string cacheKey(const Kernel& kernel, std::string& closure) const;
  Entry make(const Kernel& kernel, const std::string& closure) const;
  Module compileGlsl(const Kernel& kernel, const std::vector<std::string>& defines, Entry& entry) const;
  std::string makePortable(const Kernel& kernel, const std::vector<std::string>& defines, Entry& entry) const;
  std::string makeHlsl(const Kernel& kernel, const Module& module, Entry& entry) const;
  OperatorCases operatorCases(const Kernel& kernel, Entry& entry) const;
  std::string run(const std::vector<std::string>& arguments, const Kernel& kernel, Entry& entry) const;
  std::vector<std::string> sourceArguments(const Kernel& kernel, const std::filesystem::path& enums) const;

  Tools tools_;
  Folders folders_;
  std::string versions_;
};

}  // namespace kernelgen
