#include "clients/dimple/line.h"

#include <utility>

#include "clients/dimple/suggest.h"
#include "clients/files/failure.h"
#include "core/schema/op_schema.h"
#include "core/text.h"

namespace dimple::tool {

std::vector<std::string> operatorNames() {
  std::vector<std::string> names;
  names.reserve(allSchemas().size());
  for (const OpSchema* schema : allSchemas()) names.emplace_back(schema->name);
  return names;
}

CaseText readLine(const std::string& line) {
  auto parsed = parseCase(line);
  if (parsed) return std::move(*parsed);
  const std::string name = line.substr(0, line.find_first_of(" \t"));
  std::string text = parsed.error().text;
  if (!name.empty() && !findSchema(name) && text.ends_with(cat(name, ".")))
    text = cat(text.substr(0, text.size() - 1), candidatesText(name, operatorNames()));
  throw InputError(std::move(text));
}

std::string missingText(const CaseText& line) {
  std::string names;
  for (const std::string& name : line.missing) names += cat(names.empty() ? "" : ", ", name);
  return cat("The line has no ", names, ", which ", line.desc.schema().name, " needs.");
}

}  // namespace dimple::tool
