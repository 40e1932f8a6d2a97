// How parts of the tool report failures: exceptions that main() turns into a message and an exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "clients/printable.h"

namespace dimple::tool {

constexpr int kExitRunFailed = 1;
constexpr int kExitBadInput = 2;

// The command line or a file is wrong.
struct InputError : std::runtime_error {
  explicit InputError(std::string text) : std::runtime_error(printable(std::move(text))) {}
};

// The input is valid, but running it failed.
struct RunError : std::runtime_error {
  explicit RunError(std::string text) : std::runtime_error(printable(std::move(text))) {}
};

}  // namespace dimple::tool
