// Elements that a node only moves are read where they lie, or are written directly to where they go.
#include <algorithm>
#include <map>
#include <optional>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "kernels/interfaces/chain.h"
#include "kernels/interfaces/ids.h"

namespace dimple {
namespace {

// A tensor of at most this many bytes may be read across its rows. It stays in a cache, where fetching each line
// several times takes less time than the copy that would transpose it (docs/performance.md).
constexpr uint64_t kMaxAcross = 1 << 20;

// The most inputs of an operator whose description is copied for each input that is read elsewhere.
constexpr size_t kMaxNodeTensors = 256;

// How the elements of a tensor lie in another's memory.
struct View {
  uint64_t offset = 0;  // elements
  std::array<uint32_t, kMaxRank> strides{};
};

constexpr bool isNegative(uint32_t stride) { return stride > INT32_MAX; }

// Returns where a walk moves the elements of a tensor that begins at an offset in operand `from`, or no value if it
// does not move all of them, or does not move them evenly.
class Mover {
 public:
  Mover(Walk walk, uint32_t from, uint32_t to) : walk_(walk), from_(from), to_(to) {
    walk_.sortBy(from);
    walk_.coalesce();
    // Every offset in `from` must have one position, so the extent of the inner dimensions lies within a step.
    uint64_t reach = 0;
    for (uint32_t d = walk_.rank; d-- > 0;) {
      const uint32_t stride = walk_.strides[d][from];
      even_ &= stride > reach && !isNegative(stride);
      reach += uint64_t{walk_.sizes[d] - 1} * stride;
    }
  }

  std::optional<View> view(const Tensor& tensor, uint64_t offset) const {
    if (!even_ || offset < walk_.base[from_]) return {};
    auto last = stepsOf(offset - walk_.base[from_]);
    if (!last) return {};
    const int64_t at = walk_.base[to_] + distance(*last);
    View view;
    view.strides = tensor.strides;
    for (uint32_t d = 0; d < tensor.rank; ++d) {
      if (tensor.sizes[d] == 1) continue;
      const auto step = stepsOf(tensor.strides[d]);
      if (!step) return {};
      const int64_t stride = distance(*step);
      if (stride < 0 || stride > INT32_MAX) return {};
      view.strides[d] = static_cast<uint32_t>(stride);
      for (uint32_t w = 0; w < walk_.rank; ++w) (*last)[w] += (tensor.sizes[d] - 1) * (*step)[w];
    }
    for (uint32_t w = 0; w < walk_.rank; ++w)
      if ((*last)[w] >= walk_.sizes[w]) return {};
    if (at < 0) return {};
    view.offset = static_cast<uint64_t>(at);
    return view;
  }

 private:
  using Steps = std::array<uint64_t, kMaxWalkRank>;

  // Returns the position along each dimension of the walk, or no value if the walk does not reach the offset.
  std::optional<Steps> stepsOf(uint64_t offset) const {
    Steps steps{};
    for (uint32_t w = 0; w < walk_.rank; ++w) {
      steps[w] = offset / walk_.strides[w][from_];
      offset %= walk_.strides[w][from_];
    }
    if (offset != 0) return {};
    return steps;
  }
  int64_t distance(const Steps& steps) const {
    int64_t sum = 0;
    for (uint32_t w = 0; w < walk_.rank; ++w)
      sum += static_cast<int64_t>(steps[w]) * static_cast<int32_t>(walk_.strides[w][to_]);
    return sum;
  }

  Walk walk_;
  const uint32_t from_, to_;
  bool even_ = true;
};

// Elements of the last dimension lie side by side, or are all the same.
bool isAlongRows(const Tensor& tensor) {
  for (uint32_t d = tensor.rank; d-- > 0;)
    if (tensor.sizes[d] > 1) return tensor.strides[d] <= 1;
  return true;
}

bool isAlongColumns(const Tensor& tensor) { return tensor.rank >= 2 && tensor.strides[tensor.rank - 2] == 1; }

class ViewFolder {
 public:
  ViewFolder(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  void fold() {
    const auto order = graph_.order();
    for (Node* node : order)
      if (moves(*node)) readThrough(*node);
    // Adds the remaining dimensions, the last one first.
    std::vector<Node*> left;
    for (size_t at = order.size(); at-- > 0;) {
      if (isRead(*order[at]))
        left.push_back(order[at]);
      else
        graph_.erase(*order[at]);
    }
    for (Node* node : left)
      if (moves(*node)) {
        for (const Value& value : node->outputs()) node->unread.push_back(!value.isRead());
        makeInPlace(*node);
      }
  }

 private:
  // A reader with another layout of some of its tensors.
  struct Reader {
    Operation op;
    std::vector<std::pair<uint32_t, Place>> inputs;  // that are read elsewhere
  };

  // What executes at initialization costs nothing at execution.
  static bool moves(const Node& node) { return node.op && !node.runsAtInitialization && node.op->schema().parts; }
  static std::vector<MovedPart> partsOf(const Node& node) { return node.op->schema().parts(*node.op); }

  // ---- reading where elements are ----

  // For each output of a node that moves elements, lets all its readers read the node's inputs instead.
  void readThrough(Node& node) {
    std::vector<std::vector<MovedPart>> parts(node.outputs().size());
    for (const MovedPart& part : partsOf(node)) parts[part.output].push_back(part);
    for (uint32_t o = 0; o < parts.size(); ++o) readThrough(node.outputs()[o], parts[o]);
  }

  void readThrough(Value& value, const std::vector<MovedPart>& parts) {
    if (!value.graphOutputs.empty()) return;
    std::map<Node*, Reader> readers;
    for (const Value::Use& use : value.uses) {
      const Operation& op = *use.node->op;
      if (op.inputs().size() > kMaxNodeTensors) return;
      Reader& reader = readers.try_emplace(use.node, Reader{op, {}}).first->second;
      if (!readThrough(value, parts, use, reader)) return;
    }
    for (const auto& [node, reader] : readers)
      if (!reader.op.check() || !isNoSlower(*node->op, reader.op)) return;
    for (auto& [node, reader] : readers) {
      node->setOperation(std::move(reader.op));
      for (const auto& [input, from] : reader.inputs) graph_.connect(*node, input, from);
    }
  }

  bool readThrough(const Value& value, const std::vector<MovedPart>& parts, const Value::Use& use,
                   Reader& changed) const {
    const Node& node = *value.producer;
    const Tensor& tensor = use.node->op->input(use.input);
    const uint32_t bits = bitWidth(tensor.type);
    const uint64_t offset = use.node->inputs()[use.input].offset;
    if (bits < 8 || bits != bitWidth(node.op->output(value.index).type) || offset % (bits / 8) != 0) return false;
    for (const MovedPart& part : parts) {
      const auto view = Mover(part.walk, 1, 0).view(tensor, offset / (bits / 8));
      if (!view) continue;
      Place from = node.inputs()[part.input];
      from.offset += view->offset * (bits / 8);
      if (from.offset % target_.caps.bufferOffsetAlignment != 0) return false;
      if (!isReadable(use.node->op->schema(), tensor, *view)) return false;
      changed.inputs.emplace_back(use.input, from);
      return bool(changed.op.setStrides(Role::Input, use.input, std::span(view->strides).first(tensor.rank)));
    }
    return false;
  }

  // Whether an operator reads or makes a tensor no slower with other strides: along rows as before, along columns where
  // it does not care, or little of it.
  static bool isReadable(const OpSchema& schema, const Tensor& tensor, const View& view) {
    if (schema.parts || !isAlongRows(tensor)) return true;
    Tensor moved = tensor;
    moved.strides = view.strides;
    return isAlongRows(moved) || (schema.readsColumns && isAlongColumns(moved)) ||
           tensor.elements * bitWidth(tensor.type) / 8 <= kMaxAcross;
  }

  // ---- making where elements go ----

  // Lets nodes whose outputs only the moving node reads write them where that node moves them to.
  void makeInPlace(Node& node) {
    if (node.outputs().size() != 1) return;  // several could want what is made
    for (const MovedPart& part : partsOf(node)) {
      const Place from = node.inputs()[part.input];
      Node* maker = from.producer();
      if (!maker || from.offset != 0 || !maker->op || maker->runsAtInitialization) continue;
      if (!from.value->graphOutputs.empty() || from.value->uses.size() != 1) continue;
      const Tensor& tensor = maker->op->output(from.value->index);
      const uint32_t bits = bitWidth(tensor.type);
      if (bits < 8 || bits != bitWidth(node.op->input(part.input).type)) continue;
      const auto view = Mover(part.walk, 0, 1).view(tensor, 0);
      if (!view || view->offset * (bits / 8) % target_.caps.bufferOffsetAlignment != 0) continue;
      if (!isReadable(maker->op->schema(), tensor, *view)) continue;
      Operation changed = *maker->op;
      const auto status =
          changed.setStrides(Role::Output, from.value->index, std::span(view->strides).first(tensor.rank));
      if (!status || !changed.check() || !isNoSlower(*maker->op, changed)) continue;
      maker->setOperation(std::move(changed));
      maker->targets.resize(maker->outputs().size());
      maker->targets[from.value->index] = {&node.outputs()[part.output], view->offset * (bits / 8)};
      node.written.resize(node.inputs().size());
      node.written[part.input] = true;
    }
  }

  // ---- both ----

  // Whether the plans have the same dispatches of the same kernels. As many dispatches of kernels for any strides may
  // take the place of those for packed tensors, and chains the place of both. The results then have the same bits, too.
  bool isNoSlower(const Operation& given, const Operation& changed) const {
    const auto before = planUnkept(given, target_);
    const auto after = planUnkept(changed, target_);
    if (!before || !after || preferredKernels(*after) > preferredKernels(*before)) return false;
    if (given.schema().parts) return after->execution.size() <= before->execution.size();
    return std::ranges::equal(before->execution, after->execution, [](const Dispatch& a, const Dispatch& b) {
      if (a.kernel == b.kernel && a.groups == b.groups) return true;
      const auto strided = stridedFamily(a.kernel);
      if (b.kernel.family == kernels::Chain::kFamily) return strided || a.kernel.family == b.kernel.family;
      return strided && (b.kernel.family == strided || stridedFamily(b.kernel) == strided);
    });
  }

  // Chains of one are passed over for kernels of single elements, which are still faster than a copy.
  static ptrdiff_t preferredKernels(const Plan& plan) {
    return std::ranges::count_if(plan.passedOver, [](const PassedOver& kernel) { return kernel.kernel != "chain"; });
  }

  Graph& graph_;
  const Target& target_;
};

}  // namespace

void passes::foldViews(Graph& graph, const Target& target) { ViewFolder(graph, target).fold(); }

}  // namespace dimple
