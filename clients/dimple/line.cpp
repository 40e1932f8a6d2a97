#include "clients/dimple/line.h"

#include "core/text.h"

namespace dimple::tool {

std::string missingText(const CaseText& line) {
  std::string names;
  for (const std::string& name : line.missing) names += cat(names.empty() ? "" : ", ", name);
  return cat("The line has no ", names, ", which ", line.desc.schema().name, " needs.");
}

}  // namespace dimple::tool
