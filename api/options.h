// The options of a device, from all places that may give them.
#pragma once

#include "core/options.h"

namespace dimple::api {

// Reads the options of the environment variable DIMPLE_OPTIONS, over which those of a description (null: none) take
// precedence. Refuses what parseOptions() refuses, and environment variables that options have replaced.
Result<Options> readOptions(const char* given);

}  // namespace dimple::api
