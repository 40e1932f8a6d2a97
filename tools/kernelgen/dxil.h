// From the HLSL of portable kernels to DXIL, with DXC.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/kernelgen/compile.h"

namespace kernelgen {

// At most one of the programs is given; without one nothing is compiled.
struct DxcTools {
  std::string dxc;       // DXC's own program, one process a kernel
  std::string batch;     // takes a folder as dxc/dxc_batch.cpp says
  std::string identity;  // of the DXC behind `batch`: another one makes every kernel anew
};

class DxilCompiler {
 public:
  DxilCompiler(DxcTools tools, std::filesystem::path cache);

  // Fills in the code of kernels' modules, out of the cache where it is there.
  void compile(std::vector<CompiledKernel>& kernels, size_t jobs) const;

 private:
  struct Job;

  std::vector<Job> jobsOf(std::vector<CompiledKernel>& kernels) const;
  void runBatch(const std::vector<const Job*>& jobs, const std::filesystem::path& folder) const;
  void runEach(const std::vector<const Job*>& jobs, const std::filesystem::path& folder, size_t threads) const;
  void take(const Job& job, const std::filesystem::path& folder) const;

  DxcTools tools_;
  std::filesystem::path cache_;
};

}  // namespace kernelgen
