// Values of specialization constants in the manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "tools/kernelgen/enums.h"
#include "tools/kernelgen/word_type.h"

namespace kernelgen {

class ValueParser {
 public:
  // `fail` does not return; it takes a sentence.
  ValueParser(const Enums& enums, std::function<void(const std::string&)> fail)
      : enums_(enums), fail_(std::move(fail)) {}

  // A number or an enumerator of DirectML.h.
  uint32_t number(const std::string& word) const;
  // The bits of a value of a type of 32 bits.
  uint32_t bits(const std::string& word, const WordType& type) const;
  // A value, or all from `first..last`.
  void addRange(const std::string& word, const WordType& type, std::set<uint32_t>& values) const;

  static std::string glsl(uint32_t bits, const WordType& type);

 private:
  const Enums& enums_;
  std::function<void(const std::string&)> fail_;
};

}  // namespace kernelgen
