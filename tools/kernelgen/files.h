// Reading, writing and hashing files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelgen {

std::string readText(const std::filesystem::path& path);
std::vector<uint32_t> readWords(const std::filesystem::path& path);

// Leaves the file and its time stamp alone when it has that content already. True when it was written.
bool writeIfChanged(const std::filesystem::path& path, std::string_view content);

// Never leaves half a file behind, also when several processes write the same one.
void writeAtomically(const std::filesystem::path& path, std::string_view content);

std::string_view bytesOf(std::span<const uint32_t> words);

// 128 bits of FNV-1a from two starting points: it tells contents apart, it does not resist an adversary.
class Hash {
 public:
  void add(std::string_view bytes);  // the length counts: "ab" + "c" differs from "a" + "bc"
  std::string hex() const;

 private:
  uint64_t a_ = 0xcbf29ce484222325ull;
  uint64_t b_ = 0x9ae16a3b2f90404full;
};

}  // namespace kernelgen
