#include "core/ops/moves.h"

namespace dimple {

Moves movesOf(const PlanBuilder& builder, const MoveForms& forms, const Walk& walk, DataType type, uint32_t output) {
  const uint32_t number = vectorElements(type);
  const KernelElement element = builder.sizedElement(type);
  if (forms.vectors)
    if (const auto vectors = walk.inVectors(number, forms.vectors))
      return {MoveUnit::Vector, *vectors, vectors->count(), KernelType::B32};
  if (byteWidth(type) <= 4 && forms.rows)
    if (const auto rows = walk.inVectors(number, forms.rows))
      return {MoveUnit::Row, *rows, rows->count(), element.type};
  if (byteWidth(type) <= 4 && forms.runs && areManyRuns(builder.target(), walk.count(), number))
    if (const auto runs = walk.inRuns(number, output)) return {MoveUnit::Run, *runs, runs->count() / number, element};
  return {MoveUnit::Element, walk, walk.count(), element};
}

}  // namespace dimple
