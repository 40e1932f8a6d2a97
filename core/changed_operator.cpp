#include "core/changed_operator.h"

#include <cstdlib>

#include "core/graph_fuse.h"

namespace dimple {

ChangedOperator::ChangedOperator(const OpView& given) : view_(given) {
  const bool isChain = given.schema().type == DML_OPERATOR_INVALID;
  if (!isChain) desc_.emplace(DML_OPERATOR_DESC{given.schema().type, given.desc()});
}

void ChangedOperator::setStrides(Role role, uint32_t index, std::span<const uint32_t> strides, uint64_t totalBytes) {
  const Tensor& tensor = role == Role::Input ? view_.input(index) : view_.output(index);
  if (desc_) {
    DML_TENSOR_DESC& target = tensorOf(role, index);
    const auto flags = static_cast<const DML_BUFFER_TENSOR_DESC*>(target.Desc)->Flags;
    desc_->setTensor(target, tensor.type, tensor.sizeSpan(), strides, totalBytes, flags);
  } else if (const auto changed = withStrides(tensor, strides, totalBytes)) {
    view_.setTensor(role, index, *changed);
  } else {
    refused_ = changed.error();
  }
}

Result<OpView> ChangedOperator::view() const {
  if (refused_) return *refused_;
  return desc_ ? validate(desc_->desc()) : view_;
}

DML_TENSOR_DESC& ChangedOperator::tensorOf(Role role, uint32_t index) {
  for (const Field& field : desc_->schema().fields) {
    if (field.role != role || (field.type != FieldType::Tensor && field.type != FieldType::TensorArray)) continue;
    const uint32_t count = field.type == FieldType::Tensor
                               ? 1
                               : desc_->field<UINT>(desc_->schema().fields[static_cast<size_t>(field.countField)]);
    if (index < count) return const_cast<DML_TENSOR_DESC*>(desc_->field<const DML_TENSOR_DESC*>(field))[index];
    index -= count;
  }
  std::abort();
}

void adopt(RewrittenGraph& rewritten, GraphNode& node, ChangedOperator changed, OpView view) {
  if (changed.desc_) rewritten.descs.push_back(std::move(*changed.desc_));
  node.op = &rewritten.views.emplace_back(std::move(view));
}

}  // namespace dimple
