// One graph of DirectML operators in the making, and the values that its operators read and make.
#pragma once

#include <dimple.h>
#include <wrl/client.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "clients/onnx/tensor.h"

namespace dimple::onnx {

template <class T>
using ComPtr = Microsoft::WRL::ComPtr<T>;

// An ONNX value. On the device it is a view of a buffer: strides reach its elements. Reshape, Transpose, Expand and the
// like make other views of the same buffer.
struct Value {
  enum class Place : uint8_t { Host, GraphInput, Node };

  Type type = Type::Undefined;
  Sizes sizes;
  SharedTensor constant;  // what is known before anything runs
  Place place = Place::Host;
  UINT index = 0;   // of the graph's input, or of the node
  UINT output = 0;  // of the node
  Sizes strides;    // in elements, empty: packed
  UINT64 bufferBytes = 0;

  size_t rank() const { return sizes.size(); }
  int64_t elements() const { return elementCount(sizes); }
  bool packed() const { return strides.empty(); }
};

Value hostValue(SharedTensor tensor);
Value hostValue(HostTensor tensor);

Sizes packedStrides(const Sizes& sizes);

class Op;

// Is told of operators and graphs as they are made.
class GraphObserver {
 public:
  virtual ~GraphObserver() = default;
  virtual void created(IDMLOperator& op, const DML_OPERATOR_DESC& desc) = 0;
  // `inputs`: names of the graph's inputs; empty for constants.
  virtual void compiling(const DML_GRAPH_DESC& desc, const std::vector<std::string>& inputs) = 0;
};

class GraphBuilder {
 public:
  struct Input {
    SharedTensor constant;  // uploaded once; null: what `name` stands for when the graph runs
    std::string name;
    UINT64 bytes = 0;
    bool owned = false;  // by DML, from the initialization on
    // One number, which is a constant node of the graph and no input: what reads it knows it.
    bool isNumber = false;
  };

  explicit GraphBuilder(IDMLDevice& device, GraphObserver* observer = nullptr) : device_(device), observer_(observer) {}

  // What is in a buffer when the graph runs, packed.
  Value addInput(std::string name, Type type, const Sizes& sizes);
  // `value` on the device: constants become inputs of the graph.
  Value onDevice(const Value& value);

  // Views. A constant stays known only where nothing but its name changes.
  Value transpose(const Value& value, const std::vector<size_t>& order);
  // Copies if strides cannot say it.
  Value reshape(const Value& value, const Sizes& sizes);
  // Throws ModelError if `value` cannot be broadcast to `sizes`.
  Value broadcast(const Value& value, const Sizes& sizes);
  // The same bytes as another type of the same width.
  Value reinterpret(const Value& value, Type type);
  // Bytes as two 4-bit integers each, the first in the low half: UINT4 of `sizes`, packed.
  Value pairs(const Value& bytes, const Sizes& sizes);
  // Leading axes of size 1 until there are `rank`.
  Value padRank(const Value& value, size_t rank);
  // With strides as those of packed tensors.
  Value packed(const Value& value);
  // The first `count` elements of an axis.
  Value prefix(const Value& value, size_t axis, int64_t count);
  // Whether it is all of what is in a buffer when the graph runs, and no constant.
  bool isGiven(const Value& value) const;
  // Says that an output of a node, of which it stores parts, continues what such a buffer holds: what is there has to
  // be in the memory of the output before the graph runs. The output is to be one of the graph.
  void continueIn(const Value& output, const Value& given);
  // The name of that buffer; null: a value continues nothing.
  const std::string* continued(const Value& output) const;
  // A copy that a node made.
  Value copied(const Value& value);
  // A value that all graphs can read: a constant is not owned by DML.
  Value unowned(const Value& value);

  // The name in DirectML's messages of operators from now on.
  void setName(std::string name) { name_ = std::move(name); }
  size_t operatorCount() const { return nodes_.size(); }
  const std::vector<Input>& inputs() const { return inputs_; }

  // The graph that makes `outputs`, which are packed values of nodes. Inputs that none of them needs, and numbers, are
  // left out: `usedInputs[i]` is the input that the graph's input i is. Throws DeviceError.
  ComPtr<IDMLCompiledOperator> compile(const std::vector<Value>& outputs, DML_EXECUTION_FLAGS flags,
                                       std::vector<UINT>& usedInputs) const;

 private:
  friend class Op;
  struct Source {
    Value::Place place = Value::Place::Host;  // Host: the input is absent
    UINT index = 0;
    UINT output = 0;
  };
  struct Node {
    ComPtr<IDMLOperator> op;
    std::string name;
    std::vector<Source> inputs;
  };

  // What a graph is compiled from.
  struct Parts;

  Value addConstant(const SharedTensor& tensor, bool owned);
  // The first constant with these bytes, if they are few: operators of equal constants then have equal inputs.
  const HostTensor* firstEqual(const SharedTensor& tensor);
  // Adds the edges that lead to a node, and the numbers at their beginnings.
  void connectInputs(size_t node, Parts& parts) const;

  IDMLDevice& device_;
  GraphObserver* observer_;  // null: there is none
  std::string name_;
  std::vector<Input> inputs_;
  std::vector<Node> nodes_;
  std::map<std::pair<const HostTensor*, bool>, UINT> constants_;
  std::map<std::pair<Type, std::vector<std::byte>>, SharedTensor> small_;
  std::map<std::pair<UINT, UINT>, UINT> continued_;  // of a node's output: the graph's input
};

// An operator that is being described. Tensors are to be named in the order in which DirectML binds them:
//
//   Op op(graph);
//   DML_ELEMENT_WISE_ABS_OPERATOR_DESC desc{};
//   desc.InputTensor = op.input(x);
//   desc.OutputTensor = op.output(x.type, x.sizes);
//   return op.make(DML_OPERATOR_ELEMENT_WISE_ABS, desc);
class Op {
 public:
  explicit Op(GraphBuilder& graph) : graph_(graph) {}
  Op(const Op&) = delete;

  const DML_TENSOR_DESC* input(const Value& value);
  const DML_TENSOR_DESC* optionalInput(const std::optional<Value>& value);
  const DML_TENSOR_DESC* output(Type type, const Sizes& sizes);
  const DML_TENSOR_DESC* absentOutput();

  // Throws ModelError if DirectML refuses the description. The value of the first output.
  template <class Desc>
  Value make(DML_OPERATOR_TYPE type, const Desc& desc) {
    create({type, &desc});
    return result(0);
  }
  const Value& result(size_t index) const { return outputs_[index]; }

 private:
  struct Tensor {
    UINT sizes[8];
    UINT strides[8];
    DML_BUFFER_TENSOR_DESC buffer;
    DML_TENSOR_DESC desc;
  };
  const DML_TENSOR_DESC* describe(const Value& value, DML_TENSOR_FLAGS flags);
  void create(const DML_OPERATOR_DESC& desc);

  GraphBuilder& graph_;
  std::deque<Tensor> tensors_;
  std::vector<GraphBuilder::Source> inputs_;
  std::vector<Value> outputs_;
};

}  // namespace dimple::onnx
