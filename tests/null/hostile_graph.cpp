#include "tests/null/hostile_graph.h"

#include <algorithm>
#include <cstdlib>

#include "core/schema/desc_text.h"

namespace dimple::testing {
namespace {

struct Line {
  std::string_view text;
  bool readsLast = false;  // rather together with the one before it, whose output it reads
};
constexpr bool kReads = true;

constexpr Line kLines[] = {
    {"ELEMENT_WISE_ABS InputTensor=f32[16] OutputTensor=f32[16]"},
    {"ELEMENT_WISE_ABS InputTensor=f32[4,4]{1,4} OutputTensor=f32[4,4]"},
    {"ELEMENT_WISE_ABS InputTensor=f32[8] OutputTensor=f32[8]"},
    {"ELEMENT_WISE_ADD ATensor=f32[4,4] BTensor=f32[4,4] OutputTensor=f32[4,4]"},
    {"ELEMENT_WISE_ADD ATensor=f32[16] BTensor=f32[16]! OutputTensor=f32[16]"},
    {"ELEMENT_WISE_ADD ATensor=f32[1,4,2,2] BTensor=f32[1,4,2,2]{0,1,0,0}! OutputTensor=f32[1,4,2,2]"},
    {"ELEMENT_WISE_MULTIPLY ATensor=f32[1,4,2,2] BTensor=f32[1,4,2,2]{0,1,0,0}! OutputTensor=f32[1,4,2,2]"},
    {"ACTIVATION_RELU InputTensor=f32[1,4,2,2] OutputTensor=f32[1,4,2,2]"},
    {"ACTIVATION_SOFTMAX1 InputTensor=f32[4,4] OutputTensor=f32[4,4] Axes=[1]"},
    {"CAST InputTensor=f32[8] OutputTensor=f16[8]"},
    {"CAST InputTensor=f16[32] OutputTensor=f16[32]"},
    {"JOIN InputTensors=(f32[1,8],f32[1,8]) OutputTensor=f32[2,8] Axis=0"},
    {"JOIN InputTensors=(f32[4,2],f32[4,2]) OutputTensor=f32[4,4] Axis=1"},
    {"JOIN InputTensors=(f16[2,2],f16[2,6]) OutputTensor=f16[2,8] Axis=1"},
    {"SPLIT InputTensor=f32[2,8] OutputTensors=(f32[1,8],f32[1,8]) Axis=0"},
    {"SPLIT InputTensor=f32[4,4] OutputTensors=(f32[4,1],f32[4,1],f32[4,2]) Axis=1"},
    {"SLICE1 InputTensor=f32[2,8] OutputTensor=f32[1,8] InputWindowOffsets=[1,0] InputWindowSizes=[1,8] "
     "InputWindowStrides=[1,-1]"},
    {"SLICE1 InputTensor=f32[4,4] OutputTensor=f32[2,4] InputWindowOffsets=[0,0] InputWindowSizes=[4,4] "
     "InputWindowStrides=[2,1]"},
    {"ELEMENT_WISE_IDENTITY InputTensor=f32[4,4]{1,4} OutputTensor=f32[4,4]"},
    {"ELEMENT_WISE_IDENTITY InputTensor=f32[2,8] OutputTensor=f32[2,8]{1,2}"},
    {"ELEMENT_WISE_IDENTITY InputTensor=f32[2,8]{0,1} OutputTensor=f32[2,8]"},
    {"GEMM ATensor=f32[1,1,4,4] BTensor=f32[1,1,4,4]! OutputTensor=f32[1,1,4,4] TransA=NONE TransB=NONE Alpha=1 "
     "Beta=0"},
    {"GEMM ATensor=f32[1,1,4,4] BTensor=f32[1,1,4,4] CTensor=f32[1,1,4,4] OutputTensor=f32[1,1,4,4] TransA=TRANSPOSE "
     "TransB=NONE Alpha=1 Beta=1"},
    {"CONVOLUTION InputTensor=f32[1,4,2,2] FilterTensor=f32[4,4,1,1]! OutputTensor=f32[1,4,2,2] Strides=[1,1] "
     "Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1"},
    {"BATCH_NORMALIZATION InputTensor=f32[1,4,2,2] MeanTensor=f32[1,4,1,1]! VarianceTensor=f32[1,4,1,1]! "
     "ScaleTensor=f32[1,4,1,1]! BiasTensor=f32[1,4,1,1]! OutputTensor=f32[1,4,2,2] Spatial=1 Epsilon=0.1"},
    {"FILL_VALUE_CONSTANT OutputTensor=f32[16] ValueDataType=FLOAT32 Value=1"},
    {"REDUCE Function=SUM InputTensor=f32[4,4] OutputTensor=f32[4,1] Axes=[1]"},
    {"TOP_K InputTensor=f32[1,1,4,4] OutputValueTensor=f32[1,1,4,4] OutputIndexTensor=u32[1,1,4,4] Axis=3 K=4"},
    // Weights, factors and sums of channels, and activations.
    {"CONVOLUTION InputTensor=f32[1,4,2,2] FilterTensor=f32[4,4,1,1]! BiasTensor=f32[1,4,1,1]! "
     "OutputTensor=f32[1,4,2,2] Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] "
     "GroupCount=1"},
    {"BATCH_NORMALIZATION InputTensor=f32[1,4,2,2] MeanTensor=f32[1,4,1,1]! VarianceTensor=f32[1,4,1,1]! "
     "ScaleTensor=f32[1,4,1,1]! BiasTensor=f32[1,4,1,1]! OutputTensor=f32[1,4,2,2] Spatial=1 Epsilon=0.1",
     kReads},
    {"ACTIVATION_SIGMOID InputTensor=f32[1,4,2,2] OutputTensor=f32[1,4,2,2]", kReads},
    {"CONVOLUTION InputTensor=f32[1,4,2,2] FilterTensor=f32[4,4,1,1]! OutputTensor=f32[1,4,2,2] Strides=[1,1] "
     "Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1"},
    {"ELEMENT_WISE_MULTIPLY ATensor=f32[1,4,2,2] BTensor=f32[1,4,2,2]{0,1,0,0}! OutputTensor=f32[1,4,2,2]", kReads},
    {"ELEMENT_WISE_ADD1 ATensor=f32[1,4,2,2] BTensor=f32[1,4,2,2] OutputTensor=f32[1,4,2,2]", kReads},
    {"ACTIVATION_RELU InputTensor=f32[1,4,2,2] OutputTensor=f32[1,4,2,2]", kReads},
    {"GEMM ATensor=f32[1,1,4,4] BTensor=f32[1,1,4,4]! CTensor=f32[1,1,4,4]{0,0,0,1}! OutputTensor=f32[1,1,4,4] "
     "TransA=NONE TransB=TRANSPOSE Alpha=0.5 Beta=1"},
    {"ELEMENT_WISE_ADD ATensor=f32[1,1,4,4] BTensor=f32[1,1,4,4]{0,0,0,1}! OutputTensor=f32[1,1,4,4]", kReads},
    {"ACTIVATION_LINEAR InputTensor=f32[1,1,4,4] OutputTensor=f32[1,1,4,4] Alpha=2 Beta=1", kReads},
    {"GEMM ATensor=f32[1,1,4,4] BTensor=f32[1,1,4,4]! OutputTensor=f32[1,1,4,4] TransA=NONE TransB=NONE Alpha=1 "
     "Beta=0"},
    {"ELEMENT_WISE_MULTIPLY ATensor=f32[1,1,4,4]{0,0,0,1}! BTensor=f32[1,1,4,4] OutputTensor=f32[1,1,4,4]", kReads},
    // Chains of several types and sizes.
    {"ELEMENT_WISE_MULTIPLY ATensor=f32[4,4] BTensor=f32[4,4]{0,1} OutputTensor=f32[4,4]"},
    {"ELEMENT_WISE_CLIP InputTensor=f32[4,4] OutputTensor=f32[4,4] Min=0 Max=1", kReads},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN ATensor=f32[4,4] BTensor=f32[4,4] OutputTensor=u8[4,4]", kReads},
    {"ELEMENT_WISE_IF ConditionTensor=u8[4,4] ATensor=f32[4,4] BTensor=f32[4,4] OutputTensor=f32[4,4]", kReads},
    {"CAST InputTensor=f32[16] OutputTensor=f16[16]"},
    {"ELEMENT_WISE_EXP InputTensor=f16[16] OutputTensor=f16[16]", kReads},
    {"CAST InputTensor=f16[16] OutputTensor=f32[16]", kReads},
    // Rows that do not begin at multiples of a vector, where products read them.
    {"GEMM ATensor=f32[1,1,64,32] BTensor=f32[1,1,32,49]! OutputTensor=f32[1,1,64,49] TransA=NONE TransB=NONE Alpha=1 "
     "Beta=0"},
    {"GEMM ATensor=f32[1,1,128,64] BTensor=f32[1,1,64,49] OutputTensor=f32[1,1,128,49] TransA=NONE TransB=NONE Alpha=1 "
     "Beta=0",
     kReads},
    // Attention.
    {"GEMM ATensor=f16[1,64,16,16] BTensor=f16[1,64,16,16] OutputTensor=f16[1,64,16,16] TransA=NONE TransB=TRANSPOSE "
     "Alpha=0.25 Beta=0"},
    {"ACTIVATION_SOFTMAX1 InputTensor=f16[1,64,16,16] OutputTensor=f16[1,64,16,16] Axes=[3]", kReads},
    {"GEMM ATensor=f16[1,64,16,16] BTensor=f16[1,64,16,16] OutputTensor=f16[1,64,16,16] TransA=NONE TransB=NONE "
     "Alpha=1 "
     "Beta=0",
     kReads},
    // What only moves elements.
    {"ELEMENT_WISE_IDENTITY InputTensor=f32[1,4,2,2]{16,1,8,4} OutputTensor=f32[1,4,2,2]"},
    {"CONVOLUTION InputTensor=f32[1,4,2,2] FilterTensor=f32[4,4,1,1]! OutputTensor=f32[1,4,2,2] Strides=[1,1] "
     "Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1",
     kReads},
    {"ELEMENT_WISE_IDENTITY InputTensor=f32[1,4,2,2] OutputTensor=f32[1,4,2,2]{16,1,8,4}", kReads},
    {"TILE InputTensor=f32[1,8] OutputTensor=f32[2,8] Repeats=[2,1]"},
    {"SPLIT InputTensor=f32[2,8] OutputTensors=(f32[1,8],f32[1,8]) Axis=0", kReads},
    {"JOIN InputTensors=(f32[1,8],f32[1,8]) OutputTensor=f32[2,8] Axis=0", kReads},
    {"SLICE1 InputTensor=f32[4,4] OutputTensor=f32[4,2] InputWindowOffsets=[0,1] InputWindowSizes=[4,2] "
     "InputWindowStrides=[1,1]"},
    {"JOIN InputTensors=(f32[4,2],f32[4,2]) OutputTensor=f32[4,4] Axis=1", kReads},
    // Channels that may lie side by side.
    {"CONVOLUTION InputTensor=f16[1,16,4,4] FilterTensor=f16[16,16,1,1]! OutputTensor=f16[1,16,4,4] Strides=[1,1] "
     "Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1"},
    {"CONVOLUTION InputTensor=f16[1,16,4,4] FilterTensor=f16[16,16,1,1]! OutputTensor=f16[1,16,4,4] Strides=[1,1] "
     "Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] GroupCount=1",
     kReads},
    // Products of integers.
    {"ELEMENT_WISE_DEQUANTIZE_LINEAR InputTensor=u8[1,1,16,16] ScaleTensor=f32[1,1,16,16]{0,0,0,0} "
     "OutputTensor=f32[1,1,16,16]"},
    {"GEMM ATensor=f32[1,1,16,16] BTensor=f32[1,1,16,16] OutputTensor=f32[1,1,16,16] TransA=NONE TransB=NONE Alpha=1 "
     "Beta=0",
     kReads},
    {"ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f32[1,1,16,16] ScaleTensor=f32[1,1,16,16]{0,0,0,0} "
     "OutputTensor=u8[1,1,16,16]",
     kReads},
    // Weights that are dequantized before a product.
    {"DEQUANTIZE InputTensor=u8[1,1,16,16]! QuantizationType=SCALE QuantizationTensors=(f32[1,1,16,1]!) "
     "OutputTensor=f32[1,1,16,16]"},
    {"GEMM ATensor=f32[1,1,16,16] BTensor=f32[1,1,16,16] OutputTensor=f32[1,1,16,16] TransA=NONE TransB=TRANSPOSE "
     "Alpha=1 Beta=0",
     kReads},
    // Two such products of the same rows.
    {"ELEMENT_WISE_ABS InputTensor=f32[1,1,3,16] OutputTensor=f32[1,1,3,16]"},
    {"DEQUANTIZE InputTensor=u8[1,1,32,16]! QuantizationType=SCALE QuantizationTensors=(f32[1,1,32,1]!) "
     "OutputTensor=f32[1,1,32,16]",
     kReads},
    {"GEMM ATensor=f32[1,1,3,16] BTensor=f32[1,1,32,16] OutputTensor=f32[1,1,3,32] TransA=NONE TransB=TRANSPOSE "
     "Alpha=1 Beta=0",
     kReads},
    {"ELEMENT_WISE_EXP InputTensor=f32[1,1,3,32] OutputTensor=f32[1,1,3,32]", kReads},
    {"DEQUANTIZE InputTensor=u8[1,1,32,16]! QuantizationType=SCALE QuantizationTensors=(f32[1,1,32,1]!) "
     "OutputTensor=f32[1,1,32,16]",
     kReads},
    {"GEMM ATensor=f32[1,1,3,16] BTensor=f32[1,1,32,16] OutputTensor=f32[1,1,3,32] TransA=NONE TransB=TRANSPOSE "
     "Alpha=1 Beta=0",
     kReads},
    {"ELEMENT_WISE_EXP InputTensor=f32[1,1,3,32] OutputTensor=f32[1,1,3,32]", kReads},
    // Rows between casts.
    {"CAST InputTensor=f16[64,64] OutputTensor=f32[64,64]"},
    {"ACTIVATION_SOFTMAX1 InputTensor=f32[64,64] OutputTensor=f32[64,64] Axes=[1]", kReads},
    {"CAST InputTensor=f32[64,64] OutputTensor=f16[64,64]", kReads},
    // What becomes an operator of FLOAT16.
    {"CAST InputTensor=f16[4,8] OutputTensor=f32[4,8]"},
    {"CUMULATIVE_SUMMATION InputTensor=f32[4,8] OutputTensor=f32[4,8] Axis=1 AxisDirection=INCREASING "
     "HasExclusiveSum=0",
     kReads},
    {"CAST InputTensor=f32[4,8] OutputTensor=f16[4,8]", kReads},
};

}  // namespace

GraphOperators::GraphOperators() : device_(createNullDevice()) {
  for (const auto& [line, readsLast] : kLines) {
    descs_.push_back(std::move(parseCase(line)->desc));
    const DML_OPERATOR_DESC desc = descs_.back().desc();
    auto& handle = handles_.emplace_back();
    if (FAILED(device_->CreateOperator(&desc, IID_PPV_ARGS(&handle)))) std::abort();
    all_.push_back({handle.Get(), std::make_shared<const Operation>(*Operation::parse(desc)), readsLast});
  }
}

Result<std::shared_ptr<const Operation>> GraphOperators::find(IDMLOperator* op) const {
  const auto found = std::ranges::find(all_, op, &GraphOperator::op);
  if (found == all_.end()) return invalid("Operator is not a live Dimple operator.");
  return found->operation;
}

HostileGraph::HostileGraph(std::span<const uint8_t> bytes, std::span<const GraphOperator> operators) : bytes_(bytes) {
  const uint32_t count = 1 + below(12);
  for (uint32_t n = 0; n < count; ++n) {
    if (chance(8)) addConstant();
    addNodes(operators);
  }
  addOutputs();
  const auto size = [](const auto& items) { return static_cast<UINT>(items.size()); };
  const auto wrap = [](auto& wrapped, auto& items, DML_GRAPH_EDGE_TYPE type) {
    for (auto& item : items) wrapped.push_back({type, &item});
  };
  wrap(inputs_, inputEdges_, DML_GRAPH_EDGE_TYPE_INPUT);
  wrap(intermediates_, edges_, DML_GRAPH_EDGE_TYPE_INTERMEDIATE);
  wrap(outputs_, outputEdges_, DML_GRAPH_EDGE_TYPE_OUTPUT);
  desc_ = {desc_.InputCount, desc_.OutputCount, size(nodes_),    nodes_.data(),        size(inputs_),
           inputs_.data(),   size(outputs_),    outputs_.data(), size(intermediates_), intermediates_.data()};
  if (chance(2))
    for (uint32_t changes = 1 + below(3); changes != 0; --changes) change();
}

uint8_t HostileGraph::next() {
  if (bytes_.empty()) return 0;
  const uint8_t byte = bytes_.front();
  bytes_ = bytes_.subspan(1);
  return byte;
}

uint32_t HostileGraph::number() {
  const uint8_t kind = next();
  return kind < 230 ? kind % 16 : kind < 240 ? UINT32_MAX - kind % 4 : uint32_t{kind} << (next() % 25);
}

// Passes rewrite nodes that read each other's tensors, so rather what takes the tensor made last as it is, or several
// operators of which each reads the one before.
void HostileGraph::addNodes(std::span<const GraphOperator> operators) {
  const uint32_t choice = next();
  const auto takesLast = [&](const GraphOperator& op) {
    return std::ranges::any_of(op.operation->inputs(), [&](const Tensor& input) {
      return input.present() && !input.ownedByDml && input.type == made_.back().type &&
             input.totalBytes == made_.back().bytes;
    });
  };
  std::vector<size_t> those;
  if (!made_.empty() && chance(2))
    for (size_t i = 0; i < operators.size(); ++i)
      if (takesLast(operators[i])) those.push_back(i);
  size_t i = those.empty() ? choice % operators.size() : those[choice % those.size()];
  do addNode(operators[i++]);
  while (i < operators.size() && operators[i].readsLast && !chance(8));
}

void HostileGraph::addNode(const GraphOperator& op) {
  const auto node = static_cast<UINT>(nodes_.size());
  nodes_.push_back({DML_GRAPH_NODE_TYPE_OPERATOR,
                    &operators_.emplace_back(DML_OPERATOR_GRAPH_NODE_DESC{op.op, chance(2) ? "node" : nullptr})});
  for (UINT i = 0; i < op.operation->inputs().size(); ++i)
    if (op.operation->input(i).present()) connect(node, i, op.operation->input(i));
  for (UINT o = 0; o < op.operation->outputs().size(); ++o)
    if (op.operation->output(o).present())
      made_.push_back({node, o, op.operation->output(o).type, op.operation->output(o).totalBytes, false});
}

void HostileGraph::addConstant() {
  auto& bytes = constantBytes_.emplace_back(chance(4) ? number() % 4096 : 64);
  const auto node = static_cast<UINT>(nodes_.size());
  nodes_.push_back({DML_GRAPH_NODE_TYPE_CONSTANT,
                    &constants_.emplace_back(DML_CONSTANT_DATA_GRAPH_NODE_DESC{bytes.data(), bytes.size(), nullptr})});
  made_.push_back({node, 0, DML_TENSOR_DATA_TYPE_FLOAT32, bytes.size(), false});
}

// To the output of an earlier node, a recent one rather, or to an input of the graph.
void HostileGraph::connect(UINT node, UINT input, const Tensor& tensor) {
  if (!tensor.ownedByDml && !chance(6))
    for (size_t tries = made_.size(), skip = chance(2) ? below(4) : 0; tries-- > 0;) {
      Made& made = made_[tries];
      if (made.bytes != tensor.totalBytes || skip-- != 0) continue;
      made.used = true;
      edges_.push_back({made.node, made.output, node, input, nullptr});
      return;
    }
  // Owned ones lead to the even inputs, others to the odd ones.
  const UINT graphInput = (chance(3) ? below(4) : desc_.InputCount / 2) * 2 + (tensor.ownedByDml ? 0 : 1);
  desc_.InputCount = std::max(desc_.InputCount, graphInput + 1);
  inputEdges_.push_back({graphInput, node, input, chance(4) ? "weights" : nullptr});
}

void HostileGraph::addOutputs() {
  for (const Made& made : made_)
    if (!made.used || chance(8)) {
      // The last of several edges to an output counts: nothing reads what the others lead from.
      if (desc_.OutputCount == 0 || !chance(8)) ++desc_.OutputCount;
      outputEdges_.push_back({made.node, made.output, desc_.OutputCount - 1, nullptr});
    }
}

void HostileGraph::changeEdge(std::vector<DML_GRAPH_EDGE_DESC>& edges) {
  if (edges.empty()) return;
  DML_GRAPH_EDGE_DESC& edge = edges[next() % edges.size()];
  if (chance(8)) edge.Desc = nullptr;
  if (chance(8)) edge.Type = static_cast<DML_GRAPH_EDGE_TYPE>(below(5));
  const size_t index = static_cast<size_t>(&edge - edges.data());
  const auto set = [&](std::initializer_list<UINT*> fields) { **(fields.begin() + next() % fields.size()) = number(); };
  if (&edges == &inputs_) {
    auto& desc = inputEdges_[index];
    set({&desc.GraphInputIndex, &desc.ToNodeIndex, &desc.ToNodeInputIndex});
  } else if (&edges == &outputs_) {
    auto& desc = outputEdges_[index];
    set({&desc.FromNodeIndex, &desc.FromNodeOutputIndex, &desc.GraphOutputIndex});
  } else {
    auto& desc = edges_[index];
    set({&desc.FromNodeIndex, &desc.FromNodeOutputIndex, &desc.ToNodeIndex, &desc.ToNodeInputIndex});
  }
}

// No array grows with its count.
void HostileGraph::change() {
  switch (below(10)) {
    case 0:
      desc_.InputCount = number();
      break;
    case 1:
      desc_.OutputCount = number();
      break;
    case 2:
      desc_.NodeCount = std::min(desc_.NodeCount, number());
      break;
    case 3:
      desc_.InputEdgeCount = std::min(desc_.InputEdgeCount, number());
      if (chance(4)) desc_.InputEdges = nullptr;
      break;
    case 4: {
      DML_GRAPH_NODE_DESC& node = nodes_[next() % nodes_.size()];
      if (chance(2)) {
        node.Desc = nullptr;
        break;
      }
      // The other type that there is would make another description of Desc, which nobody can tell.
      const auto type = static_cast<DML_GRAPH_NODE_TYPE>(number());
      if (type != DML_GRAPH_NODE_TYPE_OPERATOR && type != DML_GRAPH_NODE_TYPE_CONSTANT) node.Type = type;
      break;
    }
    case 5:
      operators_[next() % operators_.size()].Operator = reinterpret_cast<IDMLOperator*>(size_t{number()});
      break;
    case 6:
      if (!constants_.empty()) {
        auto& constant = constants_[next() % constants_.size()];
        constant.DataSize = std::min<SIZE_T>(constant.DataSize, number());
        if (chance(3)) constant.Data = nullptr;
      }
      break;
    case 7:
      changeEdge(inputs_);
      break;
    case 8:
      changeEdge(outputs_);
      break;
    default:
      changeEdge(intermediates_);
      break;
  }
}

}  // namespace dimple::testing
