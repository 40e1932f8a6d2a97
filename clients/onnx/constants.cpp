#include "clients/onnx/constants.h"

#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"

namespace dimple::onnx {
namespace {

bool isSmall(const TensorInfo& info) { return elementCount(info.sizes) <= kMaxFoldedElements; }

}  // namespace

// The run of a model without inputs, whose outputs are constants of another.
class Constants::Preparation : public Caller {
 public:
  explicit Preparation(IDimpleContext& context) : context_(context) {}

  SharedTensor read(const std::string& input) override { throw ModelError(kNoInputs + input); }
  BufferRange input(const std::string& name) override { throw ModelError(kNoInputs + name); }
  BufferRange output(const std::string& name, const TensorInfo& info) override {
    const ComPtr<ID3D12Resource> buffer = createBuffer(context_, deviceSize(info));
    made[name] = {info, nullptr, buffer};
    return {buffer, 0};
  }
  void constantOutput(const std::string& name, const SharedTensor& value) override {
    made[name] = {{value->type, value->sizes}, value, nullptr};
  }

  std::map<std::string, Constant> made;

 private:
  static constexpr const char* kNoInputs = "Nodes that read constants have an input ";

  IDimpleContext& context_;
};

Constants::Constants(IDimpleContext& context, IDMLDevice& device, Model& model, const SessionOptions& options)
    : context_(context), device_(device), options_(options) {
  for (auto& [name, joined] : model.joinProducts())
    all_[name] = {{joined.parts[0]->type, joined.sizes}, nullptr, nullptr, std::move(joined)};
  model_.emplace(model.takeConstantNodes());
  for (auto& [name, value] : model.takeInitializers())
    all_[name] = {{value->type, value->sizes}, std::move(value), nullptr};
  read_ = model.namesRead();
  if (model_->nodes().empty()) model_.reset();
}

void Constants::prepare() {
  if (!model_) return;
  Preparation preparation(context_);
  Program(context_, device_, *model_, options_, {}, this).run(preparation);
  all_.merge(preparation.made);
  std::erase_if(all_, [&](const auto& entry) { return !read_.contains(entry.first); });
  // Graphs take numbers from the host.
  for (auto& [name, constant] : all_)
    if (!constant.value && elementCount(constant.info.sizes) == 1) constant = {constant.info, read(name), nullptr};
  model_.reset();
}

bool Constants::fitsDevice(const TensorInfo& info) {
  return elementCount(info.sizes) != 0 && traits(info.type).device != DML_TENSOR_DATA_TYPE_UNKNOWN;
}

SharedTensor Constants::known(const std::string& name) const {
  const auto found = all_.find(name);
  return found != all_.end() && isSmall(found->second.info) ? found->second.value : nullptr;
}

SharedTensor Constants::read(const std::string& name) const {
  const auto found = all_.find(name);
  if (found == all_.end()) return nullptr;
  const auto& [info, value, buffer, joined] = found->second;
  if (!joined.parts.empty()) return std::make_shared<const HostTensor>(joined.value());
  return value ? value : std::make_shared<const HostTensor>(download(context_, {buffer, 0}, info.type, info.sizes));
}

void Constants::uploadJoined(const BufferRange& to, const JoinedTensor& joined) const {
  if (joined.axis != 0) return upload(context_, to, joined.value());
  // No copy of all is made.
  UINT64 offset = to.offset;
  for (const SharedTensor& part : joined.parts) {
    upload(context_, {to.buffer, offset}, *part);
    offset += onnx::elementCount(part->sizes) * traits(part->type).deviceBytes;
  }
}

ComPtr<ID3D12Resource> Constants::buffer(const std::string& name) {
  const auto found = all_.find(name);
  if (found == all_.end()) return nullptr;
  Constant& constant = found->second;
  if (!constant.buffer) {
    ComPtr<ID3D12Resource> buffer = createBuffer(context_, deviceSize(constant.info));
    if (constant.value) upload(context_, {buffer, 0}, *constant.value);
    uploadJoined({buffer, 0}, constant.joined);
    constant.joined = {};
    constant.buffer = std::move(buffer);
    if (!isSmall(constant.info)) constant.value = nullptr;
  }
  return constant.buffer;
}

}  // namespace dimple::onnx
