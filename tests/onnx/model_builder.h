// Models for tests, made node by node.
#pragma once

#include <string>
#include <vector>

#include "clients/onnx/model.h"
#include "clients/onnx/model_proto.h"

namespace dimple::testing {

// The tensor as raw data; two 4-bit integers a byte.
void setTensor(::onnx::TensorProto& proto, const std::string& name, const onnx::HostTensor& tensor);

onnx::HostTensor floats(onnx::Sizes sizes, const std::vector<double>& values);
onnx::HostTensor integers(const std::vector<int64_t>& values);

class GraphMaker {
 public:
  explicit GraphMaker(::onnx::GraphProto& graph) : graph_(graph) {}

  // A dimension below 0 is named "N".
  void input(const std::string& name, onnx::Type type, const std::vector<int64_t>& sizes);
  void initializer(const std::string& name, const onnx::HostTensor& tensor);
  ::onnx::NodeProto& node(const std::string& opType, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs);
  void output(const std::string& name) { graph_.add_output()->set_name(name); }

 private:
  ::onnx::GraphProto& graph_;
};

class ModelMaker : public GraphMaker {
 public:
  explicit ModelMaker(int64_t opset = 17) : ModelMaker(std::make_unique<::onnx::ModelProto>(), opset) {}
  ModelMaker(ModelMaker&&) = default;
  ModelMaker(const ModelMaker& other) : ModelMaker(std::make_unique<::onnx::ModelProto>(*other.proto_)) {}

  ::onnx::ModelProto& proto() { return *proto_; }
  const ::onnx::ModelProto& proto() const { return *proto_; }
  std::string bytes() const { return proto_->SerializeAsString(); }
  onnx::Model model(const std::filesystem::path& folder = {}) const {
    return onnx::Model(onnx::describe(*proto_, folder));
  }

 private:
  explicit ModelMaker(std::unique_ptr<::onnx::ModelProto> proto)
      : GraphMaker(*proto->mutable_graph()), proto_(std::move(proto)) {}
  ModelMaker(std::unique_ptr<::onnx::ModelProto> proto, int64_t opset) : ModelMaker(std::move(proto)) {
    proto_->add_opset_import()->set_version(opset);
    proto_->set_ir_version(8);
    proto_->mutable_graph()->set_name("model");
  }

  std::unique_ptr<::onnx::ModelProto> proto_;
};

void setAttribute(::onnx::NodeProto& node, const std::string& name, int64_t value);
void setAttribute(::onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values);
// A node that holds what the execution provider `source` of ONNX Runtime compiled; `output` is the model's.
void addContextNode(ModelMaker& maker, const std::string& input, const std::string& output, const std::string& source);
::onnx::GraphProto& addGraph(::onnx::NodeProto& node, const std::string& name);

}  // namespace dimple::testing
