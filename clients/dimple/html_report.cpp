#include "clients/dimple/html_report.h"

#include <algorithm>
#include <fstream>

#include "clients/dimple/table.h"
#include "clients/files/failure.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr std::string_view kStyle = R"(
body{font:14px/1.4 sans-serif;margin:2em;color:#222}
table{border-collapse:collapse;margin-bottom:2em}
th,td{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd;white-space:nowrap}
.r{text-align:right}
.b{width:240px;background:#eee;position:relative}
.b i{display:block;height:12px;background:#4a8}
.b i.low{background:#c54}
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace

HtmlReport::HtmlReport(std::string_view title)
    : body_(cat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", escaped(title),
                "</title><style>", kStyle, "</style></head><body>\n<h1>", escaped(title), "</h1>\n")) {}

void HtmlReport::paragraph(std::string_view text) {
  if (inTable_) body_ += "</table>\n";
  inTable_ = false;
  body_ += cat("<p>", escaped(text), "</p>\n");
}

void HtmlReport::table(std::string_view heading, const std::vector<std::string>& titles) {
  if (inTable_) body_ += "</table>\n";
  inTable_ = true;
  right_.clear();
  body_ += cat("<h2>", escaped(heading), "</h2>\n<table><tr>");
  for (const std::string_view title : titles) {
    right_.push_back(title.starts_with('>'));
    body_ += cat(right_.back() ? "<th class=\"r\">" : "<th>", escaped(title.substr(right_.back() ? 1 : 0)), "</th>");
  }
  body_ += "</tr>\n";
}

void HtmlReport::row(const std::vector<std::string>& cells, double share, double good) {
  body_ += "<tr>";
  for (size_t i = 0; i < cells.size(); ++i)
    body_ += cat(right_.at(i) ? "<td class=\"r\">" : "<td>", escaped(cells[i]), "</td>");
  body_ += cat("<td class=\"b\"><i", share < good ? " class=\"low\"" : "",
               " style=\"width:", fixedText(100 * std::clamp(share, 0.0, 1.0), 1), "%\"></i></td></tr>\n");
}

std::string HtmlReport::text() const { return cat(body_, inTable_ ? "</table>\n" : "", "</body></html>\n"); }

void writeText(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw RunError(cat(path, " cannot be written."));
}

}  // namespace dimple::tool
