// dimple options
#include "core/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "clients/dimple/command.h"

namespace dimple::tool {
namespace {

int printOptions() {
  for (const OptionRow& row : optionRows())
    std::printf("%s=%s\n    %s %s\n", std::string(row.name).c_str(), std::string(row.fallback).c_str(),
                std::string(row.sentence).c_str(), std::string(row.reason).c_str());
  return 0;
}

}  // namespace

Action setUpOptions(CLI::App&) { return printOptions; }

}  // namespace dimple::tool
