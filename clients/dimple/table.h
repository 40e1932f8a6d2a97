// Tables of text on standard output.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dimple::tool {

class Table {
 public:
  // Columns whose title begins with '>' are aligned to the right.
  explicit Table(std::vector<std::string> titles);

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

// With this many digits after the point.
std::string fixedText(double value, int digits);
// "1 dispatch", "2 dispatches"
std::string countText(size_t count, std::string_view noun);

}  // namespace dimple::tool
