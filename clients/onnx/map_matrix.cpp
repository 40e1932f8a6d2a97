// Products of matrices of floats.
#include <numeric>

#include "clients/onnx/product.h"

namespace dimple::onnx {

Product makeProduct(GraphBuilder& graph, const Value& a, const Value& b) {
  if (a.rank() == 0 || b.rank() == 0) throw ModelError("A scalar is multiplied, expected tensors with dimensions.");
  Product product;
  product.a = a.rank() == 1 ? graph.reshape(a, {1, a.sizes[0]}) : a;
  product.b = b.rank() == 1 ? graph.reshape(b, {b.sizes[0], 1}) : b;
  const auto batches = [](const Value& value) { return Sizes(value.sizes.begin(), value.sizes.end() - 2); };
  const int64_t depth = product.a.sizes.back();
  const int64_t rows = product.a.sizes[product.a.rank() - 2];
  const int64_t columns = product.b.sizes.back();
  if (product.b.sizes[product.b.rank() - 2] != depth)
    throw ModelError(cat("Tensors of sizes ", listText(a.sizes), " and ", listText(b.sizes), " cannot be multiplied."));
  const Sizes batch = broadcastSizes(batches(product.a), batches(product.b));
  product.result = batch;
  if (a.rank() > 1) product.result.push_back(rows);
  if (b.rank() > 1) product.result.push_back(columns);
  if (a.elements() == 0 || b.elements() == 0) return product;
  const auto spread = [&](const Value& value, int64_t height, int64_t width) {
    Sizes sizes = batch;
    sizes.insert(sizes.end(), {height, width});
    const Value full = graph.broadcast(value, sizes);
    return batch.size() <= 2 ? full : graph.reshape(full, {elementCount(batch), height, width});
  };
  product.a = spread(product.a, rows, depth);
  product.b = spread(product.b, depth, columns);
  product.sizes = Sizes(product.a.sizes.begin(), product.a.sizes.end() - 1);
  product.sizes.push_back(columns);
  return product;
}

Value matrixProduct(GraphBuilder& graph, const Value& a, const Value& b, float alpha) {
  const Product product = makeProduct(graph, a, b);
  if (elementCount(product.result) == 0) return emptyValue(a.type, product.result);
  if (product.sizes.empty()) return fill(graph, a.type, product.result, scalarTensor(Type::Float, 0));
  Op op(graph);
  DML_GEMM_OPERATOR_DESC desc{};
  desc.ATensor = op.input(product.a);
  desc.BTensor = op.input(product.b);
  op.optionalInput({});
  desc.OutputTensor = op.output(a.type, product.sizes);
  desc.Alpha = alpha;
  return graph.reshape(op.make(DML_OPERATOR_GEMM, desc), product.result);
}

namespace {

void mapMatMul(NodeContext& node) {
  commonType(node, 0, 2);
  node.setOutput(0, matrixProduct(node.graph(), node.input(0), node.input(1)));
}

void mapFusedMatMul(NodeContext& node) {
  commonType(node, 0, 2);
  GraphBuilder& graph = node.graph();
  const auto operand = [&](size_t index, const char* name, const char* batchName) {
    const Value& value = node.input(index);
    if (node.attributes().flag(batchName)) throw ModelError(cat("Attribute ", batchName, " is 1, expected 0."));
    if (!node.attributes().flag(name) || value.rank() < 2) return value;
    std::vector<size_t> order = identityOrder(value.rank());
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return graph.transpose(value, order);
  };
  node.setOutput(0, matrixProduct(graph, operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB"),
                                  node.attributes().real("alpha", 1)));
}

void mapGemm(NodeContext& node) {
  GraphBuilder& graph = node.graph();
  const Value& a = node.input(0);
  const Value& b = node.input(1);
  commonType(node, 0, 2);
  if (a.rank() != 2 || b.rank() != 2)
    throw ModelError(
        cat("Inputs 0 and 1 have sizes ", listText(a.sizes), " and ", listText(b.sizes), ", expected two dimensions."));
  const bool transposeA = node.attributes().flag("transA");
  const bool transposeB = node.attributes().flag("transB");
  const Sizes sizes = {a.sizes[transposeA ? 1 : 0], b.sizes[transposeB ? 0 : 1]};
  if (a.sizes[transposeA ? 0 : 1] != b.sizes[transposeB ? 1 : 0])
    throw ModelError(cat("Tensors of sizes ", listText(a.sizes), " and ", listText(b.sizes), " cannot be multiplied."));
  const float beta = node.attributes().real("beta", 1);
  std::optional<Value> c;
  if (node.has(2) && beta != 0) c = graph.broadcast(node.input(2), sizes);
  Op op(graph);
  DML_GEMM_OPERATOR_DESC desc{};
  desc.ATensor = op.input(a);
  desc.BTensor = op.input(b);
  desc.CTensor = op.optionalInput(c);
  desc.OutputTensor = op.output(a.type, sizes);
  desc.TransA = transposeA ? DML_MATRIX_TRANSFORM_TRANSPOSE : DML_MATRIX_TRANSFORM_NONE;
  desc.TransB = transposeB ? DML_MATRIX_TRANSFORM_TRANSPOSE : DML_MATRIX_TRANSFORM_NONE;
  desc.Alpha = node.attributes().real("alpha", 1);
  desc.Beta = beta;
  node.setOutput(0, op.make(DML_OPERATOR_GEMM, desc));
}

constexpr Mapping kMatrixMappings[] = {
    {kMicrosoft, "FusedMatMul", 1, mapFusedMatMul},
    {kOnnx, "Gemm", 7, mapGemm},
    {kOnnx, "MatMul", 1, mapMatMul},
};

}  // namespace

std::span<const Mapping> matrixMappings() { return kMatrixMappings; }

}  // namespace dimple::onnx
