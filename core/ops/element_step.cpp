#include "core/ops/element_step.h"

#include <optional>
#include <string_view>

#include "core/data_type.h"

namespace dimple {
namespace {

// A function of floats in the lists that the kernel has its cases from.
struct ListedFunction {
  StepFunctions group;
  bool takesHalves;  // it is told whether it computes FLOAT16, which takes fewer digits
};
std::optional<ListedFunction> listedFunction(DML_OPERATOR_TYPE op) {
  switch (op) {
#define CASE(OPERATOR) case OPERATOR:
#define FUNCTION(GROUP, OPERATOR, RESULT)       \
  case OPERATOR:                                \
    return ListedFunction{StepFunctions::GROUP, \
                          std::string_view(#RESULT).find("PASS_HALVES") != std::string_view::npos};
#include "kernels/elementwise/binary_list.glsl"
#include "kernels/elementwise/unary_list.glsl"
#undef FUNCTION
#undef CASE
    default:
      return {};
  }
}

StepFunctions groupOf(StepKind kind, DML_OPERATOR_TYPE op) {
  if (const auto listed = listedFunction(op)) return listed->group;
  return kind == StepKind::Unary ? StepFunctions::Exponentials : StepFunctions::Floats;
}

}  // namespace

bool isShort(const ElementStep& step) {
  switch (step.kind) {
    case StepKind::Load:
    case StepKind::Condition:
    case StepKind::Select:
      return true;
    case StepKind::Scale:
      return isFloat(step.from);
    case StepKind::Cast:
      return isFloat(step.from) && isFloat(step.to);
    case StepKind::Unary:
    case StepKind::Binary:
      break;
    default:
      return false;
  }
  return isFloat(step.from) && (groupOf(step.kind, step.op) == StepFunctions::None ||
                                step.op == DML_OPERATOR_ACTIVATION_RELU || step.op == DML_OPERATOR_ACTIVATION_LINEAR);
}

bool isCostly(const ElementStep& step) {
  return !isShort(step) && (step.kind == StepKind::Power || (step.kind == StepKind::Unary && isFloat(step.from)));
}

uint32_t& countOf(CostlyFunctions& costly, const ElementStep& step) {
  return step.to == DML_TENSOR_DATA_TYPE_FLOAT16 ? costly.halves : costly.floats;
}

StepFunctions functionsOf(const ElementStep& step) {
  if (isShort(step)) return StepFunctions::None;
  if (step.kind == StepKind::Power) return StepFunctions::Powers;
  const bool computesFloats = step.kind == StepKind::Scale || step.kind == StepKind::Unary ||
                              step.kind == StepKind::Binary || step.kind == StepKind::Predicate;
  return computesFloats && isFloat(step.from) ? groupOf(step.kind, step.op) : StepFunctions::Integers;
}

bool hasFewDigits(const ElementStep& step) {
  const bool isHalf = step.from == DML_TENSOR_DATA_TYPE_FLOAT16 || step.to == DML_TENSOR_DATA_TYPE_FLOAT16;
  if (!isHalf || !isFloat(step.from) || isShort(step)) return false;
  if (step.kind != StepKind::Unary && step.kind != StepKind::Binary) return step.kind == StepKind::Power;
  const auto listed = listedFunction(step.op);
  return !listed || listed->takesHalves;
}

CostlyFunctions costlyFunctions(std::span<const ElementStep> steps) {
  CostlyFunctions costly;
  for (const ElementStep& step : steps)
    if (isCostly(step)) ++countOf(costly, step);
  return costly;
}

}  // namespace dimple
