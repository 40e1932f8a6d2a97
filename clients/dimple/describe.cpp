// dimple man and dimple completion: what the command line's own description says, in the forms of other programs.
#include <dimple.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "clients/dimple/command.h"
#include "clients/files/failure.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

std::vector<const CLI::App*> commandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> optionsOf(const CLI::App& app) {
  return app.get_options([](const CLI::Option*) { return true; });
}

bool takesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "--backend", "-h,--help"; of a positional argument its name.
std::vector<std::string> namesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// Escapes characters that have a meaning in roff.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += ' ';
    else if ((c == '.' || c == '\'') && out.empty())
      out += cat("\\&", std::string(1, c));
    else
      out += c;
  }
  return out;
}

void printOptions(const CLI::App& app) {
  for (const CLI::Option* option : optionsOf(app)) {
    std::string names;
    for (const std::string& name : namesOf(*option))
      names += cat(names.empty() ? "" : ", ", "\\fB", roff(name), "\\fR");
    if (names.empty())
      names = cat("\\fI", roff(option->get_name(true)), "\\fR");
    else if (takesValue(*option))
      names += " \\fIVALUE\\fR";
    std::printf(".TP\n%s\n%s.\n", names.c_str(), roff(option->get_description()).c_str());
  }
}

int printManual(const CLI::App& app) {
  std::printf(
      ".TH DIMPLE 1 \"\" \"Dimple %s\" \"User Commands\"\n.SH NAME\ndimple \\- %s\n.SH SYNOPSIS\n"
      ".B dimple\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n"
      "Runs, times and explains programs of DirectML operators and ONNX models.\n.SH COMMANDS\n",
      dimpleGetVersion(), roff(app.get_description()).c_str());
  for (const CLI::App* command : commandsOf(app)) {
    std::printf(".SS dimple %s\n%s.\n", command->get_name().c_str(), roff(command->get_description()).c_str());
    printOptions(*command);
  }
  std::printf(
      ".SH EXIT STATUS\n.TP\n0\nSuccess.\n.TP\n1\nThe input is valid, but running it failed.\n.TP\n2\nThe command line "
      "or a file is wrong.\n.SH ENVIRONMENT\n.TP\n\\fBDIMPLE_OPTIONS\\fR\nOptions of the library, as "
      "\\fBdimple options\\fR lists them.\n.TP\n\\fBVK_DRIVER_FILES\\fR\nThe manifests of the Vulkan drivers that are "
      "used.\n");
  return 0;
}

std::string wordsOf(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : optionsOf(app))
    for (const std::string& name : namesOf(*option)) words += cat(words.empty() ? "" : " ", name);
  return words;
}

int printBash(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commandsOf(app)) {
    commands += cat(commands.empty() ? "" : " ", command->get_name());
    cases += cat("    ", command->get_name(), ") words=\"", wordsOf(*command), "\" ;;\n");
  }
  std::printf(
      "# Completion of dimple for bash.\n_dimple() {\n  local current=${COMP_WORDS[COMP_CWORD]} words=\n"
      "  if ((COMP_CWORD == 1)); then\n    mapfile -t COMPREPLY < <(compgen -W \"%s --help --version\" -- "
      "\"$current\")\n"
      "    return\n  fi\n  if [[ ${COMP_WORDS[COMP_CWORD - 1]} == --backend ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"vulkan d3d12\" -- \"$current\")\n    return\n  fi\n"
      "  [[ $current == -* ]] || return\n  case ${COMP_WORDS[1]} in\n%s  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
      "complete -o default -F _dimple dimple\n",
      commands.c_str(), cases.c_str());
  return 0;
}

// Returns the text in single quotes for a shell. Brackets and colons would end a description in zsh.
std::string shellText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '\n')
      out += ' ';
    else if (c == '[' || c == ']' || c == ':')
      out += cat("\\", std::string(1, c));
    else
      out += c;
  }
  return out;
}

int printZsh(const CLI::App& app) {
  std::printf(
      "#compdef dimple\n# Completion of dimple for zsh.\n_dimple() {\n  if ((CURRENT == 2)); then\n"
      "    local -a commands=(\n");
  for (const CLI::App* command : commandsOf(app))
    std::printf("      '%s:%s'\n", command->get_name().c_str(), shellText(command->get_description()).c_str());
  std::printf("    )\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n");
  for (const CLI::App* command : commandsOf(app)) {
    std::printf("    %s)\n      _arguments \\\n", command->get_name().c_str());
    for (const CLI::Option* option : optionsOf(*command))
      for (const std::string& name : namesOf(*option))
        std::printf("        '*%s[%s]%s' \\\n", name.c_str(), shellText(option->get_description()).c_str(),
                    name == "--backend"   ? ":back end:(vulkan d3d12)"
                    : takesValue(*option) ? ":value:_files"
                                          : "");
    std::printf("        '*:file:_files'\n      ;;\n");
  }
  std::printf("  esac\n}\n_dimple \"$@\"\n");
  return 0;
}

int printFish(const CLI::App& app) {
  std::printf("# Completion of dimple for fish.\n");
  const auto text = [](const std::string& words) {
    std::string out;
    for (const char c : words) out += c == '\'' ? "\\'" : c == '\n' ? " " : std::string(1, c);
    return out;
  };
  for (const CLI::App* command : commandsOf(app)) {
    std::printf("complete -c dimple -n __fish_use_subcommand -f -a %s -d '%s'\n", command->get_name().c_str(),
                text(command->get_description()).c_str());
    for (const CLI::Option* option : optionsOf(*command))
      for (const std::string& name : option->get_lnames())
        std::printf("complete -c dimple -n '__fish_seen_subcommand_from %s' -l %s%s -d '%s'\n",
                    command->get_name().c_str(), name.c_str(),
                    name == "backend"     ? " -x -a 'vulkan d3d12'"
                    : takesValue(*option) ? " -r"
                                          : "",
                    text(option->get_description()).c_str());
  }
  return 0;
}

}  // namespace

Action setUpMan(CLI::App& options) {
  return [&options] { return printManual(*options.get_parent()); };
}

Action setUpCompletion(CLI::App& options) {
  auto shell = std::make_shared<std::string>();
  options.add_option("shell", *shell, "bash, zsh or fish")->required();
  return [shell, &options] {
    const CLI::App& app = *options.get_parent();
    if (*shell == "bash") return printBash(app);
    if (*shell == "zsh") return printZsh(app);
    if (*shell == "fish") return printFish(app);
    throw InputError(cat("The shell is \"", *shell, "\", expected bash, zsh or fish."));
  };
}

}  // namespace dimple::tool
