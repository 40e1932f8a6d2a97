// Where rows of tensors between nodes begin, so that products read them in vectors.
#include <algorithm>
#include <map>

#include "core/checked.h"
#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"

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
  explicit LayoutChooser(const Target& target) : target_(target) {}

  void choose(Node& node) const {
    for (Value& value : node.outputs())
      if (const auto layouts = layoutsOf(value); !layouts.empty() && mayChange(value))
        std::ranges::any_of(layouts, [&](const Layout& layout) { return change(value, layout); });
  }

 private:
  enum class Effect { Worse, Same, Better };

  // Whether an operation executes at execution and has its layouts in a description. Chains are excluded, because their
  // layouts cost more than the estimate says.
  static bool isFree(const Node& node) {
    return node.op && !node.runsAtInitialization && node.op->schema().type != DML_OPERATOR_INVALID;
  }
  static const Tensor& tensorOf(const Value& value) { return value.producer->op->output(value.index); }

  static std::vector<Layout> layoutsOf(const Value& value) {
    std::vector<Layout> layouts;
    if (!isFree(*value.producer)) return layouts;
    const Tensor& tensor = tensorOf(value);
    if (!tensor.present() || bitWidth(tensor.type) < 8 ||
        !sameLayout(tensor, packedTensor(tensor.type, tensor.sizeSpan())))
      return layouts;
    for (uint32_t d = tensor.rank; d-- > 0;)
      if (auto layout = layoutWithRows(tensor, d)) layouts.push_back(std::move(*layout));
    return layouts;
  }

  // Whether only nodes read the tensor, all with the layout in which it is made, and one of them, whose kernels may
  // read past the end of a row, does not get its preferred kernel.
  bool mayChange(const Value& value) const {
    if (!value.graphOutputs.empty() || value.uses.empty()) return false;
    const Tensor& tensor = tensorOf(value);
    const auto reads = [&](const Value::Use& use) {
      return isFree(*use.node) && sameLayout(use.node->op->input(use.input), tensor);
    };
    const auto passesOver = [&](const Value::Use& use) {
      const Operation& op = *use.node->op;
      if (op.schema().type != DML_OPERATOR_CONVOLUTION && op.schema().type != DML_OPERATOR_GEMM) return false;
      const auto plan = planUnkept(op, target_);
      return plan && !plan->passedOver.empty();
    };
    return std::ranges::all_of(value.uses, reads) && std::ranges::any_of(value.uses, passesOver);
  }

  // Gives a tensor another layout if that improves one plan and makes none worse.
  bool change(Value& value, const Layout& layout) const {
    std::map<Node*, Operation> changed;
    const auto change = [&](Node& node, Role role, uint32_t index) {
      return changed.try_emplace(&node, *node.op).first->second.setStrides(role, index, layout.strides, layout.bytes);
    };
    if (!change(*value.producer, Role::Output, value.index)) return false;
    for (const Value::Use& use : value.uses)
      if (!change(*use.node, Role::Input, use.input)) return false;
    bool better = false;
    for (const auto& [node, op] : changed) {
      if (!op.check()) return false;
      const Effect effect = effectOf(*node->op, op);
      if (effect == Effect::Worse) return false;
      better |= effect == Effect::Better;
    }
    if (!better) return false;
    for (auto& [node, op] : changed) node->setOperation(std::move(op));
    return true;
  }

  // Kernels are passed over in the order in which they are preferred. A dispatch that only moves elements is left out,
  // or copies rows instead of the whole tensor.
  Effect effectOf(const Operation& given, const Operation& changed) const {
    const auto before = planUnkept(given, target_);
    const auto after = planUnkept(changed, target_);
    if (!before || !after || after->execution.size() > before->execution.size()) return Effect::Worse;
    if (given.schema().parts) return Effect::Same;
    // These kernels belong to one list. There are several lists.
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

  const Target& target_;
};

}  // namespace

void passes::chooseLayouts(Graph& graph, const Target& target) {
  const LayoutChooser chooser(target);
  for (Node& node : graph.nodes()) chooser.choose(node);
}

}  // namespace dimple
