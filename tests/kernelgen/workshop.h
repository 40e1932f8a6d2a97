// Small kernels in a folder, and kernelgen run on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/kernelgen/files.h"
#include "tools/kernelgen/process.h"

namespace kernelgen {

namespace fs = std::filesystem;

// A folder with kernels and a manifest, in which kernelgen runs; it goes with the object.
class Workshop {
 public:
  Workshop() : folder_(fs::temp_directory_path() / ("kernelgen_test." + std::to_string(processId()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Workshop() { fs::remove_all(folder_); }

  const fs::path& folder() const { return folder_; }
  void write(const std::string& name, const std::string& text) const { writeAtomically(folder_ / name, text); }
  std::string read(const std::string& name) const { return readText(folder_ / "out" / name); }
  bool exists(const std::string& name) const { return fs::exists(folder_ / "out" / name); }
  fs::file_time_type time(const std::string& name) const { return fs::last_write_time(folder_ / "out" / name); }

  // The words of an array of the generated code; empty if there is none.
  std::string arrayOf(const std::string& name) const {
    const std::string head = "const uint64_t " + name + "[] = {";
    for (int i = 0; i < 16; ++i) {
      const std::string text = read("kernel_data_" + std::to_string(i) + ".cpp");
      if (const size_t at = text.find("\n" + head); at != text.npos)
        return text.substr(at + 1 + head.size(), text.find("};", at) - at - 1 - head.size());
    }
    return {};
  }

  ProcessResult run(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{DIMPLE_KERNELGEN,
                                       "--manifest",
                                       (folder_ / "manifest.txt").string(),
                                       "--root",
                                       folder_.string(),
                                       "--output",
                                       (folder_ / "out").string(),
                                       "--cache",
                                       (folder_ / "cache").string(),
                                       "--directml",
                                       DIMPLE_DIRECTML_HEADER,
                                       "--glslang",
                                       DIMPLE_GLSLANG,
                                       "--spirv-cross",
                                       DIMPLE_SPIRV_CROSS,
                                       "--spirv-val",
                                       DIMPLE_SPIRV_VAL};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return runProcess(arguments);
  }

 private:
  fs::path folder_;
};

inline constexpr const char* kHead =
    "#version 460\n"
    "#extension GL_GOOGLE_include_directive : require\n"
    "layout(local_size_x = 1) in;\n"
    "layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };\n";

inline std::string kernelGlsl(const std::string& body, const std::string& before = "") {
  return kHead + before + "void main() { " + body + " }\n";
}

}  // namespace kernelgen
