// Why a file cannot be read or written, for messages.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace dimple {

// Empty if the file can be opened and is not known to be empty. What is no file, such as a pipe, has no size.
inline std::string whyUnreadable(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return "there is no such file";
  if (type == std::filesystem::file_type::directory) return "it is a folder";
  errno = 0;
  if (!std::ifstream(path, std::ios::binary)) return errno != 0 ? std::strerror(errno) : "it cannot be opened";
  if (type == std::filesystem::file_type::regular && std::filesystem::file_size(path, error) == 0) return "it is empty";
  return {};
}

// `code`: the value of errno after the failure, or 0. The reason as the rest of a sentence after "cannot be written".
inline std::string whyUnwritten(const std::filesystem::path& path, int code) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return ": it is a folder.";
  return code != 0 ? std::string(": ") + std::strerror(code) + "." : ".";
}

}  // namespace dimple
