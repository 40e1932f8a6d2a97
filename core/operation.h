// An operator with all that its description says: attributes of its own, and parsed tensors apart from them.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/schema/desc_copy.h"
#include "core/schema/op_schema.h"
#include "core/tensor.h"

namespace dimple {

struct Activation {
  DML_OPERATOR_TYPE type = DML_OPERATOR_INVALID;  // INVALID: none
  std::array<float, 2> parameters{};              // its FLOAT fields in order
  std::vector<uint32_t> axes{};                   // its Axes
};

// What nodes that followed an operator do to its results, before the activation (kernels/matrix/floats.glsl).
constexpr uint32_t kEpilogueMean = 1;
constexpr uint32_t kEpilogueVariance = 2;
constexpr uint32_t kEpilogueFactor = 4;
constexpr uint32_t kEpilogueShift = 8;
constexpr uint32_t kEpilogueFactorRounded = 16;  // what is multiplied, before it is shifted
constexpr uint32_t kEpilogueAddend = 32;
constexpr uint32_t kEpilogueLastFactor = 64;  // behind all other parameters
constexpr uint32_t kEpilogueDivides = 128;    // by the first factor
constexpr uint32_t kEpilogueAddsC = 256;      // C is the addend, and all channels have the same parameters
// Of products that quantize (kernels/matrix/integers.glsl).
constexpr uint32_t kEpilogueAddsFloats = 512;  // the addend, which lies as a bias does, before results are quantized
constexpr uint32_t kEpiloguePositive = 1024;   // numbers below 0 are 0 before they are quantized

// The input whose elements' places are those of their channels' parameters, if it is there.
constexpr size_t kEpilogueBias = 2;

struct Epilogue {
  uint32_t steps = 0;
  float epsilon = 0;     // beside the variance
  uint32_t channel = 0;  // the dimension of the output that parameters go along
  size_t channels = 0;   // place among the inputs of the parameters: eight FLOAT32 a channel. 0: there are none
  size_t addend = 0;     // of what is added, which lies as the output does unless it is C or a bias
};

struct TensorNames {
  std::vector<std::string> inputs{}, outputs{};
};

// Made once: by CreateOperator of a description, or by a pass of another operation. Copies share their attributes.
class Operation {
 public:
  // Checks a description against its schema. Nothing of it needs to outlive this.
  static Result<Operation> parse(const DML_OPERATOR_DESC& desc);

  // An operation of these attributes, whose tensors are given apart: the tensors that `attributes` names are not looked
  // at. In binding order; absent optional ones are not present(). Refused where parse() refuses what they describe.
  template <class Desc>
  static Result<Operation> make(DML_OPERATOR_TYPE type, const Desc& attributes, std::vector<Tensor> inputs,
                                std::vector<Tensor> outputs) {
    return make({type, &attributes}, std::move(inputs), std::move(outputs));
  }

  // An operator that no description of DirectML's says: `attributes` is what its plan reads as as<>().
  Operation(const OpSchema& schema, std::shared_ptr<const void> attributes, std::vector<Tensor> inputs,
            std::vector<Tensor> outputs, TensorNames names)
      : schema_(&schema),
        attributes_(std::move(attributes)),
        names_(std::make_shared<const TensorNames>(std::move(names))),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  const OpSchema& schema() const { return *schema_; }

  // Tensors in binding order; a tensor array contributes one entry an element. Absent optional tensors are not
  // present().
  std::span<const Tensor> inputs() const { return inputs_; }
  std::span<const Tensor> outputs() const { return outputs_; }
  const Tensor& input(size_t index) const { return inputs_[index]; }
  const Tensor& output(size_t index = 0) const { return outputs_[index]; }
  // "ATensor", "InputTensors[3]"
  std::string inputName(size_t index) const { return tensorName(Role::Input, index); }
  std::string outputName(size_t index) const { return tensorName(Role::Output, index); }

  // The fused activation, INVALID if there is none; the first of several.
  const Activation& activation() const {
    static const Activation kNone;
    return activations_.empty() ? kNone : activations_.front();
  }
  // Those of an operator with an array of them.
  std::span<const Activation> activations() const { return activations_; }

  const Epilogue& epilogue() const { return epilogue_; }

  // Attributes: the description's structure without its tensors and fused activations, which are null.
  template <class Desc>
  const Desc& as() const {
    return *static_cast<const Desc*>(attributes_.get());
  }
  // The value of an attribute of its own type T.
  template <class T>
  const T& field(const Field& f) const {
    return fieldValue<T>(attributes_.get(), f);
  }

  // ---- what passes change; check() says whether the result is an operation that a description could say ----

  void setTensor(Role role, size_t index, const Tensor& tensor) { tensors(role)[index] = tensor; }
  // Other strides of the same elements. `totalBytes`: 0 for what sizes and strides imply.
  Status setStrides(Role role, size_t index, std::span<const uint32_t> strides, uint64_t totalBytes = 0);
  // Says whether an input is owned by DML, whatever its description says.
  void setOwned(size_t index, bool owned) { inputs_[index].ownedByDml = owned; }
  // Fuses what an operation of its own does to the output. Refused where such a FusedActivation is.
  Status fuse(const Operation& activation);
  void setActivations(std::span<const Activation> activations) {
    activations_.assign(activations.begin(), activations.end());
  }
  // An input behind those of the description. Returns its place.
  size_t addInput(const Tensor& tensor, std::string name);
  void setEpilogue(const Epilogue& epilogue) { epilogue_ = epilogue; }
  template <class T>
  void setField(const Field& f, const T& value) {
    setFieldBytes(f, &value, sizeof(T));
  }

  Status check() const;

 private:
  class TensorChecker;
  class Parser;

  explicit Operation(const OpSchema& schema) : schema_(&schema) {}
  static Result<Operation> make(const DML_OPERATOR_DESC& attributes, std::vector<Tensor> inputs,
                                std::vector<Tensor> outputs);
  std::vector<Tensor>& tensors(Role role) { return role == Role::Input ? inputs_ : outputs_; }
  std::string tensorName(Role role, size_t index) const;
  void setFieldBytes(const Field& f, const void* value, size_t bytes);

  const OpSchema* schema_;
  std::shared_ptr<const void> attributes_;    // copies share them
  std::shared_ptr<const TensorNames> names_;  // null: those of the schema's fields
  std::vector<Tensor> inputs_, outputs_;
  std::vector<Activation> activations_;
  Epilogue epilogue_;
};

// Whether an output may lie exactly on an input: the operator works in place, and both have one layout.
bool mayAlias(const Operation& op, size_t input, size_t output);

}  // namespace dimple
