// What must hold of every plan.
#pragma once

#include <string>

#include "core/plan/plan.h"

namespace dimple::testing {

// A sentence that names the first dispatch that reads bytes of the temporary or the persistent resource which no
// dispatch before it has written, or writes to the persistent resource or to an input at execution; empty if there is
// none. `padding`: bytes at the end of what is read that may be no element's.
std::string firstUnwritten(const Plan& plan, uint64_t padding = 0);

}  // namespace dimple::testing
