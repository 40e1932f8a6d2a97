// Self-contained pages, without references to anything outside the file: tables with bars, and what scripts draw.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dimple::tool {

class HtmlReport {
 public:
  explicit HtmlReport(std::string_view title);

  void paragraph(std::string_view text);
  // Begins a table. Columns whose title begins with '>' are aligned to the right; the last one takes the bars.
  void table(std::string_view heading, const std::vector<std::string>& titles);
  // `share` of 1 fills the last column; what is below `good` is marked. As many cells as titles but the last.
  void row(const std::vector<std::string>& cells, double share, double good = 0);

  // Whether this build has what plots are drawn with.
  static bool canPlot();
  // The rest of the page is what its scripts draw of this JSON (docs/reports.md).
  void plots(const std::string& json);

  // The whole document.
  std::string text() const;

 private:
  void endTable();

  std::string body_;
  std::vector<bool> right_;
  bool inTable_ = false;
};

// Throws RunError if the file cannot be written.
void writeText(const std::string& path, std::string_view text);

}  // namespace dimple::tool
