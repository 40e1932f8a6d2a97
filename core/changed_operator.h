// Operators of graphs with other layouts of their tensors than their descriptions give.
#pragma once

#include <optional>
#include <span>

#include "core/desc_copy.h"
#include "core/op_view.h"

namespace dimple {

struct GraphNode;
struct RewrittenGraph;

class ChangedOperator {
 public:
  explicit ChangedOperator(const OpView& given);

  // `totalBytes`: 0 for what sizes and strides imply.
  void setStrides(Role role, uint32_t index, std::span<const uint32_t> strides, uint64_t totalBytes = 0);

  // Refused where a description with these strides is. Refers to this, which may be moved meanwhile.
  Result<OpView> view() const;

 private:
  friend void adopt(RewrittenGraph&, GraphNode&, ChangedOperator, OpView);

  // An input or output of the description, in binding order.
  DML_TENSOR_DESC& tensorOf(Role role, uint32_t index);

  OpView view_;
  std::optional<OwnedDesc> desc_;  // none: a chain
  std::optional<Error> refused_;
};

// Makes a node that of a changed operator, whose view is given.
void adopt(RewrittenGraph& rewritten, GraphNode& node, ChangedOperator changed, OpView view);

}  // namespace dimple
