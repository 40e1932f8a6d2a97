#include "clients/dimple/html_report.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "clients/dimple/report_files.h"
#include "clients/dimple/table.h"
#include "clients/file_reason.h"
#include "clients/files/failure.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

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

// JSON in which no text ends the script that holds it: a '<' stands in strings only.
std::string inScript(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

}  // namespace

HtmlReport::HtmlReport(std::string_view title)
    : body_(cat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                "<meta name=\"viewport\" content=\"width=device-width\"><title>",
                escaped(title), "</title><style>\n", reportFile("page.css"), "</style></head><body>\n<h1>",
                escaped(title), "</h1>\n")) {}

void HtmlReport::endTable() {
  if (inTable_) body_ += "</table></div>\n";
  inTable_ = false;
}

void HtmlReport::paragraph(std::string_view text) {
  endTable();
  body_ += cat("<p>", escaped(text), "</p>\n");
}

bool HtmlReport::canPlot() { return !reportFile("d3.min.js").empty(); }

void HtmlReport::plots(const std::string& json) {
  endTable();
  body_ += cat("<main id=\"plots\"></main>\n<script type=\"application/json\" id=\"report\">", inScript(json),
               "</script>\n");
  for (const char* script : {"d3.min.js", "dagre.min.js", "plots.js", "graph.js", "page.js"})
    body_ += cat("<script>\n", reportFile(script), "</script>\n");
  body_ += "<footer><p>Made by Dimple. The plots are drawn with d3 and dagre.</p>";
  for (const char* library : {"d3", "dagre"})
    body_ += cat("<details><summary>Licence of ", library, "</summary><pre>",
                 escaped(reportFile(cat(library, ".LICENSE"))), "</pre></details>");
  body_ += "</footer>\n";
}

void HtmlReport::table(std::string_view heading, const std::vector<std::string>& titles) {
  endTable();
  inTable_ = true;
  right_.clear();
  body_ += cat("<h2>", escaped(heading), "</h2>\n<div class=\"wide fit\"><table><tr>");
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

std::string HtmlReport::text() const { return cat(body_, inTable_ ? "</table></div>\n" : "", "</body></html>\n"); }

void writeText(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw RunError(cat(path, " cannot be written", whyUnwritten(path, errno)));
}

}  // namespace dimple::tool
