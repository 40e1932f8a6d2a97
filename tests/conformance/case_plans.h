// Plans of operators' cases.
#pragma once

#include <functional>

#include "core/plan/plan.h"
#include "core/target.h"
#include "tests/conformance/test_case.h"

namespace dimple::testing {

// Calls `take` for the plan of each case that is generated, for the target that it is to have.
void forEachCasePlan(const std::function<Target(const TestCase&)>& targetOf,
                     const std::function<void(const Plan&)>& take);

}  // namespace dimple::testing
