#include "core/ops/moves.h"

namespace dimple {

Moves movesOf(const PlanBuilder& builder, MoveForms has, const Walk& walk, DataType type, uint32_t vectorOperands,
              uint32_t output) {
  const uint32_t number = vectorElements(type);
  if (has.vectors)
    if (const auto vectors = walk.inVectors(number, vectorOperands))
      return {MoveUnit::Vector, *vectors, vectors->count(), KernelType::B32};
  if (has.runs && byteWidth(type) <= 4 && areManyRuns(builder.target(), walk.count(), number))
    if (const auto runs = walk.inRuns(number, output))
      return {MoveUnit::Run, *runs, runs->count() / number, builder.sizedElement(type).type};
  return {MoveUnit::Element, walk, walk.count(), builder.sizedElement(type)};
}

}  // namespace dimple
