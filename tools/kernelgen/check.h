// Compares modules with what the manifest declares.
#pragma once

#include "tools/kernelgen/manifest.h"
#include "tools/kernelgen/reflect.h"

namespace kernelgen {

// Throws Error where names, types, places or access differ, and where a constant has no values.
void checkAgainstManifest(const Kernel& kernel, const Interface& interface);

// The same for the constant buffers of the kernel's HLSL, as bindHlsl left it.
void checkHlslAgainstManifest(const Kernel& kernel, const std::vector<ReflectedWord>& push,
                              const std::vector<ReflectedWord>& specs);

}  // namespace kernelgen
