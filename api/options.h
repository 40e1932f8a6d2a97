// The options of a device, wherever they are given.
#pragma once

#include "core/options.h"

namespace dimple::api {

// Those of the environment variable DIMPLE_OPTIONS, and on top of them those of a description (null: none). Refuses
// what parseOptions() refuses, and variables that options have replaced.
Result<Options> readOptions(const char* given);

}  // namespace dimple::api
