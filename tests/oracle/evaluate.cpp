#include <stdexcept>

#include "tests/oracle/elementwise.h"
#include "tests/oracle/movement.h"
#include "tests/oracle/reduce.h"

namespace oracle {
namespace {

using Evaluate = Result (*)(const void* desc, std::span<const Array> inputs);

struct Row {
  DML_OPERATOR_TYPE type;
  Evaluate evaluate;
};

template <class Desc, Result (*function)(const Desc&, std::span<const Array>)>
constexpr Evaluate with =
    [](const void* desc, std::span<const Array> inputs) { return function(*static_cast<const Desc*>(desc), inputs); };

// The operators with an evaluation of their own; element-wise functions are listed in elementwise.cpp.
constexpr Row kRows[] = {
    {DML_OPERATOR_CAST, with<DML_CAST_OPERATOR_DESC, evaluateCast>},
    {DML_OPERATOR_ELEMENT_WISE_IF, with<DML_ELEMENT_WISE_IF_OPERATOR_DESC, evaluateIf>},
    {DML_OPERATOR_FILL_VALUE_CONSTANT, with<DML_FILL_VALUE_CONSTANT_OPERATOR_DESC, evaluateFillValueConstant>},
    {DML_OPERATOR_SLICE, with<DML_SLICE_OPERATOR_DESC, evaluateSlice>},
    {DML_OPERATOR_SLICE1, with<DML_SLICE1_OPERATOR_DESC, evaluateSlice1>},
    {DML_OPERATOR_JOIN, with<DML_JOIN_OPERATOR_DESC, evaluateJoin>},
    {DML_OPERATOR_GATHER, with<DML_GATHER_OPERATOR_DESC, evaluateGather>},
    {DML_OPERATOR_SCATTER_ND, with<DML_SCATTER_ND_OPERATOR_DESC, evaluateScatterNd>},
    {DML_OPERATOR_REDUCE, with<DML_REDUCE_OPERATOR_DESC, evaluateReduce>},
    {DML_OPERATOR_ARGMIN, with<DML_ARGMIN_OPERATOR_DESC, evaluateArgMin>},
    {DML_OPERATOR_ARGMAX, with<DML_ARGMAX_OPERATOR_DESC, evaluateArgMax>},
};

Evaluate find(DML_OPERATOR_TYPE type) {
  for (const Row& row : kRows) {
    if (row.type == type) return row.evaluate;
  }
  return nullptr;
}

}  // namespace

bool knows(DML_OPERATOR_TYPE type) { return find(type) != nullptr || knowsElementwise(type); }

std::vector<Result> evaluate(const DML_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  if (!knows(desc.Type) || desc.Desc == nullptr) {
    throw std::invalid_argument("The oracle does not know operator " + std::to_string(desc.Type) + ".");
  }
  std::vector<Result> results;
  const Evaluate own = find(desc.Type);
  results.push_back(own != nullptr ? own(desc.Desc, inputs) : evaluateElementwise(desc, inputs));
  return results;
}

}  // namespace oracle
