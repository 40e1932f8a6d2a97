// Plans of operators, from the lines of cases.
#pragma once

#include <doctest.h>

#include <string>
#include <string_view>

#include "core/operation.h"
#include "core/plan/plan_builder.h"
#include "core/schema/desc_text.h"
#include "core/text.h"

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

// A 2-D convolution, from `input` by `filter` to `output`, with windows of 3 x 3 and a padding of 1 unless `rest` says
// otherwise.
inline std::string convolutionLine(std::string_view input, std::string_view filter, std::string_view output,
                                   uint32_t groups, std::string_view direction = "FORWARD", uint32_t stride = 1) {
  return cat("CONVOLUTION InputTensor=", input, " FilterTensor=", filter, " OutputTensor=", output,
             " Mode=CROSS_CORRELATION Direction=", direction, " Strides=[", stride, ",", stride,
             "] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=", groups);
}

}  // namespace dimple::testing
