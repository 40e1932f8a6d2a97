#include "tests/conformance/graphs/random_chain.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/ops/chain.h"
#include "core/text.h"
#include "tests/conformance/generators/generator.h"
#include "tests/conformance/generators/layouts.h"
#include "tests/conformance/generators/view_cases.h"
#include "tests/conformance/random.h"

namespace dimple::testing {
namespace {

constexpr uint64_t kMaxElements = 3000;
constexpr uint64_t kMaxViewed = 1 << 16;  // bytes of a tensor that is moved

// Replaces what stands behind " NAME=" up to the next attribute.
void setValue(std::string& line, std::string_view name, const std::string& value) {
  const std::string key = cat(" ", name, "=");
  const size_t at = line.find(key);
  if (at == line.npos) return;
  const size_t end = std::min(line.find(' ', at + key.size()), line.size());
  line.replace(at + key.size(), end - at - key.size(), value);
}

std::optional<TestCase> usable(const std::string& line) {
  auto test = parseTestCase(line);
  if (!test || test->refused || test->halfPrecision || test->inPlace || !test->givenInputs.empty()) return {};
  return std::move(*test);
}

bool isChainable(const TestCase& test) {
  const auto view = Operation::parse(test.desc.desc());
  return view && !elementSteps(*view).empty();
}

class ChainMaker {
 public:
  explicit ChainMaker(uint64_t seed) : random_(seed) {
    sizes_ = makeSizes(random_, random_.size(1, 6), kMaxElements);
    // Rows of whole vectors are walked otherwise.
    if (random_.chance(0.5)) sizes_.back() = (sizes_.back() + 7) / 8 * 8;
    // Of whole workgroups, invocations may take two vectors.
    if (random_.chance(0.1)) sizes_ = {2, 32, 128};
  }

  TestGraph make(size_t count, size_t first) {
    const auto& lines = chainLines();
    addFor(inputTypeOf(lines[first]));
    add(lines[first]);
    addFor(made_.back().type);
    while (graph_.nodes.size() < count)
      if (const ChainLine& line = random_.pick(lines); random_.chance(takes(line) ? 1 : 0.05)) add(line);
    for (const Made& made : made_)
      if (!made.used || (!made.moved && random_.chance(0.1))) graph_.outputs.push_back(made.source);
    graph_.places.resize(graph_.nodes.size());
    std::iota(graph_.places.begin(), graph_.places.end(), size_t{0});
    return std::move(graph_);
  }

 private:
  struct Made {
    GraphSource source;
    DataType type;
    std::string tensor;
    bool used = false;
    bool moved = false;  // and taken by nothing else
  };

  static DataType inputTypeOf(const ChainLine& line) { return usable(line.line)->inputs[0]->DataType; }

  // Whether an operator takes a type that was made.
  bool takes(const ChainLine& line) const {
    const DataType type = inputTypeOf(line);
    return std::ranges::any_of(made_, [&](const Made& made) { return made.type == type && !made.moved; });
  }

  // An operator that makes a type of that type.
  void addFor(DataType type) {
    const auto& lines = chainLines();
    for (;;) {
      const ChainLine& line = random_.pick(lines);
      const auto test = usable(line.line);
      if (test->outputs[0]->DataType == type && test->inputs[0]->DataType == type) return add(line);
    }
  }

  void add(const ChainLine& from) {
    std::string line = from.line;
    const auto before = usable(line);
    TestGraph::Node node;
    std::vector<std::string> tensors;
    size_t input = 0;
    std::string array;
    for (const Field& field : before->desc.schema().fields) {
      if (field.role == Role::Attribute) continue;
      if (field.role == Role::Output) {
        const DataType type = before->outputs[0]->DataType;
        made_.push_back({{GraphSource::Kind::Node, static_cast<uint32_t>(graph_.nodes.size()), 0},
                         type,
                         tensorText(type, Side::Output)});
        setValue(line, field.name, made_.back().tensor);
        continue;
      }
      const size_t count = field.type == FieldType::TensorArray ? before->inputs.size() - input : 1;
      std::string text;
      for (size_t i = 0; i < count; ++i, ++input) {
        node.inputs.emplace_back();
        if (!before->inputs[input]) continue;
        text += cat(i ? "," : "", source(before->inputs[input]->DataType, node.inputs.back()));
      }
      setValue(line, field.name, field.type == FieldType::TensorArray ? cat("[", text, "]") : text);
    }
    auto test = usable(line);
    if (!test || !isChainable(*test)) {
      made_.pop_back();
      return;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      GraphSource& at = node.inputs[i];
      if (at.kind == GraphSource::Kind::Node) use(at);
      if (at.kind != GraphSource::Kind::GraphInput) continue;
      if (const auto bytes = fillBytes(*test, i); bytes.size() <= 64 && random_.chance(0.5)) {
        at = {GraphSource::Kind::Node, static_cast<uint32_t>(graph_.nodes.size()), 0};
        TestGraph::Node constant;
        constant.constant = bytes;
        graph_.nodes.push_back(std::move(constant));
        made_.back().source.index++;
      } else if (random_.chance(0.2) && addViewInto(*test->inputs[i], bytes)) {
        at = {GraphSource::Kind::Node, made_.back().source.index++, viewedOutput_};
      } else {
        at = graph_.addInput(bytes.size(), bytes);
      }
    }
    node.test = std::move(*test);
    node.name = cat("node", graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
    if (random_.chance(0.1)) addViewOfLast();
  }

  // A part of something, something joined or something turned, which has the elements of a fill in any order.
  bool addViewInto(const DML_BUFFER_TENSOR_DESC& tensor, const std::vector<std::byte>& fill) {
    auto view = viewInto(random_, tensor, kMaxViewed);
    if (!view || view->test.outputs[view->output]->TotalTensorSizeInBytes != tensor.TotalTensorSizeInBytes)
      return false;
    viewedOutput_ = static_cast<uint32_t>(view->output);
    TestGraph::Node node;
    for (const DML_BUFFER_TENSOR_DESC* whole : view->test.inputs)
      node.inputs.push_back(graph_.addInput(whole->TotalTensorSizeInBytes, fill));
    node.test = std::move(view->test);
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  // Joins, splits or turns what the last node made.
  void addViewOfLast() {
    Made& last = made_.back();
    const DML_BUFFER_TENSOR_DESC& tensor = *graph_.tensorOf(last.source);
    auto test = viewOf(random_, tensor, kMaxViewed);
    if (!test || test->inputs[0]->TotalTensorSizeInBytes != tensor.TotalTensorSizeInBytes) return;
    last.used = last.moved = true;
    TestGraph::Node node;
    node.inputs.push_back(last.source);
    for (size_t i = 1; i < test->inputs.size(); ++i) {
      const auto bytes = fillBytes(*test, i);
      node.inputs.push_back(graph_.addInput(bytes.size(), bytes));
    }
    for (uint32_t o = 0; o < test->outputs.size(); ++o)
      graph_.outputs.push_back({GraphSource::Kind::Node, static_cast<uint32_t>(graph_.nodes.size()), o});
    node.test = std::move(*test);
    graph_.nodes.push_back(std::move(node));
  }

  void use(const GraphSource& source) {
    for (Made& made : made_)
      if (made.source == source) made.used = true;
  }

  // What an operator takes: a tensor that was made, or one that the caller gives.
  std::string source(DataType type, GraphSource& from) {
    std::vector<const Made*> candidates;
    for (const Made& made : made_)
      if (made.type == type && !made.moved && made.source.index < graph_.nodes.size()) candidates.push_back(&made);
    if (!candidates.empty() && random_.chance(0.8)) {
      // Recent ones more often.
      const Made& made = *candidates[candidates.size() - 1 - random_.below(std::min<size_t>(candidates.size(), 3))];
      from = made.source;
      return made.tensor;
    }
    from = {GraphSource::Kind::GraphInput, 0, 0};
    return tensorText(type, Side::Input);
  }

  std::string tensorText(DataType type, Side side) {
    Layout layout = Layout::Packed;
    if (random_.chance(side == Side::Input ? 0.5 : 0.1)) layout = static_cast<Layout>(random_.below(kLayouts));
    return makeTensor(random_, side, type, sizes_, layout).text();
  }

  Random random_;
  Sizes sizes_;
  TestGraph graph_;
  std::vector<Made> made_;
  uint32_t viewedOutput_ = 0;  // of the last addViewInto()
};

}  // namespace

const std::vector<ChainLine>& chainLines() {
  static const std::vector<ChainLine> all = [] {
    std::vector<ChainLine> lines;
    std::set<std::string> names;
    for (const OpSchema* schema : allSchemas())
      for (const DataType type : generatedTypes(*schema))
        for (const std::string& line : generateCases(*schema, type)) {
          const auto test = usable(line);
          if (!test || !isChainable(*test)) continue;
          std::string name(schema->name);
          for (const auto& tensors : {test->inputs, test->outputs})
            for (const auto* tensor : tensors) name += cat(" ", tensor ? shortTypeName(tensor->DataType) : "none");
          if (names.insert(name).second) lines.push_back({line, name});
        }
    return lines;
  }();
  return all;
}

TestGraph makeRandomChain(uint64_t seed, size_t count, size_t first) { return ChainMaker(seed).make(count, first); }

}  // namespace dimple::testing
