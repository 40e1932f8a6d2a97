// A description that has passed validation: parsed tensors and typed access to attributes.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/op_schema.h"
#include "core/tensor.h"

namespace dimple {

struct Activation {
  DML_OPERATOR_TYPE type = DML_OPERATOR_INVALID;  // INVALID: none
  std::array<float, 2> parameters{};              // its FLOAT fields in order
  std::span<const UINT> axes{};                   // its Axes
};

class OpView {
 public:
  // An operator that no description of DirectML's says: `desc` is what its plan reads as as<>(), and outlives it.
  OpView(const OpSchema& schema, const void* desc, std::vector<Tensor> inputs, std::vector<std::string> inputNames,
         std::vector<Tensor> outputs, std::vector<std::string> outputNames)
      : schema_(&schema),
        desc_(desc),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        inputNames_(std::move(inputNames)),
        outputNames_(std::move(outputNames)) {}

  const OpSchema& schema() const { return *schema_; }

  // Tensors in binding order; a tensor array contributes one entry an element. Absent optional tensors are not
  // present().
  std::span<const Tensor> inputs() const { return inputs_; }
  std::span<const Tensor> outputs() const { return outputs_; }
  const Tensor& input(size_t index) const { return inputs_[index]; }
  const Tensor& output(size_t index = 0) const { return outputs_[index]; }
  // "ATensor", "InputTensors[3]"
  const std::string& inputName(size_t index) const { return inputNames_[index]; }
  const std::string& outputName(size_t index) const { return outputNames_[index]; }

  // The fused activation, INVALID if there is none; the first of several.
  const Activation& activation() const {
    static constexpr Activation kNone;
    return activations_.empty() ? kNone : activations_.front();
  }
  // Those of an operator with an array of them.
  std::span<const Activation> activations() const { return activations_; }

  // Says whether an input is owned by DML, whatever the description's Flags say.
  void setOwned(size_t index, bool owned) { inputs_[index].ownedByDml = owned; }

  // Another layout of a tensor, of an operator that no description of DirectML's says.
  void setTensor(Role role, size_t index, const Tensor& tensor) {
    (role == Role::Input ? inputs_ : outputs_)[index] = tensor;
  }

  template <class Desc>
  const Desc& as() const {
    return *static_cast<const Desc*>(desc_);
  }
  const void* desc() const { return desc_; }

  // The value of a field of its own type T.
  template <class T>
  const T& field(const Field& f) const {
    return *reinterpret_cast<const T*>(static_cast<const std::byte*>(desc_) + f.offset);
  }

 private:
  friend Result<OpView> validate(const DML_OPERATOR_DESC& desc);
  OpView() = default;

  const OpSchema* schema_ = nullptr;
  const void* desc_ = nullptr;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<std::string> inputNames_, outputNames_;
  std::vector<Activation> activations_;
};

// Whether an output may lie exactly on an input: the operator works in place, and both have one layout.
bool mayAlias(const OpView& view, size_t input, size_t output);

// Checks a description against its schema. The view refers to `desc`, which must outlive it.
Result<OpView> validate(const DML_OPERATOR_DESC& desc);

}  // namespace dimple
