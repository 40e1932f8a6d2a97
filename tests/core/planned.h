// Plans of operators, from the lines of cases.
#pragma once

#include <doctest.h>

#include <string_view>

#include "core/operation.h"
#include "core/plan/plan_builder.h"
#include "core/schema/desc_text.h"

namespace dimple::testing {

inline Result<Plan> planned(std::string_view line, const Target& target = {}) {
  auto parsed = parseCase(line);
  if (!parsed) return parsed.error();
  const auto op = Operation::parse(parsed->desc.desc());
  if (!op) return op.error();
  return planOperator(*op, target);
}

inline Plan planOf(std::string_view line, const Target& target = {}) {
  auto plan = planned(line, target);
  REQUIRE_MESSAGE(plan, plan.error().text);
  return std::move(*plan);
}

inline uint32_t specOf(const Dispatch& dispatch, uint32_t id) {
  for (const auto& s : dispatch.specialization)
    if (s.id == id) return s.value;
  return 0;
}

}  // namespace dimple::testing
