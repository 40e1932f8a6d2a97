// Operators of FLOAT32 between CASTs from FLOAT16 and to it become operators of FLOAT16, which compute in FLOAT32 and
// round once.
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/matching.h"
#include "core/graph/passes/retyped.h"
#include "core/target.h"

namespace dimple {
namespace {

// Operators whose kernels read each element once or hold it, so that a CAST is a pass over memory of its own.
// Element-wise operators are left to chains, and rows to the pass `casts`, which keep the bits of their nodes.
bool gains(DML_OPERATOR_TYPE type) {
  switch (type) {
    case DML_OPERATOR_AVERAGE_POOLING:
    case DML_OPERATOR_AVERAGE_POOLING1:
    case DML_OPERATOR_BATCH_NORMALIZATION:
    case DML_OPERATOR_CONVOLUTION:
    case DML_OPERATOR_CUMULATIVE_PRODUCT:
    case DML_OPERATOR_CUMULATIVE_SUMMATION:
    case DML_OPERATOR_GEMM:
    case DML_OPERATOR_LOCAL_RESPONSE_NORMALIZATION:
    case DML_OPERATOR_LP_NORMALIZATION:
    case DML_OPERATOR_LP_POOLING:
    case DML_OPERATOR_LP_POOLING1:
    case DML_OPERATOR_PADDING:
    case DML_OPERATOR_REDUCE:
    case DML_OPERATOR_RESAMPLE:
    case DML_OPERATOR_RESAMPLE1:
    case DML_OPERATOR_RESAMPLE2:
    case DML_OPERATOR_RESAMPLE3:
    case DML_OPERATOR_ROI_ALIGN:
    case DML_OPERATOR_ROI_ALIGN1:
    case DML_OPERATOR_ROI_POOLING:
    case DML_OPERATOR_UPSAMPLE_2D:
      return true;
    default:
      return choosesElements(type);
  }
}

}  // namespace

void passes::useHalves(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (!node.runsAtInitialization && gains(typeOf(node))) found.push_back(&node);
  for (Node* node : found) retype(graph, *node, halfCasts(), target);
}

}  // namespace dimple
