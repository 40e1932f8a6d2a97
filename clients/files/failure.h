// How parts of the tool report failures: exceptions that main() turns into a message and an exit code.
#pragma once

#include <stdexcept>

namespace dimple::tool {

constexpr int kExitRunFailed = 1;
constexpr int kExitBadInput = 2;

// The command line or a file is wrong.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The input is right, but running it failed.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dimple::tool
