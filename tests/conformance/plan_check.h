// What must hold of every plan.
#pragma once

#include <string>

#include "core/plan/plan.h"

namespace dimple::testing {

// A sentence that names the first dispatch that reads bytes of the temporary or the persistent resource which no
// dispatch before it has written, or writes to the persistent resource or to an input at execution; empty if there is
// none. `padded`: tensors may have bytes that are no element's, so that only the first ones that are read count.
std::string firstUnwritten(const Plan& plan, bool padded = false);

}  // namespace dimple::testing
