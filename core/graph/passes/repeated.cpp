#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "core/graph/graph.h"
#include "core/graph/pass.h"

namespace dimple {
namespace {

// Bytes of an attribute that a description holds itself; 0: it points to them.
size_t bytesInDescription(FieldType type) {
  switch (type) {
    case FieldType::UInt:
    case FieldType::Int:
    case FieldType::Float:
    case FieldType::Bool:
    case FieldType::Enum:
      return 4;
    case FieldType::Scalar:
      return sizeof(DML_SCALAR_UNION);
    case FieldType::Size2D:
      return sizeof(DML_SIZE_2D);
    default:
      return 0;
  }
}

size_t bytesPointedTo(const Operation& op, const Field& field) {
  constexpr size_t kElement = 4;
  if (field.type == FieldType::ScaleBias) return sizeof(DML_SCALE_BIAS);
  const Field& count = op.schema().fields[static_cast<size_t>(field.countField)];
  return op.field<UINT>(count) * kElement;
}

// Of operations with one schema. The lengths of arrays are attributes, too, and come before them.
bool sameAttribute(const Operation& a, const Operation& b, const Field& field) {
  if (field.role != Role::Attribute || field.type == FieldType::Operator || field.type == FieldType::OperatorArray)
    return true;
  if (const size_t bytes = bytesInDescription(field.type))
    return std::memcmp(&a.field<std::byte>(field), &b.field<std::byte>(field), bytes) == 0;
  const void* const ofA = a.field<const void*>(field);
  const void* const ofB = b.field<const void*>(field);
  if (!ofA || !ofB) return ofA == ofB;
  return std::memcmp(ofA, ofB, bytesPointedTo(a, field)) == 0;
}

bool sameActivation(const Activation& a, const Activation& b) {
  return a.type == b.type && a.parameters == b.parameters && a.axes == b.axes;
}

bool sameOperation(const Operation& a, const Operation& b) {
  return &a.schema() == &b.schema() && std::ranges::equal(a.inputs(), b.inputs(), sameLayout) &&
         std::ranges::equal(a.outputs(), b.outputs(), sameLayout) &&
         std::ranges::equal(a.activations(), b.activations(), sameActivation) &&
         std::ranges::all_of(a.schema().fields, [&](const Field& field) { return sameAttribute(a, b, field); });
}

// Attention may write a part of a cache, whose other elements are those of the memory that each node has.
bool writesAll(const Operation& op) {
  return op.schema().type != DML_OPERATOR_MULTIHEAD_ATTENTION && op.schema().type != DML_OPERATOR_MULTIHEAD_ATTENTION1;
}

// Outputs of the graph stay those of nodes of their own, since each has memory of its own.
bool mayRepeat(const Node& node) {
  return node.op && writesAll(*node.op) &&
         std::ranges::all_of(node.outputs(), [](const Value& value) { return value.graphOutputs.empty(); });
}

size_t hashOf(const Node& node) {
  size_t hash = std::hash<const void*>()(&node.op->schema());
  for (const Place& place : node.inputs()) hash = hash * 31 + std::hash<const void*>()(place.value);
  // Nodes without inputs differ in nothing else.
  for (const Field& field : node.op->schema().fields)
    if (const size_t bytes = field.role == Role::Attribute ? bytesInDescription(field.type) : 0)
      hash = hash * 31 +
             std::hash<std::string_view>()({reinterpret_cast<const char*>(&node.op->field<std::byte>(field)), bytes});
  return hash;
}

}  // namespace

void passes::leaveOutRepeated(Graph& graph, const Target&) {
  std::unordered_multimap<size_t, Node*> known;
  for (Node* node : graph.order()) {
    if (!mayRepeat(*node)) continue;
    const size_t hash = hashOf(*node);
    const auto [first, last] = known.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& entry) {
      return std::ranges::equal(entry.second->inputs(), node->inputs()) && sameOperation(*entry.second->op, *node->op);
    });
    if (same == last) {
      known.emplace(hash, node);
      continue;
    }
    for (size_t i = 0; i < node->outputs().size(); ++i)
      graph.replaceAllUses(node->outputs()[i], same->second->outputs()[i]);
    graph.erase(*node);
  }
}

}  // namespace dimple
