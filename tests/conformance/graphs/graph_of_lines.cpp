#include "tests/conformance/graphs/graph_of_lines.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/schema/element_text.h"

namespace dimple::testing {
std::vector<std::byte> bytesOfNumbers(DataType type, std::span<const double> numbers) {
  const size_t width = byteWidth(type);
  std::vector<std::byte> bytes(numbers.size() * width);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t bits = type == DML_TENSOR_DATA_TYPE_FLOAT16 ? halfBits(numbers[i])
                          : type == DML_TENSOR_DATA_TYPE_FLOAT32
                              ? std::bit_cast<uint32_t>(static_cast<float>(numbers[i]))
                              : static_cast<uint64_t>(static_cast<int64_t>(numbers[i]));
    std::memcpy(&bytes[i * width], &bits, width);
  }
  return bytes;
}

GraphSource GraphOfLines::add(TestGraph::Node node) {
  const auto index = static_cast<uint32_t>(graph_.nodes.size());
  graph_.places.push_back(index);
  graph_.nodes.push_back(std::move(node));
  return {GraphSource::Kind::Node, index, 0};
}

GraphSource GraphOfLines::input(DataType type, std::span<const double> numbers, bool owned) {
  return input(bytesOfNumbers(type, numbers), owned);
}

GraphSource GraphOfLines::input(std::vector<std::byte> bytes, bool owned) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  const auto index = static_cast<uint32_t>(graph_.inputs.size());
  graph_.inputs.push_back({std::move(bytes), owned});
  return {GraphSource::Kind::GraphInput, index, 0};
}

GraphSource GraphOfLines::constant(DataType type, std::span<const double> numbers) {
  return constant(bytesOfNumbers(type, numbers));
}

GraphSource GraphOfLines::constant(std::vector<std::byte> bytes) {
  TestGraph::Node node;
  node.constant = std::move(bytes);
  return add(std::move(node));
}

GraphSource GraphOfLines::node(const std::string& line, std::vector<GraphSource> inputs) {
  auto test = parseTestCase(line);
  if (!test) {
    std::fprintf(stderr, "%s: %s\n", line.c_str(), test.error().text.c_str());
    std::abort();
  }
  TestGraph::Node node;
  node.inputs = std::move(inputs);
  node.inputs.resize(test->inputs.size());
  node.test = std::move(*test);
  return add(std::move(node));
}

}  // namespace dimple::testing
