// The cases that are known to fail on an implementation of DirectML that is not ours. A file holds lines
//
//   PATTERN # reason           every case that the pattern matches fails
//   some PATTERN # reason      cases that the pattern matches may fail, and one does
//   skip PATTERN # reason      cases that the pattern matches are not run: they would not end, or end the device;
//                              not those that an earlier line matches
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

  // Whether the case is not to be run.
  bool skips(std::string_view line);
  // An expected failure of the case becomes none (empty), and a success that was not expected one. Says whether the
  // case failed as listed.
  bool apply(std::string_view line, std::string& failure);
  // The lines that no case needed.
  std::vector<std::string> unused() const;

 private:
  struct Entry {
    std::string pattern;
    std::string reason;
    bool some = false;
    bool skip = false;
    size_t uses = 0;  // failures, or cases not run
  };
  std::vector<Entry> entries_;
};

// Whether `text` is `pattern`, in which `*` stands for any text.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace dimple::testing
