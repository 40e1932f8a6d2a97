// What the manifest alone says of kernels, for GLSL and for C++.
#pragma once

#include <filesystem>
#include <string>

#include "tools/kernelgen/manifest.h"

namespace kernelgen {

// "GemmFewRows" of gemm_few_rows, "tileRows" of TILE_ROWS.
std::string typeName(const std::string& name);
std::string memberName(const std::string& specName);
// Of a push word or a constant, in its structure.
std::string memberPath(const PushWord& word);
std::string memberPath(const Spec& spec);

// interface.glsl of a family: its push block with the instance `push`, its specialization constants, and BINDING_NAME
// of each buffer.
std::string interfaceGlsl(const Family& family);

// The C++ structure of a family.
std::string interfaceHeader(const Family& family);

// Writes <output>/kernels/interfaces/: a header a family and ids.h, and <output>/kernels/kernel_names.cpp. Headers of
// families that are gone are removed; unchanged files are not touched.
void emitInterfaces(const Manifest& manifest, const std::filesystem::path& output);

}  // namespace kernelgen
