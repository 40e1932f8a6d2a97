#include "tools/kernelgen/facts.h"

#include <sstream>

namespace kernelgen {

std::string toText(const Facts& facts) {
  const Interface& interface = facts.interface;
  std::ostringstream text;
  text << "push " << interface.pushBytes;
  for (const ReflectedWord& word : interface.push)
    text << "\nword " << word.offset << ' ' << word.type << ' ' << word.name;
  text << "\nparameters " << interface.parameterBytes << "\nworkgroup";
  for (const uint32_t size : interface.workgroupSize) text << ' ' << size;
  for (const Access& access : interface.bindings) text << "\nbinding " << access.text();
  for (const ReflectedView& view : interface.views)
    text << "\nview " << view.binding << ' ' << view.type << ' ' << view.block;
  for (const ReflectedSpec& spec : interface.specs)
    text << "\nspec " << spec.id << ' ' << spec.type << ' ' << spec.name;
  for (const auto& [over, operators] : facts.operatorCases) {
    text << "\ncases " << over;
    for (const uint32_t value : operators) text << ' ' << value;
  }
  text << "\nfeatures " << facts.features << "\nseconds " << facts.cpuSeconds << '\n';
  return text.str();
}

Facts parseFacts(const std::string& text) {
  Facts facts;
  Interface& interface = facts.interface;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "push") {
      words >> interface.pushBytes;
    } else if (key == "word") {
      ReflectedWord& word = interface.push.emplace_back();
      words >> word.offset >> word.type >> word.name;
    } else if (key == "view") {
      ReflectedView& view = interface.views.emplace_back();
      words >> view.binding >> view.type >> view.block;
    } else if (key == "parameters") {
      words >> interface.parameterBytes;
    } else if (key == "workgroup") {
      for (uint32_t& size : interface.workgroupSize) words >> size;
    } else if (key == "binding") {
      std::string access;
      words >> access;
      interface.bindings.push_back({access.find('r') != access.npos, access.find('w') != access.npos});
    } else if (key == "spec") {
      ReflectedSpec& spec = interface.specs.emplace_back();
      words >> spec.id >> spec.type >> spec.name;
    } else if (key == "cases") {
      std::string over;
      words >> over;
      for (uint32_t value = 0; words >> value;) facts.operatorCases[over].insert(value);
    } else if (key == "features") {
      words >> facts.features;
    } else if (key == "seconds") {
      words >> facts.cpuSeconds;
    }
  }
  return facts;
}

}  // namespace kernelgen
