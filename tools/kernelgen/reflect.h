// The interface of a module, as SPIRV-Cross reports it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/kernelgen/manifest.h"

namespace kernelgen {

struct ReflectedWord {
  std::string name;
  std::string type;  // GLSL's name
  uint32_t offset = 0;
  bool operator==(const ReflectedWord&) const = default;
};

struct ReflectedSpec {
  uint32_t id = 0;
  std::string type;
  std::string name;  // empty of the constant behind local_size_x_id alone
  bool operator==(const ReflectedSpec&) const = default;
};

// A storage buffer; a binding may have several.
struct ReflectedView {
  uint32_t binding = 0;
  std::string block;
  std::string type;  // of its elements
  bool operator==(const ReflectedView&) const = default;
};

struct Interface {
  std::vector<ReflectedWord> push;
  uint32_t pushBytes = 0;
  uint32_t parameterBytes = 0;
  std::vector<Access> bindings;
  std::vector<ReflectedView> views;
  std::array<uint32_t, 3> workgroupSize{};
  std::vector<ReflectedSpec> specs;  // sorted by id
  bool operator==(const Interface&) const = default;
};

// Throws Error when the interface breaks a rule of all kernels; `kernel` names it in the sentence.
Interface reflect(const std::string& json, const std::string& kernel);

}  // namespace kernelgen
