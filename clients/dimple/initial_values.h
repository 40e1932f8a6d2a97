// The initial contents of a buffer of a program.
#pragma once

#include "clients/dimple/model.h"

namespace dimple::tool {

// Paths in a program, with what the command line defines put in place of ${NAME}.
std::string expandPath(const JsonValue& field, const ModelOptions& options);

Buffer readBuffer(const std::string& name, const JsonValue& resource, const ModelOptions& options);

}  // namespace dimple::tool
