#include "clients/onnx/session.h"

#include <algorithm>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

std::string dimensionsText(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> texts;
  for (const Dimension& dimension : dimensions)
    texts.push_back(dimension.size >= 0 ? cat(dimension.size) : dimension.name.empty() ? "?" : dimension.name);
  return listText(texts);
}

}  // namespace

// A run with tensors of the host. Buffers are kept for the next one.
class Session::HostCaller : public Caller {
 public:
  explicit HostCaller(IDimpleContext& context) : context_(context) {}

  // Before a run with inputs that were checked.
  void give(const std::map<std::string, HostTensor>& inputs) {
    given_ = &inputs;
    made_.clear();
    for (const auto& [name, tensor] : inputs)
      if (tensor.elements() != 0) upload(context_, bufferOf(inputs_[name], {tensor.type, tensor.sizes}), tensor);
  }

  SharedTensor read(const std::string& input) override { return std::make_shared<const HostTensor>(given_->at(input)); }
  BufferRange input(const std::string& name) override { return inputs_.at(name).range; }
  BufferRange output(const std::string& name, const TensorInfo& info) override {
    made_[name] = nullptr;
    return bufferOf(outputs_[name], info);
  }
  void constantOutput(const std::string& name, const SharedTensor& value) override { made_[name] = value; }

  HostTensor result(const std::string& name) const {
    if (const SharedTensor& constant = made_.at(name)) return *constant;
    const Kept& kept = outputs_.at(name);
    return download(context_, kept.range, kept.info.type, kept.info.sizes);
  }

 private:
  struct Kept {
    TensorInfo info;
    BufferRange range;
  };

  BufferRange bufferOf(Kept& kept, const TensorInfo& info) const {
    if (!kept.range.buffer || kept.info != info) kept = {info, {createBuffer(context_, deviceSize(info)), 0}};
    return kept.range;
  }

  IDimpleContext& context_;
  const std::map<std::string, HostTensor>* given_ = nullptr;
  std::map<std::string, Kept> inputs_;
  std::map<std::string, Kept> outputs_;
  std::map<std::string, SharedTensor> made_;  // by the run: constants, or null
};

Session::Session(IDimpleContext& context, const Model& model, const SessionOptions& options)
    : context_(context), model_(model), options_(options), caller_(std::make_unique<HostCaller>(context)) {
  if (FAILED(context.GetDevice(IID_PPV_ARGS(&device_)))) throw DeviceError(dimpleGetLastMessage());
  if (!model.hasOpenSizes()) return;
  planned_ = model;
  constants_.emplace(context_, *device_.Get(), *planned_, options_);
}

Session::~Session() = default;

void Session::checkInputs(const std::map<std::string, HostTensor>& inputs) const {
  std::map<std::string, int64_t> symbols;
  for (const ModelInput& input : model_.inputs()) {
    const auto found = inputs.find(input.name);
    if (found == inputs.end())
      throw ModelError(cat("Input \"", input.name, "\" is not given, expected ", typeName(input.type),
                           input.dimensions ? dimensionsText(*input.dimensions) : "", "."));
    const HostTensor& tensor = found->second;
    if (tensor.type != input.type)
      throw ModelError(
          cat("Input \"", input.name, "\" is of ", typeName(tensor.type), ", expected ", typeName(input.type), "."));
    if (!input.dimensions) continue;
    bool matches = tensor.sizes.size() == input.dimensions->size();
    for (size_t i = 0; matches && i < tensor.sizes.size(); ++i) {
      const Dimension& dimension = (*input.dimensions)[i];
      if (dimension.size >= 0) {
        matches = dimension.size == tensor.sizes[i];
      } else if (!dimension.name.empty()) {
        const auto [symbol, isNew] = symbols.emplace(dimension.name, tensor.sizes[i]);
        if (!isNew && symbol->second != tensor.sizes[i])
          throw ModelError(cat("Input \"", input.name, "\" has sizes ", listText(tensor.sizes), " where ",
                               dimension.name, " is ", symbol->second, " already."));
      }
    }
    if (!matches)
      throw ModelError(cat("Input \"", input.name, "\" has sizes ", listText(tensor.sizes), ", expected ",
                           dimensionsText(*input.dimensions), "."));
  }
  for (const auto& given : inputs)
    if (std::ranges::none_of(model_.inputs(), [&](const ModelInput& input) { return input.name == given.first; }))
      throw ModelError(cat("The model has no input \"", given.first, "\"."));
}

std::unique_ptr<Program> Session::plan(InputInfos inputs) {
  if (!constants_) return std::make_unique<Program>(context_, *device_.Get(), model_, options_, std::move(inputs));
  constants_->prepare();
  return std::make_unique<Program>(context_, *device_.Get(), *planned_, options_, std::move(inputs), &*constants_);
}

std::vector<NamedTensor> Session::run(const std::map<std::string, HostTensor>& inputs) {
  checkInputs(inputs);
  statistics_ = {};
  caller_->give(inputs);
  InputInfos infos;
  for (const auto& [name, tensor] : inputs) infos[name] = {tensor.type, tensor.sizes};
  // A graph that fails is not run again.
  std::unique_ptr<Program> program = std::move(program_);
  if (!program || !program->fits(infos, *caller_)) program = plan(std::move(infos));
  program->run(*caller_);
  program_ = std::move(program);
  statistics_ = program_->statistics();
  std::vector<NamedTensor> results;
  for (const std::string& name : model_.outputs()) results.push_back({name, caller_->result(name)});
  return results;
}

}  // namespace dimple::onnx
