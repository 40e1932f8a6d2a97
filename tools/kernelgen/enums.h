// The enumerators of DirectML.h, for GLSL.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelgen {

struct Enumerator {
  std::string name;
  uint32_t value;
};

// The operators that are case labels, by what their switch is over: {"OP", {4, 23}}.
using OperatorCases = std::map<std::string, std::set<uint32_t>>;

class Enums {
 public:
  // Every enumerator of every `enum DML_...` of the header, conditional parts included.
  static Enums parse(std::string_view header);

  const std::vector<Enumerator>& all() const { return all_; }
  const Enumerator* find(std::string_view name) const;

  // `#define NAME value` for every enumerator.
  std::string glsl() const;

  // The same, but every DML_OPERATOR_ enumerator expands to a form that only it expands to and that has its value:
  // after preprocessing, taggedOperatorCases finds which of them are case labels.
  std::string taggedGlsl() const;
  static OperatorCases taggedOperatorCases(std::string_view preprocessed);

  // C++ that compares the values with the header's.
  std::string check() const;

 private:
  void addBody(const std::string& body);

  std::vector<Enumerator> all_;
};

}  // namespace kernelgen
