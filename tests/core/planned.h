// Plans of operators, from the lines of cases.
#pragma once

#include <doctest.h>

#include <string_view>

#include "core/desc_text.h"
#include "core/op_view.h"
#include "core/plan_builder.h"

namespace dimple::testing {

inline Result<Plan> planned(std::string_view line, const Caps& caps = {}) {
  auto parsed = parseCase(line);
  if (!parsed) return parsed.error();
  const auto view = validate(parsed->desc.desc());
  if (!view) return view.error();
  return planOperator(*view, caps);
}

inline Plan planOf(std::string_view line, const Caps& caps = {}) {
  auto plan = planned(line, caps);
  REQUIRE_MESSAGE(plan, plan.error().text);
  return std::move(*plan);
}

inline uint32_t specOf(const Dispatch& dispatch, uint32_t id) {
  for (const auto& s : dispatch.specialization)
    if (s.id == id) return s.value;
  return 0;
}

}  // namespace dimple::testing
