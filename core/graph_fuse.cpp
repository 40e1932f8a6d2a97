#include "core/graph_fuse.h"

#include <algorithm>
#include <cstring>

#include "core/graph_chain.h"
#include "core/text.h"

namespace dimple {
namespace {

bool contains(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

class Rewriter {
 public:
  explicit Rewriter(Graph graph) { result_.graph = std::move(graph); }

  RewrittenGraph rewrite(const GraphOptions& options) {
    if (options.constants) foldConstants(result_.graph);
    if (options.constants && options.weights) foldWeights(result_);
    if (options.activations) fuseActivations();
    compact();
    return std::move(result_);
  }

 private:
  std::vector<GraphNode>& nodes() { return result_.graph.nodes; }

  void fuseActivations() {
    std::vector<uint32_t> uses(nodes().size());  // of any output of a node
    for (const GraphNode& node : nodes())
      for (const GraphSource& source : node.inputs)
        if (source.kind == GraphSource::Kind::Node) ++uses[source.index];
    for (const GraphSource& source : result_.graph.outputs)
      if (source.kind == GraphSource::Kind::Node) ++uses[source.index];
    into_.assign(nodes().size(), UINT32_MAX);
    for (uint32_t n = 0; n < nodes().size(); ++n) {
      const GraphNode& node = nodes()[n];
      if (!node.op || node.inputs.size() != 1 || node.inputs[0].kind != GraphSource::Kind::Node) continue;
      const uint32_t producer = node.inputs[0].index;
      if (uses[producer] == 1 && into_[producer] == UINT32_MAX && nodes()[producer].op && fuse(producer, n))
        into_[n] = producer;
    }
  }

  // Makes one operator of two; false if there is none.
  bool fuse(uint32_t producer, uint32_t activation) {
    GraphNode& first = nodes()[producer];
    const GraphNode& second = nodes()[activation];
    const OpSchema& schema = first.op->schema();
    const OpSchema& activationSchema = second.op->schema();
    const Field* fused = findField(schema, FieldType::Operator);
    const Field* output = findField(schema, FieldType::Tensor, Role::Output);
    const Field* made = findField(activationSchema, FieldType::Tensor, Role::Output);
    if (!fused || !output || !made || first.op->outputs().size() != 1 || second.op->outputs().size() != 1) return false;
    if (!first.op->activations().empty() || !sameLayout(first.op->output(), second.op->input(0)) ||
        second.op->output().type != first.op->output().type || !sameSizes(second.op->output(), first.op->output()))
      return false;

    OwnedDesc desc(DML_OPERATOR_DESC{schema.type, first.op->desc()});
    auto* attributes = desc.allocate<std::byte>(activationSchema.descBytes);
    std::memcpy(attributes, second.op->desc(), activationSchema.descBytes);
    for (const Field& field : activationSchema.fields)
      if (field.type == FieldType::Tensor) std::memset(attributes + field.offset, 0, sizeof(void*));
    auto* operation = desc.allocate<DML_OPERATOR_DESC>(1);
    *operation = {activationSchema.type, attributes};
    desc.field<const DML_OPERATOR_DESC*>(*fused) = operation;
    desc.field<const DML_TENSOR_DESC*>(*output) = second.op->field<const DML_TENSOR_DESC*>(*made);
    auto view = validate(desc.desc());
    if (!view) return false;
    result_.descs.push_back(std::move(desc));
    first.op = &result_.views.emplace_back(std::move(*view));
    first.name = cat(first.name, " with ", second.name);
    first.label = cat(first.label, " with ", second.label);
    return true;
  }

  // Takes out the nodes that others have taken in.
  void compact() {
    into_.resize(nodes().size(), UINT32_MAX);
    std::vector<uint32_t> places(nodes().size());
    uint32_t kept = 0;
    for (uint32_t n = 0; n < places.size(); ++n)
      if (into_[n] == UINT32_MAX) places[n] = kept++;
    for (uint32_t n = 0; n < places.size(); ++n)
      if (into_[n] != UINT32_MAX) places[n] = places[into_[n]];
    const auto move = [&](GraphSource& source) {
      if (source.kind == GraphSource::Kind::Node) source.index = places[source.index];
    };
    std::vector<GraphNode> remaining;
    for (uint32_t n = 0; n < places.size(); ++n) {
      if (into_[n] != UINT32_MAX) continue;
      for (GraphSource& source : nodes()[n].inputs) move(source);
      remaining.push_back(std::move(nodes()[n]));
    }
    for (GraphSource& source : result_.graph.outputs) move(source);
    nodes() = std::move(remaining);
  }

  RewrittenGraph result_;
  std::vector<uint32_t> into_;  // by node: the one that took it in, or UINT32_MAX
};

}  // namespace

GraphOptions graphOptionsWithout(std::string_view names) {
  const auto makes = [&](std::string_view name) { return !contains(names, name) && !contains(names, "all"); };
  return {.activations = makes("activations"),
          .chains = makes("chains"),
          .estimates = !contains(names, "estimates"),
          .constants = makes("constants"),
          .weights = makes("weights"),
          .layouts = makes("layouts"),
          .views = makes("views")};
}

RewrittenGraph rewriteGraph(Graph graph, const Caps& caps, const GraphOptions& options) {
  RewrittenGraph rewritten = Rewriter(std::move(graph)).rewrite(options);
  if (options.chains) fuseChains(rewritten, caps, options.estimates);
  if (options.layouts) chooseLayouts(rewritten, caps);
  if (options.views) foldViews(rewritten, caps);
  return rewritten;
}

}  // namespace dimple
