#include "clients/onnx/graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

constexpr size_t kMaxDimensions = 8;

// The strides of a view of other sizes, if there are any: axes that are merged must follow each other in memory.
bool reshapeStrides(const Value& value, const Sizes& sizes, Sizes& strides) {
  strides.assign(sizes.size(), 0);
  size_t from = 0;
  size_t to = 0;
  const auto skipOnes = [](const Sizes& all, size_t& axis) {
    while (axis < all.size() && all[axis] == 1) ++axis;
  };
  while (true) {
    skipOnes(value.sizes, from);
    skipOnes(sizes, to);
    if (from == value.rank() || to == sizes.size()) return from == value.rank() && to == sizes.size();
    // The fewest axes on both sides with as many elements.
    size_t fromEnd = from + 1;
    size_t toEnd = to + 1;
    int64_t fromCount = value.sizes[from];
    int64_t toCount = sizes[to];
    while (fromCount != toCount) {
      if (fromCount < toCount) {
        if (fromEnd == value.rank()) return false;
        fromCount *= value.sizes[fromEnd++];
      } else {
        if (toEnd == sizes.size()) return false;
        toCount *= sizes[toEnd++];
      }
    }
    int64_t stride = 0;
    bool first = true;
    int64_t expected = 0;
    for (size_t axis = fromEnd; axis-- > from;) {
      if (value.sizes[axis] == 1) continue;
      if (first)
        stride = value.strides[axis];
      else if (value.strides[axis] != expected)
        return false;
      expected = value.strides[axis] * value.sizes[axis];
      first = false;
    }
    for (size_t axis = toEnd; axis-- > to;) {
      strides[axis] = stride;
      stride *= sizes[axis];
    }
    from = fromEnd;
    to = toEnd;
  }
}

}  // namespace

Value hostValue(SharedTensor tensor) {
  Value value;
  value.type = tensor->type;
  value.sizes = tensor->sizes;
  value.constant = std::move(tensor);
  return value;
}

Value hostValue(HostTensor tensor) { return hostValue(std::make_shared<const HostTensor>(std::move(tensor))); }

Sizes packedStrides(const Sizes& sizes) {
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  return strides;
}

Value GraphBuilder::addInput(std::string name, Type type, const Sizes& sizes) {
  Value value;
  value.type = type;
  value.sizes = sizes;
  value.place = Value::Place::GraphInput;
  value.index = static_cast<UINT>(inputs_.size());
  value.bufferBytes = deviceSize({type, sizes});
  inputs_.push_back({nullptr, std::move(name), value.bufferBytes});
  return value;
}

const HostTensor* GraphBuilder::firstEqual(const SharedTensor& tensor) {
  constexpr size_t kMostBytes = 256;
  if (tensor->bytes.size() > kMostBytes) return tensor.get();
  return small_.try_emplace({tensor->type, tensor->bytes}, tensor).first->second.get();
}

Value GraphBuilder::addConstant(const SharedTensor& tensor, bool owned) {
  Value value = hostValue(tensor);
  if (traits(value.type).device == DML_TENSOR_DATA_TYPE_UNKNOWN)
    throw ModelError(cat("A tensor is of ", typeName(value.type), ", which DirectML does not have."));
  if (value.elements() == 0) throw ModelError("A tensor has no elements, which DirectML does not allow.");
  value.place = Value::Place::GraphInput;
  value.bufferBytes = deviceSize({value.type, value.sizes});
  const auto [found, isNew] =
      constants_.emplace(std::pair(firstEqual(tensor), owned), static_cast<UINT>(inputs_.size()));
  value.index = found->second;
  const bool isNumber = owned && value.elements() == 1;
  if (isNew) inputs_.push_back({tensor, {}, value.bufferBytes, owned && !isNumber, isNumber});
  return value;
}

Value GraphBuilder::onDevice(const Value& value) {
  return value.place == Value::Place::Host ? addConstant(value.constant, true) : value;
}

Value GraphBuilder::unowned(const Value& value) {
  if (value.place == Value::Place::Host) return addConstant(value.constant, false);
  const bool owned = value.place == Value::Place::GraphInput && inputs_[value.index].owned;
  return owned ? copied(value) : value;
}

Value GraphBuilder::transpose(const Value& value, const std::vector<size_t>& order) {
  Value view = onDevice(value);
  view.constant = nullptr;
  const Sizes strides = view.packed() ? packedStrides(view.sizes) : view.strides;
  view.strides.resize(order.size());
  view.sizes.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    view.sizes[i] = value.sizes[order[i]];
    view.strides[i] = strides[order[i]];
  }
  if (view.strides == packedStrides(view.sizes)) view.strides.clear();
  return view;
}

Value GraphBuilder::reshape(const Value& value, const Sizes& sizes) {
  if (elementCount(sizes) != value.elements())
    throw ModelError(cat("A tensor of sizes ", listText(value.sizes), " cannot have sizes ", listText(sizes), "."));
  if (sizes == value.sizes) return value;
  Value view = onDevice(value);
  view.constant = nullptr;
  if (!view.packed()) {
    Sizes strides;
    if (reshapeStrides(view, sizes, strides)) {
      view.sizes = sizes;
      view.strides = strides;
      return view;
    }
    view = packed(view);
  }
  view.sizes = sizes;
  return view;
}

Value GraphBuilder::broadcast(const Value& value, const Sizes& sizes) {
  if (value.sizes == sizes) return onDevice(value);
  if (value.rank() > sizes.size() || broadcastSizes(value.sizes, sizes) != sizes)
    throw ModelError(
        cat("A tensor of sizes ", listText(value.sizes), " cannot be broadcast to ", listText(sizes), "."));
  Value view = onDevice(value);
  view.constant = nullptr;
  const Sizes strides = view.packed() ? packedStrides(view.sizes) : view.strides;
  view.sizes = sizes;
  view.strides.assign(sizes.size(), 0);
  const size_t lead = sizes.size() - value.rank();
  for (size_t i = 0; i < value.rank(); ++i)
    if (value.sizes[i] != 1) view.strides[lead + i] = strides[i];
  return view;
}

Value GraphBuilder::reinterpret(const Value& value, Type type) {
  Value view = onDevice(value);
  view.constant = nullptr;
  view.type = type;
  return view;
}

Value GraphBuilder::pairs(const Value& bytes, const Sizes& sizes) {
  if (bytes.type != Type::UInt8 || elementCount(sizes) != 2 * bytes.elements())
    throw ModelError(cat("A tensor is ", typeName(bytes.type), listText(bytes.sizes), ", expected bytes of pairs of ",
                         listText(sizes), "."));
  Value view = reinterpret(packed(bytes), Type::UInt4Pairs);
  view.sizes = sizes;
  return view;
}

Value GraphBuilder::padRank(const Value& value, size_t rank) {
  if (value.rank() >= rank) return value;
  Sizes sizes(rank - value.rank(), 1);
  sizes.insert(sizes.end(), value.sizes.begin(), value.sizes.end());
  return reshape(value, sizes);
}

Value GraphBuilder::prefix(const Value& value, size_t axis, int64_t count) {
  Value view = onDevice(value);
  view.constant = nullptr;
  if (view.packed()) view.strides = packedStrides(view.sizes);
  view.sizes[axis] = count;
  return view;
}

Value GraphBuilder::packed(const Value& value) { return value.packed() ? onDevice(value) : copied(value); }

bool GraphBuilder::isGiven(const Value& value) const {
  return value.place == Value::Place::GraphInput && value.packed() && !inputs_[value.index].constant &&
         value.bufferBytes == deviceSize({value.type, value.sizes});
}

void GraphBuilder::continueIn(const Value& output, const Value& given) {
  continued_[{output.index, output.output}] = given.index;
}

const std::string* GraphBuilder::continued(const Value& output) const {
  const auto found = continued_.find({output.index, output.output});
  return output.place == Value::Place::Node && found != continued_.end() ? &inputs_[found->second].name : nullptr;
}

Value GraphBuilder::copied(const Value& value) {
  Op op(*this);
  DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{};
  desc.InputTensor = op.input(value);
  desc.OutputTensor = op.output(value.type, value.sizes);
  return op.make(DML_OPERATOR_ELEMENT_WISE_IDENTITY, desc);
}

const DML_TENSOR_DESC* Op::describe(const Value& value, DML_TENSOR_FLAGS flags) {
  const TypeTraits type = traits(value.type);
  if (type.device == DML_TENSOR_DATA_TYPE_UNKNOWN)
    throw ModelError(cat("A tensor is of ", typeName(value.type), ", which DirectML does not have."));
  if (value.rank() > kMaxDimensions)
    throw ModelError(cat("A tensor has sizes ", listText(value.sizes), ", expected at most 8 dimensions."));
  Tensor& tensor = tensors_.emplace_back();
  // A scalar is a tensor of one element.
  const size_t rank = std::max<size_t>(value.rank(), 1);
  tensor.sizes[0] = 1;
  tensor.strides[0] = 1;
  for (size_t i = 0; i < value.rank(); ++i) {
    if (value.sizes[i] <= 0)
      throw ModelError(
          cat("A tensor has sizes ", listText(value.sizes), ", but DirectML allows no tensors without elements."));
    if (value.sizes[i] > std::numeric_limits<UINT>::max())
      throw ModelError(cat("A tensor has sizes ", listText(value.sizes), ", expected less than 2^32 each."));
    tensor.sizes[i] = static_cast<UINT>(value.sizes[i]);
    if (!value.packed()) tensor.strides[i] = static_cast<UINT>(value.strides[i]);
  }
  tensor.buffer = {
      type.device,       flags, static_cast<UINT>(rank), tensor.sizes, value.packed() ? nullptr : tensor.strides,
      value.bufferBytes, 0};
  tensor.desc = {DML_TENSOR_TYPE_BUFFER, &tensor.buffer};
  return &tensor.desc;
}

const DML_TENSOR_DESC* Op::input(const Value& value) {
  const Value view = graph_.onDevice(value);
  const bool owned = view.place == Value::Place::GraphInput && graph_.inputs_[view.index].owned;
  inputs_.push_back({view.place, view.index, view.output});
  return describe(view, owned ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE);
}

const DML_TENSOR_DESC* Op::optionalInput(const std::optional<Value>& value) {
  if (value) return input(*value);
  inputs_.push_back({});
  return nullptr;
}

const DML_TENSOR_DESC* Op::output(Type type, const Sizes& sizes) {
  Value value;
  value.type = type;
  value.sizes = sizes;
  value.place = Value::Place::Node;
  value.index = static_cast<UINT>(graph_.nodes_.size());
  value.output = static_cast<UINT>(outputs_.size());
  value.bufferBytes = deviceSize({type, sizes});
  outputs_.push_back(value);
  return describe(value, DML_TENSOR_FLAG_NONE);
}

const DML_TENSOR_DESC* Op::absentOutput() {
  outputs_.emplace_back();
  return nullptr;
}

void Op::create(const DML_OPERATOR_DESC& desc) {
  // Copies that inputs needed may have come first.
  const auto index = static_cast<UINT>(graph_.nodes_.size());
  for (Value& output : outputs_) output.index = index;
  GraphBuilder::Node node{nullptr, graph_.name_, inputs_};
  const HRESULT result = graph_.device_.CreateOperator(&desc, IID_PPV_ARGS(&node.op));
  if (FAILED(result)) throw ModelError(dimpleGetLastMessage());
  if (graph_.observer_) graph_.observer_->created(*node.op.Get(), desc);
  graph_.nodes_.push_back(std::move(node));
}

struct GraphBuilder::Parts {
  static constexpr UINT kNone = std::numeric_limits<UINT>::max();

  UINT nodeCount;  // of operators, behind which numbers come
  std::vector<UINT> newNode, newInput;
  std::vector<UINT>& usedInputs;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> nodes{};
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> numbers{};
  std::deque<std::vector<std::byte>> numberBytes{};
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputEdges{};
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> intermediateEdges{};
};

void GraphBuilder::connectInputs(size_t node, Parts& parts) const {
  const UINT to = parts.newNode[node];
  for (UINT i = 0; i < nodes_[node].inputs.size(); ++i) {
    const Source& source = nodes_[node].inputs[i];
    if (source.place == Value::Place::Host) continue;
    if (source.place == Value::Place::Node) {
      parts.intermediateEdges.push_back({parts.newNode[source.index], source.output, to, i, nullptr});
      continue;
    }
    UINT& known = parts.newInput[source.index];
    if (const Input& input = inputs_[source.index]; input.isNumber) {
      if (known == Parts::kNone) {
        known = parts.nodeCount + static_cast<UINT>(parts.numbers.size());
        const auto& bytes = parts.numberBytes.emplace_back(deviceBytes(*input.constant));
        parts.numbers.push_back({bytes.data(), bytes.size(), nullptr});
      }
      parts.intermediateEdges.push_back({known, 0, to, i, nullptr});
      continue;
    }
    if (known == Parts::kNone) {
      known = static_cast<UINT>(parts.usedInputs.size());
      parts.usedInputs.push_back(source.index);
    }
    parts.inputEdges.push_back({known, to, i, nullptr});
  }
}

ComPtr<IDMLCompiledOperator> GraphBuilder::compile(const std::vector<Value>& outputs, DML_EXECUTION_FLAGS flags,
                                                   std::vector<UINT>& usedInputs) const {
  // Keeps only the nodes that the outputs need. A node's inputs come before it.
  std::vector<bool> needed(nodes_.size());
  for (const Value& output : outputs) needed[output.index] = true;
  for (size_t n = nodes_.size(); n-- > 0;)
    if (needed[n])
      for (const Source& source : nodes_[n].inputs)
        if (source.place == Value::Place::Node) needed[source.index] = true;

  usedInputs.clear();
  Parts parts{.nodeCount = static_cast<UINT>(std::ranges::count(needed, true)),
              .newNode = std::vector<UINT>(nodes_.size(), Parts::kNone),
              .newInput = std::vector<UINT>(inputs_.size(), Parts::kNone),
              .usedInputs = usedInputs};
  for (size_t n = 0; n < nodes_.size(); ++n) {
    if (!needed[n]) continue;
    parts.newNode[n] = static_cast<UINT>(parts.nodes.size());
    parts.nodes.push_back({nodes_[n].op.Get(), nodes_[n].name.c_str()});
    connectInputs(n, parts);
  }
  std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> outputEdges;
  for (const Value& output : outputs)
    outputEdges.push_back({parts.newNode[output.index], output.output, static_cast<UINT>(outputEdges.size()), nullptr});

  const auto wrap = [](const auto& items, auto type, auto& wrapped) {
    for (const auto& item : items) wrapped.push_back({type, &item});
    return static_cast<UINT>(wrapped.size());
  };
  std::vector<DML_GRAPH_NODE_DESC> nodeDescs;
  std::vector<DML_GRAPH_EDGE_DESC> inputDescs, intermediateDescs, outputDescs;
  DML_GRAPH_DESC desc{};
  desc.InputCount = static_cast<UINT>(usedInputs.size());
  desc.OutputCount = static_cast<UINT>(outputs.size());
  wrap(parts.nodes, DML_GRAPH_NODE_TYPE_OPERATOR, nodeDescs);
  desc.NodeCount = wrap(parts.numbers, DML_GRAPH_NODE_TYPE_CONSTANT, nodeDescs);
  desc.Nodes = nodeDescs.data();
  desc.InputEdgeCount = wrap(parts.inputEdges, DML_GRAPH_EDGE_TYPE_INPUT, inputDescs);
  desc.InputEdges = inputDescs.data();
  desc.OutputEdgeCount = wrap(outputEdges, DML_GRAPH_EDGE_TYPE_OUTPUT, outputDescs);
  desc.OutputEdges = outputDescs.data();
  desc.IntermediateEdgeCount = wrap(parts.intermediateEdges, DML_GRAPH_EDGE_TYPE_INTERMEDIATE, intermediateDescs);
  desc.IntermediateEdges = intermediateDescs.data();
  if (observer_) {
    std::vector<std::string> names;
    names.reserve(usedInputs.size());
    for (const UINT input : usedInputs) names.push_back(inputs_[input].name);
    observer_->compiling(desc, names);
  }
  ComPtr<IDMLDevice1> device;
  ComPtr<IDMLCompiledOperator> compiled;
  if (FAILED(device_.QueryInterface(IID_PPV_ARGS(&device))) ||
      FAILED(device->CompileGraph(&desc, flags, IID_PPV_ARGS(&compiled))))
    throw DeviceError(cat("The model cannot be compiled: ", dimpleGetLastMessage()));
  return compiled;
}

}  // namespace dimple::onnx
