// The cases that are known to fail on an implementation of DirectML that is not ours. A file holds lines
//
//   PATTERN # reason           every case that the pattern matches fails
//   some PATTERN # reason      cases that the pattern matches may fail, and one does
//
// `*` in a pattern stands for any text. A listed case that passes is a failure, and so is a line that no case needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dimple::testing {

class Expectations {
 public:
  // Null if the file cannot be read or a line has no reason; `error` is then a sentence.
  static std::optional<Expectations> read(const std::string& path, std::string& error);

  // An expected failure of the case becomes none (empty), and a success that was not expected one. Says whether the case
  // failed as listed.
  bool apply(std::string_view line, std::string& failure);
  // The lines whose failures did not occur.
  std::vector<std::string> unused() const;

 private:
  struct Entry {
    std::string pattern;
    std::string reason;
    bool some = false;
    size_t failures = 0;
  };
  std::vector<Entry> entries_;
};

// Whether `text` is `pattern`, in which `*` stands for any text.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace dimple::testing
