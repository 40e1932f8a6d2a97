// The command line tool: runs, times and explains DirectML programs.
#include <dimple.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/dimple/command.h"
#include "clients/dimple/software_driver.h"
#include "clients/dimple/suggest.h"
#include "clients/files/failure.h"

namespace {

using namespace dimple::tool;

constexpr Command kCommands[] = {
    {"devices", "List the devices", setUpDevices},
    {"run", "Run DirectML operators that a JSON file describes, or an ONNX model", setUpRun},
    {"plan", "Print the dispatches that operators become", setUpPlan},
    {"options", "List the options of DIMPLE_OPTIONS and --options, with their defaults", setUpOptions},
    {"ops", "List the operators, and the data types that passed their tests", setUpOps},
    {"bench", "Measure how fast kernels move memory and compute", setUpBench},
#ifdef DIMPLE_WITH_OCR
    {"read", "Read the printed text in a picture", setUpRead},
#endif
#ifdef DIMPLE_WITH_CASES
    {"case", "Repeat cases of the operator tests", setUpCase},
#endif
    {"completion", "Print a script that completes command lines of dimple in a shell", setUpCompletion},
    {"man", "Print the manual page", setUpMan},
};

// The refusal of an argument that no option takes.
std::string unexpectedText(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  const std::string name = parsed.empty() ? "dimple" : "dimple " + command.get_name();
  const auto rest = command.remaining();
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& known : option->get_lnames()) options.push_back("--" + known);
  for (const std::string& argument : rest)
    if (argument.starts_with('-')) {
      const std::string given = argument.substr(0, argument.find('='));
      return "\"" + given + "\" is not an option of " + name + candidatesText(given, options);
    }
  return "\"" + (rest.empty() ? "" : rest.front()) + "\" is one argument more than " + name + " takes.";
}

// Whether everything that was printed has arrived, as it has not on a full disk.
bool flushOutput() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  const int code = errno;
  std::fprintf(stderr, "dimple: The standard output cannot be written%s%s.\n", code != 0 ? ": " : "",
               code != 0 ? std::strerror(code) : "");
  return false;
}

std::vector<std::string> commandNames() {
  std::vector<std::string> names;
  names.reserve(std::size(kCommands));
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

int run(int argc, char** argv) {
  CLI::App app("DirectML over Vulkan and Direct3D 12, from the command line", "dimple");
  app.set_version_flag("--version", dimpleGetVersion());
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : kCommands) {
    CLI::App* options = app.add_subcommand(command.name, command.summary);
    actions.emplace_back(options, command.setUp(*options));
  }
  const std::string_view first = argc > 1 ? argv[1] : "-";
  const auto isFirst = [&](const Command& command) { return first == command.name; };
  if (!first.starts_with('-') && std::none_of(std::begin(kCommands), std::end(kCommands), isFirst))
    throw InputError("\"" + std::string(first) + "\" is not a command" + candidatesText(first, commandNames()));
  if (argc == 1) {
    std::fputs(app.help().c_str(), stderr);
    return kExitBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    throw InputError(unexpectedText(app) + "\nRun with --help for more information.");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    std::fprintf(stderr, "dimple: %s\nRun with --help for more information.\n", error.what());
    return kExitBadInput;
  }
  for (const auto& [options, action] : actions)
    if (options->parsed()) return action();
  return kExitBadInput;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SIGPIPE
  // A reader that has seen enough is no failure to report.
  std::signal(SIGPIPE, SIG_DFL);
#endif
  chooseSoftwareDriver();
  try {
    const int code = run(argc, argv);
    return code != 0 || flushOutput() ? code : kExitRunFailed;
  } catch (const dimple::tool::InputError& error) {
    std::fprintf(stderr, "dimple: %s\n", error.what());
    return kExitBadInput;
  } catch (const std::bad_alloc&) {
    std::fputs("dimple: There is not enough memory for this.\n", stderr);
    return kExitRunFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dimple: %s\n", error.what());
    return kExitRunFailed;
  }
}
