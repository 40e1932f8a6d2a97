// Small tensors of constants, which shapes are made of, are computed here: the node needs no device, and what depends
// on its value can be mapped.
#include <algorithm>
#include <cmath>
#include <functional>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

using Inputs = std::vector<const HostTensor*>;
using Fold = std::optional<HostTensor> (*)(NodeContext&, const Inputs&);

// Whether elements of the type are folded as integers.
bool asInteger(const HostTensor& tensor) { return !isFloat(tensor.type); }

// The places of `value`'s elements when it is broadcast to `sizes`.
std::vector<size_t> places(const HostTensor& value, const Sizes& sizes) {
  std::vector<size_t> result(static_cast<size_t>(elementCount(sizes)));
  const Sizes strides = packedStrides(value.sizes);
  const size_t lead = sizes.size() - value.sizes.size();
  for (size_t i = 0; i < result.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t place = 0;
    for (size_t axis = sizes.size(); axis-- > 0;) {
      const int64_t coordinate = rest % sizes[axis];
      rest /= sizes[axis];
      if (axis >= lead && value.sizes[axis - lead] != 1) place += coordinate * strides[axis - lead];
    }
    result[i] = static_cast<size_t>(place);
  }
  return result;
}

template <class Real, class Integer>
std::optional<HostTensor> combine(const Inputs& inputs, Type type, Real real, Integer integer) {
  const HostTensor& a = *inputs[0];
  const HostTensor& b = *inputs[1];
  if (a.type != b.type) return {};
  const Sizes sizes = broadcastSizes(a.sizes, b.sizes);
  if (elementCount(sizes) > kMaxFoldedElements) return {};
  HostTensor result(type, sizes);
  const auto fromA = places(a, sizes);
  const auto fromB = places(b, sizes);
  for (size_t i = 0; i < fromA.size(); ++i) {
    if (asInteger(a)) {
      const std::optional<int64_t> value = integer(a.integer(fromA[i]), b.integer(fromB[i]));
      if (!value) return {};
      result.setInteger(i, *value);
    } else {
      result.setReal(i, real(a.real(fromA[i]), b.real(fromB[i])));
    }
  }
  return result;
}

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

template <class F>
std::optional<HostTensor> arithmetic(const Inputs& inputs, F function) {
  return combine(
      inputs, inputs[0]->type, [&](double a, double b) { return function(a, b); },
      [&](int64_t a, int64_t b) -> std::optional<int64_t> {
        return wrap(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
      });
}

template <class F>
std::optional<HostTensor> comparison(const Inputs& inputs, F function) {
  return combine(
      inputs, Type::Bool, [&](double a, double b) { return function(a, b) ? 1.0 : 0.0; },
      [&](int64_t a, int64_t b) -> std::optional<int64_t> { return function(a, b); });
}

std::optional<HostTensor> foldAdd(NodeContext&, const Inputs& inputs) { return arithmetic(inputs, std::plus<>()); }
std::optional<HostTensor> foldSub(NodeContext&, const Inputs& inputs) { return arithmetic(inputs, std::minus<>()); }
std::optional<HostTensor> foldMul(NodeContext&, const Inputs& inputs) {
  return arithmetic(inputs, std::multiplies<>());
}

std::optional<HostTensor> foldDiv(NodeContext&, const Inputs& inputs) {
  return combine(inputs, inputs[0]->type, std::divides<>(), [](int64_t a, int64_t b) -> std::optional<int64_t> {
    if (b == 0) return {};
    return b == -1 ? wrap(-static_cast<uint64_t>(a)) : a / b;
  });
}

std::optional<HostTensor> foldMod(NodeContext& node, const Inputs& inputs) {
  if (!asInteger(*inputs[0]) || node.attributes().flag("fmod")) return {};
  return combine(
      inputs, inputs[0]->type, [](double, double) { return 0.0; },
      [](int64_t a, int64_t b) -> std::optional<int64_t> {
        if (b == 0) return {};
        const int64_t rest = b == -1 ? 0 : a % b;
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      });
}

std::optional<HostTensor> foldMin(NodeContext&, const Inputs& inputs) {
  if (inputs.size() != 2) return {};
  return combine(
      inputs, inputs[0]->type, [](double a, double b) { return std::fmin(a, b); },
      [](int64_t a, int64_t b) -> std::optional<int64_t> { return std::min(a, b); });
}

std::optional<HostTensor> foldMax(NodeContext&, const Inputs& inputs) {
  if (inputs.size() != 2) return {};
  return combine(
      inputs, inputs[0]->type, [](double a, double b) { return std::fmax(a, b); },
      [](int64_t a, int64_t b) -> std::optional<int64_t> { return std::max(a, b); });
}

std::optional<HostTensor> foldEqual(NodeContext&, const Inputs& inputs) {
  return comparison(inputs, std::equal_to<>());
}
std::optional<HostTensor> foldLess(NodeContext&, const Inputs& inputs) { return comparison(inputs, std::less<>()); }
std::optional<HostTensor> foldGreater(NodeContext&, const Inputs& inputs) {
  return comparison(inputs, std::greater<>());
}
std::optional<HostTensor> foldLessEqual(NodeContext&, const Inputs& inputs) {
  return comparison(inputs, std::less_equal<>());
}
std::optional<HostTensor> foldGreaterEqual(NodeContext&, const Inputs& inputs) {
  return comparison(inputs, std::greater_equal<>());
}
std::optional<HostTensor> foldAnd(NodeContext&, const Inputs& inputs) {
  return comparison(inputs, [](auto a, auto b) { return a != 0 && b != 0; });
}
std::optional<HostTensor> foldOr(NodeContext&, const Inputs& inputs) {
  return comparison(inputs, [](auto a, auto b) { return a != 0 || b != 0; });
}

template <class Real, class Integer>
HostTensor transform(const HostTensor& x, Real real, Integer integer) {
  HostTensor result(x.type, x.sizes);
  for (size_t i = 0; i < static_cast<size_t>(x.elements()); ++i)
    if (asInteger(x))
      result.setInteger(i, integer(x.integer(i)));
    else
      result.setReal(i, real(x.real(i)));
  return result;
}

std::optional<HostTensor> foldNot(NodeContext&, const Inputs& inputs) {
  return transform(
      *inputs[0], [](double x) { return x; }, [](int64_t x) { return int64_t{x == 0}; });
}
std::optional<HostTensor> foldNeg(NodeContext&, const Inputs& inputs) {
  return transform(*inputs[0], std::negate<>(), [](int64_t x) { return wrap(-static_cast<uint64_t>(x)); });
}
std::optional<HostTensor> foldFloor(NodeContext&, const Inputs& inputs) {
  return transform(
      *inputs[0], [](double x) { return std::floor(x); }, [](int64_t x) { return x; });
}
std::optional<HostTensor> foldCeil(NodeContext&, const Inputs& inputs) {
  return transform(
      *inputs[0], [](double x) { return std::ceil(x); }, [](int64_t x) { return x; });
}

std::optional<HostTensor> foldCast(NodeContext& node, const Inputs& inputs) {
  const auto type = static_cast<Type>(node.attributes().integer("to", 0));
  if (traits(type).hostBytes == 0 || type == Type::Int4 || type == Type::UInt4) return {};
  HostTensor result(type, inputs[0]->sizes);
  for (size_t i = 0; i < static_cast<size_t>(result.elements()); ++i)
    if (asInteger(*inputs[0]))
      result.setInteger(i, inputs[0]->integer(i));
    else
      result.setReal(i, inputs[0]->real(i));
  return result;
}

std::optional<HostTensor> foldWhere(NodeContext&, const Inputs& inputs) {
  const Sizes sizes = broadcastSizes(broadcastSizes(inputs[0]->sizes, inputs[1]->sizes), inputs[2]->sizes);
  if (elementCount(sizes) > kMaxFoldedElements || inputs[1]->type != inputs[2]->type) return {};
  const auto condition = places(*inputs[0], sizes);
  const std::vector<size_t> from[] = {places(*inputs[2], sizes), places(*inputs[1], sizes)};
  HostTensor result(inputs[1]->type, sizes);
  for (size_t i = 0; i < condition.size(); ++i) {
    const bool first = inputs[0]->integer(condition[i]) != 0;
    const HostTensor& source = first ? *inputs[1] : *inputs[2];
    if (asInteger(source))
      result.setInteger(i, source.integer(from[first][i]));
    else
      result.setReal(i, source.real(from[first][i]));
  }
  return result;
}

// A tensor with the same elements in other places: `from(i)` is where element i comes from.
template <class From>
HostTensor moved(const HostTensor& x, const Sizes& sizes, From from) {
  HostTensor result(x.type, sizes);
  const size_t bytes = traits(x.type).hostBytes;
  for (size_t i = 0; i < static_cast<size_t>(result.elements()); ++i)
    std::copy_n(x.bytes.begin() + static_cast<std::ptrdiff_t>(from(i) * bytes), bytes,
                result.bytes.begin() + static_cast<std::ptrdiff_t>(i * bytes));
  return result;
}

std::optional<HostTensor> foldGather(NodeContext& node, const Inputs& inputs) {
  const HostTensor& x = *inputs[0];
  const HostTensor& index = *inputs[1];
  const size_t axis = normalizeAxis(node.attributes().integer("axis", 0), x.sizes.size());
  const auto middle = x.sizes.begin() + static_cast<std::ptrdiff_t>(axis);
  Sizes sizes(x.sizes.begin(), middle);
  sizes.insert(sizes.end(), index.sizes.begin(), index.sizes.end());
  sizes.insert(sizes.end(), middle + 1, x.sizes.end());
  if (elementCount(sizes) > kMaxFoldedElements) return {};
  const auto inner = static_cast<size_t>(elementCount(Sizes(middle + 1, x.sizes.end())));
  const auto count = static_cast<size_t>(index.elements());
  std::vector<size_t> from;
  for (int64_t place : index.integers()) {
    if (place < -x.sizes[axis] || place >= x.sizes[axis])
      throw ModelError(cat("An index is ", place, " of ", x.sizes[axis], "."));
    from.push_back(static_cast<size_t>(place < 0 ? place + x.sizes[axis] : place));
  }
  const auto length = static_cast<size_t>(x.sizes[axis]);
  return moved(x, sizes,
               [&](size_t i) { return (i / inner / count * length + from[i / inner % count]) * inner + i % inner; });
}

std::optional<HostTensor> foldConcat(NodeContext& node, const Inputs& inputs) {
  // Shapes have one dimension.
  int64_t count = 0;
  for (const HostTensor* input : inputs) {
    if (input->sizes.size() != 1 || input->type != inputs[0]->type) return {};
    count += input->sizes[0];
  }
  normalizeAxis(node.attributes().integer("axis", 0), 1);
  HostTensor result(inputs[0]->type, {count});
  auto end = result.bytes.begin();
  for (const HostTensor* input : inputs) end = std::ranges::copy(input->bytes, end).out;
  return result;
}

std::optional<HostTensor> foldSlice(NodeContext& node, const Inputs& inputs) {
  const HostTensor& x = *inputs[0];
  if (x.sizes.size() != 1) return {};
  const auto numbers = [&](const char* name, size_t index, int64_t absent) {
    const auto given = node.integers(name, index);
    return given && given->size() == 1 ? (*given)[0] : absent;
  };
  // Attributes of the first versions, later inputs.
  if (!node.integers("starts", 1) || !node.integers("ends", 2)) return {};
  const int64_t size = x.sizes[0];
  const int64_t step = numbers("steps", 4, 1);
  int64_t begin = numbers("starts", 1, 0);
  int64_t end = numbers("ends", 2, size);
  if (step != 1) return {};
  begin = std::clamp(begin < 0 ? begin + size : begin, int64_t{0}, size);
  end = std::clamp(end < -size ? 0 : end < 0 ? end + size : end, begin, std::max(begin, size));
  return moved(x, {end - begin}, [&](size_t i) { return static_cast<size_t>(begin) + i; });
}

// The sizes that the mapping of a view computes hold for constants, too.
std::optional<HostTensor> foldView(NodeContext& node, const Inputs& inputs) {
  findMapping(node.node())->map(node);
  const auto& outputs = node.outputs();
  if (outputs.size() != 1) return {};
  HostTensor result = *inputs[0];
  result.sizes = outputs.begin()->second.sizes;
  return result;
}

std::optional<HostTensor> foldExpand(NodeContext&, const Inputs& inputs) {
  const Sizes sizes = broadcastSizes(inputs[0]->sizes, inputs[1]->integers());
  if (elementCount(sizes) > kMaxFoldedElements) return {};
  const auto from = places(*inputs[0], sizes);
  return moved(*inputs[0], sizes, [&](size_t i) { return from[i]; });
}

std::optional<HostTensor> foldRange(NodeContext&, const Inputs& inputs) {
  for (const HostTensor* input : inputs)
    if (input->elements() != 1 || !asInteger(*input)) return {};
  const int64_t start = inputs[0]->integer(0), limit = inputs[1]->integer(0), step = inputs[2]->integer(0);
  if (step == 0) return {};
  const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(step));
  if (count > kMaxFoldedElements) return {};
  HostTensor result(inputs[0]->type, {static_cast<int64_t>(std::max(count, 0.0))});
  for (size_t i = 0; i < static_cast<size_t>(result.elements()); ++i)
    result.setInteger(i, start + static_cast<int64_t>(i) * step);
  return result;
}

// Of all elements.
template <class Integer>
std::optional<HostTensor> foldReduction(NodeContext& node, const Inputs& inputs, int64_t initial, Integer function) {
  const HostTensor& x = *inputs[0];
  const auto axes = node.integers("axes", 1);
  if (!asInteger(x) || x.sizes.size() > 1 || (axes && axes->size() > 1)) return {};
  int64_t sum = initial;
  for (const int64_t value : x.integers()) sum = function(sum, value);
  HostTensor result(x.type, node.attributes().flag("keepdims", true) ? Sizes(x.sizes.size(), 1) : Sizes());
  result.setInteger(0, sum);
  return result;
}

std::optional<HostTensor> foldProduct(NodeContext& node, const Inputs& inputs) {
  return foldReduction(node, inputs, 1,
                       [](int64_t a, int64_t b) { return wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); });
}
std::optional<HostTensor> foldSum(NodeContext& node, const Inputs& inputs) {
  return foldReduction(node, inputs, 0,
                       [](int64_t a, int64_t b) { return wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); });
}

struct Folding {
  const char* opType;
  size_t least;  // inputs
  Fold fold;
};

constexpr Folding kFoldings[] = {
    {"Add", 2, foldAdd},
    {"And", 2, foldAnd},
    {"Cast", 1, foldCast},
    {"Ceil", 1, foldCeil},
    {"Concat", 1, foldConcat},
    {"Div", 2, foldDiv},
    {"Equal", 2, foldEqual},
    {"Expand", 2, foldExpand},
    {"Flatten", 1, foldView},
    {"Floor", 1, foldFloor},
    {"Gather", 2, foldGather},
    {"Greater", 2, foldGreater},
    {"GreaterOrEqual", 2, foldGreaterEqual},
    {"Less", 2, foldLess},
    {"LessOrEqual", 2, foldLessEqual},
    {"Max", 2, foldMax},
    {"Min", 2, foldMin},
    {"Mod", 2, foldMod},
    {"Mul", 2, foldMul},
    {"Neg", 1, foldNeg},
    {"Not", 1, foldNot},
    {"Or", 2, foldOr},
    {"Range", 3, foldRange},
    {"ReduceProd", 1, foldProduct},
    {"ReduceSum", 1, foldSum},
    {"Reshape", 1, foldView},
    {"Slice", 1, foldSlice},
    {"Squeeze", 1, foldView},
    {"Sub", 2, foldSub},
    {"Unsqueeze", 1, foldView},
    {"Where", 3, foldWhere},
};

const Folding* findFolding(const std::string& opType) {
  return std::ranges::find_if(kFoldings, [&](const Folding& folding) { return opType == folding.opType; });
}

}  // namespace

bool isFoldable(const NodeDescription& node) {
  return node.domain.empty() && findFolding(node.opType) != std::end(kFoldings);
}

bool foldNode(NodeContext& node) {
  if (!node.node().domain.empty()) return false;
  const Folding* folding = findFolding(node.node().opType);
  if (folding == std::end(kFoldings) || node.inputCount() == 0) return false;
  Inputs inputs;
  for (size_t i = 0; i < node.inputCount(); ++i) {
    if (!node.has(i)) continue;
    const SharedTensor& constant = node.input(i).constant;
    // Exact only as far as int64_t goes.
    if (!constant || constant->elements() > kMaxFoldedElements || constant->type == Type::UInt64) return false;
    inputs.push_back(constant.get());
  }
  if (inputs.size() < folding->least) return false;
  auto result = folding->fold(node, inputs);
  if (!result) return false;
  node.setOutput(0, hostValue(std::move(*result)));
  return true;
}

}  // namespace dimple::onnx
