// Operators that only see a tensor in another way, and what is known of tensors without their elements.
#include <algorithm>
#include <numeric>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

void mapIdentity(NodeContext& node) { node.setOutput(0, node.input(0)); }

void mapReshape(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows("shape", 1)) return;
  const auto given = node.integers("shape", 1);
  if (!given) throw ModelError("Input 1 is absent, expected the new sizes.");
  Sizes sizes = *given;
  const bool allowZero = node.attributes().flag("allowzero");
  int64_t known = 1;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 && !allowZero) {
      if (i >= x.rank())
        throw ModelError(cat("The new sizes ", listText(*given), " keep dimension ", i, " of a tensor of ", x.rank(),
                             " dimensions."));
      sizes[i] = x.sizes[i];
    }
    if (sizes[i] < -1 || (sizes[i] == -1 && inferred))
      throw ModelError(cat("The new sizes are ", listText(*given), ", expected numbers and one -1 at most."));
    if (sizes[i] == -1)
      inferred = i;
    else
      known = elementCount(Sizes{known, sizes[i]});
  }
  if (inferred) {
    if (known == 0 || x.elements() % known != 0)
      throw ModelError(cat("A tensor of sizes ", listText(x.sizes), " cannot have sizes ", listText(*given), "."));
    sizes[*inferred] = x.elements() / known;
  }
  if (x.elements() == 0 && elementCount(sizes) == 0)
    node.setOutput(0, emptyValue(x.type, sizes));
  else
    node.setOutput(0, node.graph().reshape(x, sizes));
}

void mapFlatten(NodeContext& node) {
  const Value& x = node.input(0);
  const int64_t given = node.attributes().integer("axis", 1);
  const size_t axis = given == static_cast<int64_t>(x.rank()) ? x.rank() : normalizeAxis(given, x.rank());
  const auto middle = x.sizes.begin() + static_cast<std::ptrdiff_t>(axis);
  node.setOutput(0, node.graph().reshape(
                        x, {elementCount(Sizes(x.sizes.begin(), middle)), elementCount(Sizes(middle, x.sizes.end()))}));
}

void mapSqueeze(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows("axes", 1)) return;
  const auto axes = node.integers("axes", 1);
  std::vector<bool> dropped(x.rank());
  for (size_t i = 0; i < x.rank(); ++i) dropped[i] = !axes && x.sizes[i] == 1;
  if (axes)
    for (const int64_t given : *axes) {
      const size_t axis = normalizeAxis(given, x.rank());
      if (x.sizes[axis] != 1)
        throw ModelError(
            cat("Dimension ", axis, " of sizes ", listText(x.sizes), " is dropped, expected a size of 1."));
      dropped[axis] = true;
    }
  Sizes sizes;
  for (size_t i = 0; i < x.rank(); ++i)
    if (!dropped[i]) sizes.push_back(x.sizes[i]);
  node.setOutput(0, x.elements() ? node.graph().reshape(x, sizes) : emptyValue(x.type, sizes));
}

void mapUnsqueeze(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows("axes", 1)) return;
  const auto axes = node.integers("axes", 1);
  if (!axes) throw ModelError("It has no axes, expected some.");
  Sizes sizes(x.rank() + axes->size(), 0);
  for (const int64_t given : *axes) {
    int64_t& size = sizes[normalizeAxis(given, sizes.size())];
    if (size == 1) throw ModelError(cat("Its axes are ", listText(*axes), ", expected each of them once."));
    size = 1;
  }
  auto next = x.sizes.begin();
  for (int64_t& size : sizes)
    if (size == 0) size = *next++;
  node.setOutput(0, x.elements() ? node.graph().reshape(x, sizes) : emptyValue(x.type, sizes));
}

void mapTranspose(NodeContext& node) {
  const Value& x = node.input(0);
  std::vector<size_t> order = identityOrder(x.rank());
  std::ranges::reverse(order);
  if (const auto given = node.attributes().integers("perm")) {
    order.clear();
    for (const int64_t axis : *given) order.push_back(normalizeAxis(axis, x.rank()));
    auto sorted = order;
    std::ranges::sort(sorted);
    if (sorted != identityOrder(x.rank()))
      throw ModelError(cat("Attribute perm is ", listText(*given), ", expected an order of ", x.rank(), " axes."));
  }
  if (x.elements() == 0) {
    Sizes sizes;
    for (const size_t axis : order) sizes.push_back(x.sizes[axis]);
    node.setOutput(0, emptyValue(x.type, sizes));
    return;
  }
  node.setOutput(0, node.graph().transpose(x, order));
}

void mapExpand(NodeContext& node) {
  const Value& x = node.input(0);
  if (!node.knows(1)) return;
  const Sizes sizes = broadcastSizes(x.sizes, node.constant(1).integers());
  node.setOutput(0, elementCount(sizes) ? node.graph().broadcast(x, sizes) : emptyValue(x.type, sizes));
}

void mapShape(NodeContext& node) {
  const Sizes& sizes = node.input(0).sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  const auto bound = [&](const char* name, int64_t absent) {
    const int64_t given = node.attributes().integer(name, absent);
    return std::clamp(given < 0 ? given + rank : given, int64_t{0}, rank);
  };
  const int64_t start = bound("start", 0);
  const int64_t end = std::max(start, bound("end", rank));
  node.setOutput(0, hostValue(integerTensor(Type::Int64, Sizes(sizes.begin() + start, sizes.begin() + end))));
}

void mapSize(NodeContext& node) { node.setOutput(0, integerScalar(node.input(0).elements())); }

constexpr Mapping kViewMappings[] = {
    {kOnnx, "Expand", 8, mapExpand},   {kOnnx, "Flatten", 1, mapFlatten},     {kOnnx, "Identity", 1, mapIdentity},
    {kOnnx, "Reshape", 1, mapReshape}, {kOnnx, "Shape", 1, mapShape},         {kOnnx, "Size", 1, mapSize},
    {kOnnx, "Squeeze", 1, mapSqueeze}, {kOnnx, "Transpose", 1, mapTranspose}, {kOnnx, "Unsqueeze", 1, mapUnsqueeze},
};

}  // namespace

std::span<const Mapping> viewMappings() { return kViewMappings; }

}  // namespace dimple::onnx
