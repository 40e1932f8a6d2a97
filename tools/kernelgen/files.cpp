#include "tools/kernelgen/files.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tools/kernelgen/error.h"
#include "tools/kernelgen/process.h"

namespace kernelgen {

namespace fs = std::filesystem;

std::string readText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("The file " + path.string() + " cannot be read.");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<uint32_t> readWords(const fs::path& path) {
  const std::string bytes = readText(path);
  if (bytes.size() % 4 != 0) throw Error("The file " + path.string() + " is not a whole number of words.");
  std::vector<uint32_t> words(bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

bool writeIfChanged(const fs::path& path, std::string_view content) {
  std::error_code missing;
  if (fs::file_size(path, missing) == content.size() && !missing && readText(path) == content) return false;
  writeAtomically(path, content);
  return true;
}

void writeAtomically(const fs::path& path, std::string_view content) {
  static std::atomic<unsigned> counter{0};
  const fs::path temporary =
      path.string() + "." + std::to_string(processId()) + "." + std::to_string(counter++) + ".tmp";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(content.data(), std::streamsize(content.size()));
    if (!file.flush()) throw Error("The file " + temporary.string() + " cannot be written.");
  }
  fs::rename(temporary, path);
}

std::string_view bytesOf(std::span<const uint32_t> words) {
  return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

void Hash::add(std::string_view bytes) {
  constexpr uint64_t kPrime = 0x100000001b3ull;
  const auto mix = [&](uint8_t byte) {
    a_ = (a_ ^ byte) * kPrime;
    b_ = (b_ ^ byte) * kPrime;
  };
  for (int shift = 0; shift < 64; shift += 8) mix(uint8_t(uint64_t(bytes.size()) >> shift));
  for (const char byte : bytes) mix(uint8_t(byte));
}

std::string Hash::hex() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(a_),
                static_cast<unsigned long long>(b_));
  return text;
}

}  // namespace kernelgen
