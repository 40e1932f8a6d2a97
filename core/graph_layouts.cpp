// Where rows of tensors between nodes begin, so that products read them in vectors.
#include <algorithm>
#include <map>

#include "core/changed_operator.h"
#include "core/checked.h"
#include "core/graph_fuse.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

constexpr uint64_t kVectorBytes = 16;

// A layout whose rows, of all dimensions behind one, begin at multiples of a vector, with room for a whole one at the
// end of the last.
struct Layout {
  std::vector<uint32_t> strides;
  uint64_t bytes = 0;
};

std::optional<Layout> layoutWithRows(const Tensor& tensor, uint32_t dimension) {
  const uint32_t vector = static_cast<uint32_t>(kVectorBytes) * 8 / bitWidth(tensor.type);
  Layout layout{std::vector<uint32_t>(tensor.rank), 0};
  uint64_t elements = 1;
  bool padded = false;
  for (uint32_t d = tensor.rank; d-- > 0;) {
    if (d == dimension) {
      padded = elements > 1 && elements % vector != 0;
      elements = alignUp(elements, vector);
    }
    if (elements > UINT32_MAX) return {};
    layout.strides[d] = static_cast<uint32_t>(elements);
    elements *= tensor.sizes[d];
  }
  layout.bytes = elements * bitWidth(tensor.type) / 8;
  return padded ? std::optional(std::move(layout)) : std::nullopt;
}

class LayoutChooser {
 public:
  LayoutChooser(RewrittenGraph& rewritten, const Caps& caps) : rewritten_(rewritten), caps_(caps) {
    for (const GraphNode& node : nodes()) uses_.emplace_back(node.op ? node.op->outputs().size() : 1);
    for (uint32_t n = 0; n < nodes().size(); ++n)
      for (uint32_t i = 0; i < nodes()[n].inputs.size(); ++i)
        if (const GraphSource& source = nodes()[n].inputs[i]; source.kind == GraphSource::Kind::Node)
          uses_[source.index][source.output].readers.emplace_back(n, i);
    for (const GraphSource& source : rewritten.graph.outputs)
      if (source.kind == GraphSource::Kind::Node) uses_[source.index][source.output].isOutput = true;
  }

  void choose() {
    for (uint32_t n = 0; n < nodes().size(); ++n)
      for (uint32_t o = 0; o < uses_[n].size(); ++o)
        if (const auto layouts = layoutsOf(n, o); !layouts.empty() && mayChange(n, o))
          std::ranges::any_of(layouts, [&](const Layout& layout) { return change(n, o, layout); });
  }

 private:
  struct Use {
    std::vector<std::pair<uint32_t, uint32_t>> readers;  // nodes and their inputs
    bool isOutput = false;                               // of the graph
  };
  enum class Effect { Worse, Same, Better };

  std::vector<GraphNode>& nodes() { return rewritten_.graph.nodes; }

  // An operator of the execution whose layouts stand in a description: a chain's places are more costly than they look.
  static bool isFree(const GraphNode& node) {
    return node.op && !node.once && node.op->schema().type != DML_OPERATOR_INVALID;
  }

  std::vector<Layout> layoutsOf(uint32_t n, uint32_t output) {
    std::vector<Layout> layouts;
    if (!isFree(nodes()[n])) return layouts;
    const Tensor& tensor = nodes()[n].op->output(output);
    if (!tensor.present() || bitWidth(tensor.type) < 8 ||
        !sameLayout(tensor, packedTensor(tensor.type, tensor.sizeSpan())))
      return layouts;
    for (uint32_t d = tensor.rank; d-- > 0;)
      if (auto layout = layoutWithRows(tensor, d)) layouts.push_back(std::move(*layout));
    return layouts;
  }

  // Only nodes read the tensor, all as it is made, and one of them, whose kernels may read over the end of a row, has
  // not the kernel that it prefers.
  bool mayChange(uint32_t n, uint32_t output) {
    const Use& use = uses_[n][output];
    if (use.isOutput || use.readers.empty()) return false;
    const Tensor& tensor = nodes()[n].op->output(output);
    const auto reads = [&](const auto& reader) {
      const GraphNode& node = nodes()[reader.first];
      return isFree(node) && sameLayout(node.op->input(reader.second), tensor);
    };
    const auto passesOver = [&](const auto& reader) {
      const OpView& op = *nodes()[reader.first].op;
      if (op.schema().type != DML_OPERATOR_CONVOLUTION && op.schema().type != DML_OPERATOR_GEMM) return false;
      const auto plan = planUnkept(op, caps_);
      return plan && !plan->passedOver.empty();
    };
    return std::ranges::all_of(use.readers, reads) && std::ranges::any_of(use.readers, passesOver);
  }

  // Gives a tensor another layout if that makes a plan better, and none worse.
  bool change(uint32_t n, uint32_t output, const Layout& layout) {
    std::map<uint32_t, ChangedOperator> changed;
    const auto change = [&](uint32_t node, Role role, uint32_t index) {
      changed.try_emplace(node, *nodes()[node].op).first->second.setStrides(role, index, layout.strides, layout.bytes);
    };
    change(n, Role::Output, output);
    for (const auto& [reader, input] : uses_[n][output].readers) change(reader, Role::Input, input);
    std::vector<OpView> views;
    bool better = false;
    for (const auto& [node, op] : changed) {
      auto view = op.view();
      if (!view) return false;
      const Effect effect = effectOf(*nodes()[node].op, *view);
      if (effect == Effect::Worse) return false;
      better |= effect == Effect::Better;
      views.push_back(std::move(*view));
    }
    if (!better) return false;
    auto view = views.begin();
    for (auto& [node, op] : changed) adopt(rewritten_, nodes()[node], std::move(op), std::move(*view++));
    return true;
  }

  // Kernels are passed over in the order in which they are preferred. What only moves elements is left out, or copies
  // rows instead of all.
  Effect effectOf(const OpView& given, const OpView& changed) const {
    const auto before = planUnkept(given, caps_);
    const auto after = planUnkept(changed, caps_);
    if (!before || !after || after->execution.size() > before->execution.size()) return Effect::Worse;
    if (given.schema().parts) return Effect::Same;
    // Those of one list of kernels; there are several.
    const bool preferred =
        std::ranges::mismatch(after->passedOver, before->passedOver, isSameKernel).in1 == after->passedOver.end();
    if (!preferred) return Effect::Worse;
    if (after->passedOver.size() < before->passedOver.size()) return Effect::Better;
    const bool same = std::ranges::equal(before->execution, after->execution, [](const Dispatch& a, const Dispatch& b) {
      return a.kernel == b.kernel && a.groups == b.groups;
    });
    return same ? Effect::Same : Effect::Worse;
  }

  static bool isSameKernel(const PassedOver& a, const PassedOver& b) {
    return a.kernel == b.kernel && a.tile == b.tile;
  }

  RewrittenGraph& rewritten_;
  const Caps& caps_;
  std::vector<std::vector<Use>> uses_;  // by node and output
};

}  // namespace

void chooseLayouts(RewrittenGraph& rewritten, const Caps& caps) { LayoutChooser(rewritten, caps).choose(); }

}  // namespace dimple
