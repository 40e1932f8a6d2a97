#include "clients/onnx/window.h"

namespace dimple::onnx {
namespace {

// More is no window that anything computes.
constexpr int64_t kMaxElements = 1 << 24;

std::vector<UINT> readNumbers(const NodeContext& node, const char* name, size_t count, int64_t absent, int64_t least) {
  const auto given = node.attributes().integers(name);
  if (!given || given->empty()) return toUints(Sizes(count, absent));
  const auto isOutside = [&](int64_t value) { return value < least || value > kMaxElements; };
  if (given->size() != count || std::ranges::any_of(*given, isOutside))
    throw ModelError(cat("Attribute ", name, " is ", listText(*given), ", expected ", count, " numbers from ", least,
                         " to ", kMaxElements, "."));
  return toUints(*given);
}

}  // namespace

void Window::addLeadingAxis() {
  sizes.insert(sizes.begin(), 1);
  strides.insert(strides.begin(), 1);
  dilations.insert(dilations.begin(), 1);
  start.insert(start.begin(), 0);
  end.insert(end.begin(), 0);
}

Window readWindow(const NodeContext& node, const Sizes& inputSizes, const Sizes& windowSizes) {
  const size_t rank = windowSizes.size();
  if (inputSizes.size() != rank + 2)
    throw ModelError(cat("Input 0 has sizes ", listText(inputSizes), ", expected ", rank + 2, " dimensions."));
  if (std::ranges::any_of(windowSizes, [](int64_t size) { return size < 1 || size > kMaxElements; }))
    throw ModelError(cat("A window has sizes ", listText(windowSizes), ", expected 1 to ", kMaxElements, "."));
  Window window;
  window.sizes = toUints(windowSizes);
  window.strides = readNumbers(node, "strides", rank, 1, 1);
  window.dilations = readNumbers(node, "dilations", rank, 1, 1);
  const std::vector<UINT> pads = readNumbers(node, "pads", 2 * rank, 0, 0);
  window.start.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  const std::string automatic = node.attributes().text("auto_pad", "NOTSET");
  if (automatic.empty() || automatic == "NOTSET") return window;
  window.start.assign(rank, 0);
  window.end.assign(rank, 0);
  if (automatic == "VALID") return window;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    throw ModelError(
        cat("Attribute auto_pad is \"", automatic, "\", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER."));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = inputSizes[i + 2];
    const int64_t stride = window.strides[i];
    const int64_t count = (size + stride - 1) / stride;
    const int64_t padding = std::max<int64_t>((count - 1) * stride + window.reach(i) - size, 0);
    const auto less = static_cast<UINT>(padding / 2);
    const auto more = static_cast<UINT>(padding - less);
    window.start[i] = automatic == "SAME_UPPER" ? less : more;
    window.end[i] = automatic == "SAME_UPPER" ? more : less;
  }
  return window;
}

int64_t windowCount(const Window& window, const Sizes& inputSizes, size_t axis, bool ceil) {
  const int64_t size = inputSizes[axis + 2];
  const int64_t stride = window.strides[axis];
  const int64_t room = size + window.start[axis] + window.end[axis] - window.reach(axis);
  if (room < 0)
    throw ModelError(cat("A window of ", window.reach(axis), " elements does not fit into ", size, " with padding of ",
                         window.start[axis], " and ", window.end[axis], "."));
  int64_t count = (ceil ? room + stride - 1 : room) / stride + 1;
  if (ceil && (count - 1) * stride >= size + window.start[axis]) --count;
  return count;
}

}  // namespace dimple::onnx
