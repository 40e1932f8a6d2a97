// Writes the generated sources.
#pragma once

#include <filesystem>
#include <vector>

#include "tools/kernelgen/compile.h"

namespace kernelgen {

// kernel_index.cpp, interface_check.cpp, kernel_data_<i>.cpp (i < dataFiles), hlsl/, spirv/ and kernels.txt under
// `output`. Files of kernels that are gone are removed; unchanged files are not touched. Returns the bytes of code that
// the table holds, which are compressed.
uint64_t emitTable(const std::vector<CompiledKernel>& kernels, unsigned dataFiles, const std::filesystem::path& output);

}  // namespace kernelgen
