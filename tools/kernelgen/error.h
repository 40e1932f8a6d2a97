#pragma once

#include <stdexcept>
#include <string>

namespace kernelgen {

// A reason to fail the build: a sentence that names the kernel or the line of the manifest.
struct Error : std::runtime_error {
  explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}
};

}  // namespace kernelgen
