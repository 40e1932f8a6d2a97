// Subcommands. Each is a file with one function that declares options and returns what to do after parsing; the table
// in main.cpp lists them.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace dimple::tool {

// Returns the exit code.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;
  Action (*setUp)(CLI::App& options);
};

Action setUpDevices(CLI::App& options);
Action setUpRun(CLI::App& options);
Action setUpPlan(CLI::App& options);
Action setUpOps(CLI::App& options);
Action setUpOptions(CLI::App& options);
Action setUpBench(CLI::App& options);
Action setUpMan(CLI::App& options);
Action setUpCompletion(CLI::App& options);
Action setUpRead(CLI::App& options);  // in builds with OpenCV
Action setUpCase(CLI::App& options);  // in builds with tests

}  // namespace dimple::tool
