// Elements that a node only moves are read where they are, or are made where they go.
#include <algorithm>
#include <map>
#include <optional>

#include "core/changed_operator.h"
#include "core/graph_fuse.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// Bytes of a tensor that may be read across its rows: so little lies in a cache, where each line that is fetched
// several times takes less than the copy that would turn it (docs/performance.md).
constexpr uint64_t kMostAcross = 1 << 20;

// Inputs of an operator whose description is copied for each of them that is read elsewhere.
constexpr size_t kMostNodeTensors = 256;

// Where the elements of a tensor lie in another's memory.
struct Place {
  uint64_t offset = 0;  // elements
  std::array<uint32_t, kMaxRank> strides{};
};

constexpr bool isNegative(uint32_t stride) { return stride > INT32_MAX; }

// Where a walk moves the elements of a tensor that begins at an offset in operand `from`; no value if it does not move
// all of them, or not evenly.
class Mover {
 public:
  Mover(Walk walk, uint32_t from, uint32_t to) : walk_(walk), from_(from), to_(to) {
    walk_.sortBy(from);
    walk_.coalesce();
    // So that every offset in `from` has one position: what the dimensions inside reach lies within a step.
    uint64_t reach = 0;
    for (uint32_t d = walk_.rank; d-- > 0;) {
      const uint32_t stride = walk_.strides[d][from];
      even_ &= stride > reach && !isNegative(stride);
      reach += uint64_t{walk_.sizes[d] - 1} * stride;
    }
  }

  std::optional<Place> place(const Tensor& tensor, uint64_t offset) const {
    if (!even_ || offset < walk_.base[from_]) return {};
    auto last = stepsOf(offset - walk_.base[from_]);
    if (!last) return {};
    const int64_t at = walk_.base[to_] + distance(*last);
    Place place;
    place.strides = tensor.strides;
    for (uint32_t d = 0; d < tensor.rank; ++d) {
      if (tensor.sizes[d] == 1) continue;
      const auto step = stepsOf(tensor.strides[d]);
      if (!step) return {};
      const int64_t stride = distance(*step);
      if (stride < 0 || stride > INT32_MAX) return {};
      place.strides[d] = static_cast<uint32_t>(stride);
      for (uint32_t w = 0; w < walk_.rank; ++w) (*last)[w] += (tensor.sizes[d] - 1) * (*step)[w];
    }
    for (uint32_t w = 0; w < walk_.rank; ++w)
      if ((*last)[w] >= walk_.sizes[w]) return {};
    if (at < 0) return {};
    place.offset = static_cast<uint64_t>(at);
    return place;
  }

 private:
  using Steps = std::array<uint64_t, kMaxWalkRank>;

  // Along each dimension of the walk; no value if it does not come to the offset.
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

// "binary" of "binary_packed.f32" and of "binary_native.f16": kernels that do the same to each element.
std::string_view familyOf(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('.'));
  for (const std::string_view ending : {"_packed", "_native"})
    if (kernel.ends_with(ending)) kernel.remove_suffix(ending.size());
  return kernel;
}

class ViewFolder {
 public:
  ViewFolder(RewrittenGraph& rewritten, const Caps& caps) : rewritten_(rewritten), caps_(caps) {
    for (const GraphNode& node : nodes()) uses_.emplace_back(node.op ? node.op->outputs().size() : 1);
    for (uint32_t n = 0; n < nodes().size(); ++n)
      for (uint32_t i = 0; i < nodes()[n].inputs.size(); ++i)
        if (Use* use = useOf(nodes()[n].inputs[i])) use->add({n, i});
    for (const GraphSource& source : rewritten.graph.outputs)
      if (Use* use = useOf(source)) use->isOutput = true;
  }

  void fold() {
    const auto order = topologicalOrder(rewritten_.graph);
    for (const uint32_t n : order)
      if (moves(n)) readThrough(n);
    removeUnread(order);
    for (size_t at = order.size(); at-- > 0;)
      if (moves(order[at]) && !removed_[order[at]]) makeInPlace(order[at]);
    removeNodes(rewritten_.graph, removed_);
  }

 private:
  struct Edge {
    uint32_t node;
    uint32_t input;
  };
  struct Use {
    std::vector<Edge> edges;
    size_t count = 0;       // of the edges, less those from nodes that were removed
    bool isOutput = false;  // of the graph

    void add(const Edge& edge) {
      edges.push_back(edge);
      ++count;
    }
    bool isRead() const { return isOutput || count != 0; }
  };
  // A reader with another layout of some of its tensors.
  struct Reader {
    ChangedOperator op;
    std::vector<std::pair<uint32_t, GraphSource>> inputs;  // that are read elsewhere
  };

  std::vector<GraphNode>& nodes() { return rewritten_.graph.nodes; }
  Use* useOf(const GraphSource& source) {
    return source.kind == GraphSource::Kind::Node ? &uses_[source.index][source.output] : nullptr;
  }

  // What executes once costs nothing at execution.
  bool moves(uint32_t n) {
    const GraphNode& node = nodes()[n];
    return node.op && !node.once && node.op->schema().parts;
  }
  static std::vector<MovedPart> partsOf(const GraphNode& node) { return node.op->schema().parts(*node.op); }

  // ---- reading where elements are ----

  // By output of a node that moves elements: lets all that read it read what the node takes.
  void readThrough(uint32_t n) {
    std::vector<std::vector<MovedPart>> parts(uses_[n].size());
    for (const MovedPart& part : partsOf(nodes()[n])) parts[part.output].push_back(part);
    for (uint32_t o = 0; o < parts.size(); ++o) readThrough(n, o, parts[o]);
  }

  void readThrough(uint32_t n, uint32_t output, const std::vector<MovedPart>& parts) {
    Use& use = uses_[n][output];
    if (use.isOutput) return;
    std::map<uint32_t, Reader> readers;
    for (const Edge& edge : use.edges) {
      const OpView& op = *nodes()[edge.node].op;
      if (op.inputs().size() > kMostNodeTensors) return;
      const auto found = readers.try_emplace(edge.node, Reader{ChangedOperator(op), {}}).first;
      if (!readThrough(nodes()[n], output, parts, edge, found->second)) return;
    }
    std::vector<OpView> views;
    for (const auto& [reader, change] : readers) {
      auto view = change.op.view();
      if (!view || !isNoSlower(*nodes()[reader].op, *view)) return;
      views.push_back(std::move(*view));
    }
    auto view = views.begin();
    for (auto& [reader, change] : readers) {
      adopt(rewritten_, nodes()[reader], std::move(change.op), std::move(*view++));
      for (const auto& [input, source] : change.inputs) {
        nodes()[reader].inputs[input] = source;
        if (Use* from = useOf(source)) from->add({reader, input});
      }
    }
    use = {};
  }

  bool readThrough(const GraphNode& node, uint32_t output, const std::vector<MovedPart>& parts, const Edge& edge,
                   Reader& changed) {
    const GraphNode& reader = nodes()[edge.node];
    const Tensor& tensor = reader.op->input(edge.input);
    const uint32_t bits = bitWidth(tensor.type);
    const uint64_t offset = reader.inputs[edge.input].offset;
    if (bits < 8 || bits != bitWidth(node.op->output(output).type) || offset % (bits / 8) != 0) return false;
    for (const MovedPart& part : parts) {
      const auto place = Mover(part.walk, 1, 0).place(tensor, offset / (bits / 8));
      if (!place) continue;
      GraphSource source = node.inputs[part.input];
      source.offset += place->offset * (bits / 8);
      if (source.offset % caps_.bufferOffsetAlignment != 0) return false;
      if (!isReadable(reader.op->schema(), tensor, *place)) return false;
      changed.op.setStrides(Role::Input, edge.input, std::span(place->strides).first(tensor.rank));
      changed.inputs.emplace_back(edge.input, source);
      return true;
    }
    return false;
  }

  // Whether an operator reads or makes a tensor no slower with other strides: along rows as before, along columns where
  // it does not care, or little of it.
  static bool isReadable(const OpSchema& schema, const Tensor& tensor, const Place& place) {
    if (schema.parts || !isAlongRows(tensor)) return true;
    Tensor moved = tensor;
    moved.strides = place.strides;
    return isAlongRows(moved) || (schema.readsColumns && isAlongColumns(moved)) ||
           tensor.elements * bitWidth(tensor.type) / 8 <= kMostAcross;
  }

  // ---- making where elements go ----

  // Lets those that make what a node moves, for it alone, make it where the node moves it to.
  void makeInPlace(uint32_t n) {
    if (nodes()[n].op->outputs().size() != 1) return;  // several could want what is made
    for (const MovedPart& part : partsOf(nodes()[n])) {
      GraphNode& node = nodes()[n];
      const GraphSource source = node.inputs[part.input];
      if (source.kind != GraphSource::Kind::Node || source.offset != 0) continue;
      const Use& use = *useOf(source);
      GraphNode& maker = nodes()[source.index];
      if (use.isOutput || use.count != 1 || !maker.op || maker.once) continue;
      const Tensor& tensor = maker.op->output(source.output);
      const uint32_t bits = bitWidth(tensor.type);
      if (bits < 8 || bits != bitWidth(node.op->input(part.input).type)) continue;
      const auto place = Mover(part.walk, 0, 1).place(tensor, 0);
      if (!place || place->offset * (bits / 8) % caps_.bufferOffsetAlignment != 0) continue;
      if (!isReadable(maker.op->schema(), tensor, *place)) continue;
      ChangedOperator changed(*maker.op);
      changed.setStrides(Role::Output, source.output, std::span(place->strides).first(tensor.rank));
      auto view = changed.view();
      if (!view || !isNoSlower(*maker.op, *view)) continue;
      adopt(rewritten_, maker, std::move(changed), std::move(*view));
      maker.targets.resize(maker.op->outputs().size());
      maker.targets[source.output] = {GraphSource::Kind::Node, n, part.output, place->offset * (bits / 8)};
      node.written.resize(node.inputs.size());
      node.written[part.input] = true;
    }
  }

  // ---- both ----

  // The same dispatches of the same kernels, or as many of kernels for any strides in the place of those for packed
  // tensors. Then bits are the same, too.
  bool isNoSlower(const OpView& given, const OpView& changed) const {
    const auto before = planUnkept(given, caps_);
    const auto after = planUnkept(changed, caps_);
    if (!before || !after || after->passedOver.size() > before->passedOver.size()) return false;
    if (given.schema().parts) return after->execution.size() <= before->execution.size();
    return std::ranges::equal(before->execution, after->execution, [](const Dispatch& a, const Dispatch& b) {
      if (a.kernel == b.kernel && a.groups == b.groups) return true;
      const std::string_view family = familyOf(a.kernel);
      return a.kernel.substr(family.size()).starts_with("_packed") && familyOf(b.kernel) == family;
    });
  }

  // ---- what is left over ----

  void removeUnread(const std::vector<uint32_t>& order) {
    removed_.resize(nodes().size());
    for (size_t at = order.size(); at-- > 0;) {
      const uint32_t n = order[at];
      if (std::ranges::any_of(uses_[n], &Use::isRead)) {
        if (moves(n))
          for (const Use& use : uses_[n]) nodes()[n].unread.push_back(!use.isRead());
        continue;
      }
      removed_[n] = true;
      for (const GraphSource& source : nodes()[n].inputs)
        if (Use* use = useOf(source)) --use->count;
    }
  }

  RewrittenGraph& rewritten_;
  const Caps& caps_;
  std::vector<std::vector<Use>> uses_;  // by node and output
  std::vector<bool> removed_;           // by node
};

}  // namespace

void foldViews(RewrittenGraph& rewritten, const Caps& caps) { ViewFolder(rewritten, caps).fold(); }

}  // namespace dimple
