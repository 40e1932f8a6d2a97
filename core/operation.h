// An operator with everything that its description says: a copy of its attributes and, separately, parsed tensors.
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

// The steps that an operator applies to its results in place of the nodes that followed it, before the activation
// (kernels/matrix/floats.glsl).
constexpr uint32_t kEpilogueMean = 1;
constexpr uint32_t kEpilogueVariance = 2;
constexpr uint32_t kEpilogueFactor = 4;
constexpr uint32_t kEpilogueShift = 8;
constexpr uint32_t kEpilogueFactorRounded = 16;  // the product is rounded before the shift is added
constexpr uint32_t kEpilogueAddend = 32;
constexpr uint32_t kEpilogueLastFactor = 64;  // after all other parameters
constexpr uint32_t kEpilogueDivides = 128;    // by the first factor
constexpr uint32_t kEpilogueAddsC = 256;      // C is the addend, and all channels have the same parameters
// The steps of products of integers (kernels/matrix/integers.glsl).
constexpr uint32_t kEpilogueAddsFloats = 512;  // the addend, with the layout of a bias, before quantizing
constexpr uint32_t kEpiloguePositive = 1024;   // negative numbers become 0, before quantizing
constexpr uint32_t kEpilogueClips = 2048;      // what is out of bounds is clipped, before quantizing

// The input whose elements lie where the parameters of their channels lie, if it is present.
constexpr size_t kEpilogueBias = 2;

struct Epilogue {
  uint32_t steps = 0;
  float epsilon = 0;     // added to the variance
  uint32_t channel = 0;  // the dimension of the output that the parameters vary along
  size_t channels = 0;   // index of the input that holds the parameters, eight FLOAT32 per channel. 0: there are none
  float least = 0;       // bounds of kEpilogueClips
  float most = 0;
  size_t addend = 0;  // index of the input that is added; it has the layout of the output unless it is C or a bias
};

struct TensorNames {
  std::vector<std::string> inputs{}, outputs{};
};

// Made once, by CreateOperator from a description or by a pass from another operation. Copies share their attributes.
class Operation {
 public:
  // Checks a description against its schema. The description need not outlive this call.
  static Result<Operation> parse(const DML_OPERATOR_DESC& desc);

  // Makes an operation of these attributes and tensors. The tensors that `attributes` names are ignored. Tensors are in
  // binding order, and absent optional ones are not present(). Refuses what parse() would refuse.
  template <class Desc>
  static Result<Operation> make(DML_OPERATOR_TYPE type, const Desc& attributes, std::vector<Tensor> inputs,
                                std::vector<Tensor> outputs) {
    return make({type, &attributes}, std::move(inputs), std::move(outputs));
  }

  // Makes an operator that no DirectML description can express. `attributes` is what its plan reads with as<>().
  Operation(const OpSchema& schema, std::shared_ptr<const void> attributes, std::vector<Tensor> inputs,
            std::vector<Tensor> outputs, TensorNames names)
      : schema_(&schema),
        attributes_(std::move(attributes)),
        names_(std::make_shared<const TensorNames>(std::move(names))),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  const OpSchema& schema() const { return *schema_; }

  // Tensors in binding order; a tensor array contributes one entry per element. Absent optional tensors are not
  // present().
  std::span<const Tensor> inputs() const { return inputs_; }
  std::span<const Tensor> outputs() const { return outputs_; }
  const Tensor& input(size_t index) const { return inputs_[index]; }
  const Tensor& output(size_t index = 0) const { return outputs_[index]; }
  // "ATensor", "InputTensors[3]"
  std::string inputName(size_t index) const { return tensorName(Role::Input, index); }
  std::string outputName(size_t index) const { return tensorName(Role::Output, index); }

  // The fused activation; INVALID if there is none. If there are several, the first one.
  const Activation& activation() const {
    static const Activation kNone;
    return activations_.empty() ? kNone : activations_.front();
  }
  // The activations of an operator that has an array of them.
  std::span<const Activation> activations() const { return activations_; }

  const Epilogue& epilogue() const { return epilogue_; }

  // The attributes: the description's structure, in which tensors and fused activations are null.
  template <class Desc>
  const Desc& as() const {
    return *static_cast<const Desc*>(attributes_.get());
  }
  // The value of an attribute, as its type T.
  template <class T>
  const T& field(const Field& f) const {
    return fieldValue<T>(attributes_.get(), f);
  }

  // ---- what passes change; check() says whether the result is an operation that a description could say ----

  void setTensor(Role role, size_t index, const Tensor& tensor) { tensors(role)[index] = tensor; }
  // Gives the same elements other strides. `totalBytes` of 0 stands for what sizes and strides imply.
  Status setStrides(Role role, size_t index, std::span<const uint32_t> strides, uint64_t totalBytes = 0);
  // Sets whether an input is owned by DML, whatever its description says.
  void setOwned(size_t index, bool owned) { inputs_[index].ownedByDml = owned; }
  // Fuses an operation that follows, which is applied to the output. Refuses what a FusedActivation may not be.
  Status fuse(const Operation& activation);
  void setActivations(std::span<const Activation> activations) {
    activations_.assign(activations.begin(), activations.end());
  }
  // Adds an input after those of the description. Returns its index.
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

// Whether an output may lie exactly on an input: the operator works in place, and both have the same layout.
bool mayAlias(const Operation& op, size_t input, size_t output);

}  // namespace dimple
