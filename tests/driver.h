// Which Vulkan driver tests run on.
#pragma once

#include <cstdlib>
#include <string_view>

namespace dimple::testing {

// Lavapipe, unless the caller chose a driver. It takes longer to compile a kernel than to run a test's few elements
// with it: a third of the time without LLVM's optimizations and with loops that stay loops, and a quarter less of that
// with vectors of four elements instead of eight.
inline void chooseDriver() {
#if defined(DIMPLE_LVP_ICD) && !defined(_WIN32)
  const char* chosen = std::getenv("VK_DRIVER_FILES");
  if (!chosen && !std::getenv("VK_ICD_FILENAMES")) {
    setenv("VK_DRIVER_FILES", DIMPLE_LVP_ICD, 0);
    chosen = DIMPLE_LVP_ICD;
  }
  if (chosen && std::string_view(chosen) == DIMPLE_LVP_ICD) {
    setenv("GALLIVM_PERF", "nopt", 0);
    setenv("LP_NATIVE_VECTOR_WIDTH", "128", 0);
    setenv("DIMPLE_OPTIONS", "unroll=0", 0);
  }
  // libvkd3d reports its unfinished parts, and lavapipe that there is no desktop.
  setenv("VKD3D_DEBUG", "err", 0);
  setenv("XDG_RUNTIME_DIR", "/tmp", 0);
#endif
}

}  // namespace dimple::testing
