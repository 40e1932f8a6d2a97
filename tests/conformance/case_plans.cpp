#include "tests/conformance/case_plans.h"

#include "core/operation.h"
#include "core/plan/plan_builder.h"
#include "tests/conformance/selection.h"

namespace dimple::testing {

void forEachCasePlan(const std::function<Target(const TestCase&)>& targetOf,
                     const std::function<void(const Plan&)>& take) {
  for (const CaseGroup& group : caseGroups({}, {}))
    for (const std::string& line : group.lines()) {
      const auto test = parseTestCase(line);
      if (!test || test->refused) continue;
      const auto op = Operation::parse(test->desc.desc());
      if (!op) continue;
      const auto plan = planOperator(*op, targetOf(*test));
      if (plan) take(*plan);
    }
}

}  // namespace dimple::testing
