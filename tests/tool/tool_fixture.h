// Runs the command line tool as a person does.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#ifdef _WIN32
#include <process.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace dimple::testing {

struct ToolOutcome {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string readText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// With the ends of lines as they are in C.
inline std::string readLines(const std::filesystem::path& path) {
  std::string text = readText(path);
  std::erase(text, '\r');
  return text;
}

// What --backend takes in this build.
inline const std::vector<std::string>& toolBackends() {
#ifdef DIMPLE_WITH_D3D12
  static const std::vector<std::string> backends{"vulkan", "d3d12"};
#else
  static const std::vector<std::string> backends{"vulkan"};
#endif
  return backends;
}

// A folder of its own, removed at the end.
class ToolFixture {
 public:
  ToolFixture() {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("dimple-tool-" + std::to_string(getpid()) + "-" + std::to_string(++count));
    std::filesystem::create_directories(folder_);
  }
  ~ToolFixture() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ToolFixture(const ToolFixture&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  // For what runs later.
  void setEnvironment(const std::string& name, const std::string& value) {
#ifdef _WIN32
    environment_ += "set \"" + name + "=" + value + "\" && ";
#else
    environment_ += name + "='" + value + "' ";
#endif
  }

  // The tool. `arguments` as a POSIX shell reads them, with ' as the only quotes; the fixture's folder is the current
  // one.
  ToolOutcome run(const std::string& arguments) const { return runProgram(DIMPLE_TOOL, arguments); }

  ToolOutcome runProgram(const std::string& program, std::string arguments) const {
    ToolOutcome outcome;
#ifdef _WIN32
    std::replace(arguments.begin(), arguments.end(), '\'', '"');
    // cmd takes the first and the last quote away.
    const std::string command = "\"cd /d \"" + folder_.string() + "\" && " + environment_ + "\"" + program + "\" " +
                                arguments + " >stdout.txt 2>stderr.txt\"";
    outcome.code = std::system(command.c_str());
#else
    // Drivers and layers leave memory behind when they are unloaded, which a leak sanitizer reports. Each descriptor
    // heap of libvkd3d takes 0.7 s on lavapipe, unless the descriptors go into Vulkan's at execution.
    const std::string environment = "LSAN_OPTIONS=detect_leaks=0 VKD3D_CONFIG=virtual_heaps " + environment_;
    const std::string command = "cd '" + folder_.string() + "' && " + environment + "'" + program + "' " + arguments +
                                " >stdout.txt 2>stderr.txt";
    const int status = std::system(command.c_str());
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
#endif
    outcome.out = readLines(folder_ / "stdout.txt");
    outcome.err = readLines(folder_ / "stderr.txt");
    return outcome;
  }

 private:
  std::filesystem::path folder_;
  std::string environment_;
};

}  // namespace dimple::testing
