#include "clients/dimple/software_driver.h"

#ifdef __linux__

#include <cstdlib>
#include <filesystem>
#include <string>

namespace dimple::tool {
namespace {

namespace fs = std::filesystem;

// Whether there is a manifest where the Vulkan loader looks for drivers.
bool hasDriver() {
  for (const char* folder : {"/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d",
                             "/usr/local/etc/vulkan/icd.d"}) {
    std::error_code error;
    if (fs::directory_iterator(folder, error) != fs::directory_iterator()) return true;
  }
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "XDG_DATA_HOME"})
    if (std::getenv(variable)) return true;
  const char* home = std::getenv("HOME");
  std::error_code error;
  return home && fs::exists(fs::path(home) / ".local/share/vulkan/icd.d", error);
}

}  // namespace

void chooseSoftwareDriver() {
  if (hasDriver()) return;
  std::error_code error;
  // build/<preset>/bin/dimple
  const fs::path build = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path().parent_path();
  const fs::path manifest = build / "deps" / "lvp_icd.json";
  if (!error && fs::exists(manifest, error)) setenv("VK_DRIVER_FILES", manifest.c_str(), 0);
}

}  // namespace dimple::tool

#else

namespace dimple::tool {
void chooseSoftwareDriver() {}
}  // namespace dimple::tool

#endif
