#include "tests/expectations.h"

#include <fstream>

#include "core/text.h"

namespace dimple::testing {

bool matches(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  while (true) {
    const size_t next = pattern.find('*');
    if (next == pattern.npos) return text.ends_with(pattern);
    // The first place is as good as any, since another star follows.
    const size_t at = text.find(pattern.substr(0, next));
    if (at == text.npos) return false;
    text.remove_prefix(at + next);
    pattern.remove_prefix(next + 1);
  }
}

std::optional<Expectations> Expectations::read(const std::string& path, std::string& error) {
  std::ifstream file(path);
  if (!file) {
    error = cat("The file ", path, " cannot be read.");
    return {};
  }
  Expectations result;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.starts_with("#")) continue;
    const size_t comment = line.find(" # ");
    if (comment == line.npos) {
      error = cat("The line '", line, "' of ", path, " has no reason behind ' # '.");
      return {};
    }
    Entry entry{line.substr(0, comment), line.substr(comment + 3)};
    while (entry.pattern.ends_with(' ')) entry.pattern.pop_back();
    entry.some = entry.pattern.starts_with("some ");
    entry.skip = entry.pattern.starts_with("skip ");
    if (entry.some || entry.skip) entry.pattern.erase(0, 5);
    result.entries_.push_back(std::move(entry));
  }
  return result;
}

bool Expectations::skips(std::string_view line) {
  for (Entry& entry : entries_) {
    if (!matches(entry.pattern, line)) continue;
    if (entry.skip) ++entry.uses;
    return entry.skip;
  }
  return false;
}

bool Expectations::apply(std::string_view line, std::string& failure) {
  for (Entry& entry : entries_) {
    if (entry.skip || !matches(entry.pattern, line)) continue;
    if (failure.empty()) {
      if (entry.some) continue;
      failure = cat("It passes, but is listed as a failure: ", entry.reason);
      return false;
    }
    ++entry.uses;
    failure.clear();
    return true;
  }
  return false;
}

std::vector<std::string> Expectations::unused() const {
  std::vector<std::string> lines;
  for (const Entry& entry : entries_)
    if (entry.uses == 0) lines.push_back(cat(entry.pattern, " # ", entry.reason));
  return lines;
}

}  // namespace dimple::testing
