// What a model knows before it runs, on a device: initializers, and what nodes make of these alone.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clients/onnx/program.h"

namespace dimple::onnx {

// For models that are planned for inputs of several sizes: each tensor lies on the device once, and all programs bind
// it. DML owns none, since each program would have a copy of its own then.
class Constants {
 public:
  struct Constant {
    TensorInfo info;
    SharedTensor value;             // null: it is on the device only, or consists of parts
    ComPtr<ID3D12Resource> buffer;  // null: it is on the host only
    JoinedTensor joined{};          // of the parts that it consists of, where it is on the host only
  };

  // Takes from `model` its initializers, and the nodes that read nothing else. The context and its device must outlive
  // it.
  Constants(IDimpleContext& context, IDMLDevice& device, Model& model, const SessionOptions& options);

  // Runs the nodes that were taken, once; to be called before any other. Throws ModelError or DeviceError, and may be
  // called again then.
  void prepare();

  const std::map<std::string, Constant>& all() const { return all_; }
  // Whether a graph can read it.
  static bool fitsDevice(const TensorInfo& info);
  // The values of those that are small, which shapes may depend on; null: others', or there is no such constant.
  SharedTensor known(const std::string& name) const;
  // The values. What is on the device only is read from there. Null: there is no such constant.
  SharedTensor read(const std::string& name) const;
  // Where it lies. It is uploaded when it is asked for first, and leaves the host unless it is small. Null: there is no
  // such constant.
  ComPtr<ID3D12Resource> buffer(const std::string& name);

 private:
  class Preparation;

  void uploadJoined(const BufferRange& to, const JoinedTensor& joined) const;

  IDimpleContext& context_;
  IDMLDevice& device_;
  const SessionOptions options_;
  std::optional<Model> model_;  // of the nodes that were taken, until they have run
  std::map<std::string, Constant> all_;
  std::set<std::string> read_;  // by the nodes that were left, or an output of the model
};

}  // namespace dimple::onnx
