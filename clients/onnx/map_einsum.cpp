// Einsum: operands are seen by their labels, multiplied, and summed over the labels that the result lacks.
#include <algorithm>
#include <cctype>
#include <map>

#include "clients/onnx/product.h"

namespace dimple::onnx {
namespace {

using Labels = std::vector<int>;  // characters; dimensions of an ellipsis are numbers below 0

struct Term {
  Value value;
  Labels labels;
};

// "ij" of a tensor of so many dimensions; an ellipsis stands for those that no label names, -1 for the last of them.
Labels parseTerm(const std::string& text, size_t rank, const std::string& equation) {
  Labels labels;
  const auto count = static_cast<size_t>(std::ranges::count_if(text, [](unsigned char c) { return std::isalpha(c); }));
  bool ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      labels.push_back(text[i]);
    } else if (text.compare(i, 3, "...") == 0 && !ellipsis && count <= rank) {
      for (size_t d = rank - count; d > 0; --d) labels.push_back(-static_cast<int>(d));
      ellipsis = true;
      i += 2;
    } else {
      throw ModelError(cat("Attribute equation is \"", equation, "\", which cannot be read at \"", text, "\"."));
    }
  }
  if (labels.size() != rank)
    throw ModelError(cat("Attribute equation is \"", equation, "\", where \"", text, "\" stands for a tensor of ", rank,
                         " dimensions."));
  return labels;
}

bool contains(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

// A label that stands twice means the diagonal, which is a stride.
Term takeDiagonals(GraphBuilder& graph, const Value& value, const Labels& labels) {
  Term term{graph.onDevice(value), {}};
  const Sizes strides = term.value.packed() ? packedStrides(value.sizes) : term.value.strides;
  Sizes sizes, summed;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto found = std::ranges::find(term.labels, labels[i]);
    if (found == term.labels.end()) {
      term.labels.push_back(labels[i]);
      sizes.push_back(value.sizes[i]);
      summed.push_back(strides[i]);
      continue;
    }
    const auto at = static_cast<size_t>(found - term.labels.begin());
    if (sizes[at] != value.sizes[i])
      throw ModelError(cat("A diagonal is taken of dimensions of ", sizes[at], " and ", value.sizes[i], "."));
    summed[at] += strides[i];
  }
  if (term.labels.size() == labels.size()) return {value, labels};
  term.value.constant = nullptr;
  term.value.sizes = sizes;
  term.value.strides = summed;
  return term;
}

Term sumOver(GraphBuilder& graph, const Term& term, const Labels& kept) {
  std::vector<UINT> axes;
  Term result;
  Sizes sizes;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (!contains(kept, term.labels[i])) {
      axes.push_back(static_cast<UINT>(i));
      continue;
    }
    result.labels.push_back(term.labels[i]);
    sizes.push_back(term.value.sizes[i]);
  }
  result.value =
      axes.empty() ? term.value : graph.reshape(reduce(graph, term.value, DML_REDUCE_FUNCTION_SUM, axes), sizes);
  return result;
}

// The term's dimensions in the order of `labels`, those that it lacks of size 1.
Value arrange(GraphBuilder& graph, const Term& term, const Labels& labels) {
  std::vector<size_t> order;
  Sizes sizes;
  for (const int label : labels) {
    const auto found = std::ranges::find(term.labels, label);
    if (found == term.labels.end()) {
      sizes.push_back(1);
      continue;
    }
    order.push_back(static_cast<size_t>(found - term.labels.begin()));
    sizes.push_back(term.value.sizes[order.back()]);
  }
  return graph.reshape(graph.transpose(term.value, order), sizes);
}

Labels append(Labels labels, const Labels& more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

// Labels of both operands that stay are batches, those that go are the depth of a product of matrices.
Term multiplyTerms(GraphBuilder& graph, const Term& left, const Term& right, const Labels& kept) {
  const Term a = sumOver(graph, left, append(right.labels, kept));
  const Term b = sumOver(graph, right, append(left.labels, kept));
  Labels batch, depth, rows, columns;
  for (size_t i = 0; i < a.labels.size(); ++i) {
    const int label = a.labels[i];
    const auto other = std::ranges::find(b.labels, label);
    if (other == b.labels.end())
      rows.push_back(label);
    else if (contains(kept, label))
      batch.push_back(label);
    else
      depth.push_back(label);
  }
  for (const int label : b.labels)
    if (!contains(a.labels, label)) columns.push_back(label);
  std::map<int, int64_t> sizes;
  for (const Term* term : {&a, &b})
    for (size_t i = 0; i < term->labels.size(); ++i) {
      int64_t& size = sizes.emplace(term->labels[i], 1).first->second;
      const int64_t given = term->value.sizes[i];
      if (size != 1 && given != 1 && size != given)
        throw ModelError(cat("A label stands for dimensions of ", size, " and ", given, "."));
      size = std::max(size, given);
    }
  const auto sizesOf = [&](const Labels& labels) {
    Sizes result;
    for (const int label : labels) result.push_back(sizes[label]);
    return result;
  };
  Term result;
  if (depth.empty() || !isFloat(a.value.type)) {
    const Labels all = append(append(append(batch, rows), columns), depth);
    result = {multiply(graph, arrange(graph, a, all), arrange(graph, b, all)), all};
    return sumOver(graph, result, kept);
  }
  const auto matrix = [&](const Term& term, const Labels& first, const Labels& second) {
    const Labels order = append(append(batch, first), second);
    const Value full = graph.broadcast(arrange(graph, term, order), sizesOf(order));
    return graph.reshape(full,
                         {elementCount(sizesOf(batch)), elementCount(sizesOf(first)), elementCount(sizesOf(second))});
  };
  result.labels = append(append(batch, rows), columns);
  result.value =
      graph.reshape(matrixProduct(graph, matrix(a, rows, depth), matrix(b, depth, columns)), sizesOf(result.labels));
  return result;
}

void mapEinsum(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  std::string equation = node.attributes().text("equation", "");
  std::erase_if(equation, [](unsigned char c) { return std::isspace(c); });
  const size_t arrow = equation.find("->");
  std::string inputs = equation.substr(0, arrow);
  std::vector<std::string> texts;
  for (size_t comma; (comma = inputs.find(',')) != inputs.npos; inputs.erase(0, comma + 1))
    texts.push_back(inputs.substr(0, comma));
  texts.push_back(inputs);
  if (texts.size() != node.inputCount())
    throw ModelError(cat("Attribute equation is \"", equation, "\", expected ", node.inputCount(), " operands."));
  std::vector<Term> terms;
  Labels all;
  std::map<int, int> uses;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Labels labels = parseTerm(texts[i], node.input(i).rank(), equation);
    for (const int label : labels) ++uses[label];
    all = append(all, labels);
    terms.push_back(takeDiagonals(graph, node.input(i), labels));
  }
  Labels output;
  const auto broadcastDimensions = [&] {
    int most = 0;
    for (const int label : all) most = std::min(most, label);
    return static_cast<size_t>(-most);
  };
  if (arrow != equation.npos) {
    const std::string text = equation.substr(arrow + 2);
    const auto letters =
        static_cast<size_t>(std::ranges::count_if(text, [](unsigned char c) { return std::isalpha(c); }));
    const bool ellipsis = text.find("...") != text.npos;
    output = parseTerm(text, letters + (ellipsis ? broadcastDimensions() : 0), equation);
  } else {
    // Labels that stand once, in alphabetical order after those of an ellipsis.
    for (const auto& [label, count] : uses)
      if (label < 0 || count == 1) output.push_back(label);
  }
  for (const int label : output)
    if (!contains(all, label))
      throw ModelError(cat("Attribute equation is \"", equation, "\", whose result has a label that no operand has."));
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Labels kept = output;
    for (size_t later = i + 1; later < terms.size(); ++later) kept = append(kept, terms[later].labels);
    result = multiplyTerms(graph, result, terms[i], kept);
  }
  node.setOutput(0, arrange(graph, sumOver(graph, result, output), output));
}

constexpr Mapping kEinsumMappings[] = {{kOnnx, "Einsum", 12, mapEinsum}};

}  // namespace

std::span<const Mapping> einsumMappings() { return kEinsumMappings; }

}  // namespace dimple::onnx
