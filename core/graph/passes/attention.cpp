// A product of queries and keys, a softmax of its rows and a product with values become attention, whose scores are
// neither written nor read.
#include <cmath>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/attend.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

// Whether a node is a product of two tensors and adds nothing.
bool isProduct(const Node& node) {
  return typeOf(node) == DML_OPERATOR_GEMM && !node.op->input(kBiasInput).present() &&
         node.op->activation().type == DML_OPERATOR_INVALID && node.op->epilogue().steps == 0;
}

// Returns the tensor with its last two dimensions exchanged.
Tensor transposed(const Tensor& tensor) {
  Tensor other = tensor;
  std::swap(other.sizes[tensor.rank - 1], other.sizes[tensor.rank - 2]);
  std::swap(other.strides[tensor.rank - 1], other.strides[tensor.rank - 2]);
  return other;
}
Tensor transposedIf(bool isTransposed, const Tensor& tensor) { return isTransposed ? transposed(tensor) : tensor; }

class Attention {
 public:
  explicit Attention(Node& softmax) : softmax_(softmax) {}

  bool matches() {
    const auto& desc = softmax_.op->as<DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC>();
    const Tensor& weights = softmax_.op->output();
    if (desc.AxisCount != 1 || desc.Axes[0] != weights.rank - 1) return false;
    findCasts();
    mixing_ = readerOf(castBack_ ? *castBack_ : softmax_);
    if (!mixing_.node || mixing_.input != 0 || !isProduct(*mixing_.node) || !findProduct()) return false;
    const auto& mixing = mixing_.node->op->as<DML_GEMM_OPERATOR_DESC>();
    // Their sizes are those of queries and keys, so that all see the same batches and heads.
    return mixing.TransA == DML_MATRIX_TRANSFORM_NONE && mixing.Alpha == 1 &&
           sameSizes(product_->op->output(), weights) && sameSizes(mixing_.node->op->input(0), weights);
  }

  void replace(Graph& graph, const Target& target) {
    const auto& product = product_->op->as<DML_GEMM_OPERATOR_DESC>();
    const auto& mixing = mixing_.node->op->as<DML_GEMM_OPERATOR_DESC>();
    const auto isTransposed = [](DML_MATRIX_TRANSFORM given) { return given == DML_MATRIX_TRANSFORM_TRANSPOSE; };
    std::vector<Taken> inputs{{product_, 0}, {product_, 1}, {mixing_.node, 1}};
    TensorNames names{{"queries", "keys", "values"}, {"OutputTensor"}};
    if (sum_) {
      inputs.emplace_back(sum_, addend_);
      names.inputs.emplace_back("what is added to scores");
    }
    std::vector<Tensor> tensors = tensorsOf(inputs);
    tensors[0] = transposedIf(isTransposed(product.TransA), tensors[0]);
    tensors[1] = transposedIf(!isTransposed(product.TransB), tensors[1]);
    tensors[2] = transposedIf(isTransposed(mixing.TransB), tensors[2]);
    for (size_t i = 0; i < inputs.size(); ++i)
      names.inputs[i] = cat(inputs[i].first->op->inputName(inputs[i].second), " of ", inputs[i].first->name);
    names.outputs[0] = cat(mixing_.node->op->outputName(0), " of ", mixing_.node->name);
    Operation op = attentionOperation(scale_, std::move(tensors), mixing_.node->op->output(), std::move(names));
    if (!attendsByMatrices(op, target) || !planOperator(op, target)) return;
    std::vector<Node*> nodes{product_};
    nodes.insert(nodes.end(), between_.begin(), between_.end());
    nodes.push_back(&softmax_);
    if (castBack_) nodes.push_back(castBack_);
    nodes.push_back(mixing_.node);
    replaceNodes(graph, nodes, std::move(op), inputs);
  }

 private:
  // A softmax of FLOAT32 between a CAST from FLOAT16 and one back, which is what attention computes.
  void findCasts() {
    constexpr DataType kHalf = DML_TENSOR_DATA_TYPE_FLOAT16;
    if (softmax_.op->output().type != DML_TENSOR_DATA_TYPE_FLOAT32) return;
    Node* cast = onlyProducerAt(softmax_, 0, DML_OPERATOR_CAST);
    const Reader back = readerOf(softmax_);
    if (!cast || cast->op->input(0).type != kHalf || !back.node || typeOf(*back.node) != DML_OPERATOR_CAST ||
        back.node->op->output().type != kHalf)
      return;
    cast_ = cast;
    castBack_ = back.node;
  }

  // Follows the inputs of the softmax back through the sum and the factors to the product.
  bool findProduct() {
    const Node* reader = &softmax_;
    uint32_t input = 0;
    const auto take = [&](Node* node, uint32_t from) {
      between_.insert(between_.begin(), node);
      reader = node;
      input = from;
    };
    if (cast_) take(cast_, 0);
    for (const auto type : {DML_OPERATOR_ELEMENT_WISE_ADD, DML_OPERATOR_ELEMENT_WISE_ADD1}) {
      Node* sum = onlyProducerAt(*reader, input, type);
      if (sum && !sum_) {
        sum_ = sum;
        // Takes the side that comes from a product. The other side may come from one, too.
        take(sum, leadsToProduct(*sum, 0) ? 0 : 1);
        addend_ = 1 - input;
      }
    }
    double factor = 1;
    while (true) {
      if (Node* division = onlyProducerAt(*reader, input, DML_OPERATOR_ELEMENT_WISE_DIVIDE)) {
        const auto divisor = floatAt(*division, 1);
        if (!divisor) return false;
        factor /= static_cast<double>(*divisor);
        take(division, 0);
      } else if (Node* multiplication = onlyProducerAt(*reader, input, DML_OPERATOR_ELEMENT_WISE_MULTIPLY)) {
        const uint32_t number = floatAt(*multiplication, 0) ? 0 : 1;
        const auto multiplier = floatAt(*multiplication, number);
        if (!multiplier) return false;
        factor *= static_cast<double>(*multiplier);
        take(multiplication, 1 - number);
      } else {
        break;
      }
    }
    product_ = onlyProducerAt(*reader, input, DML_OPERATOR_GEMM);
    if (!product_ || !isProduct(*product_)) return false;
    scale_ = static_cast<float>(factor * static_cast<double>(product_->op->as<DML_GEMM_OPERATOR_DESC>().Alpha));
    const Tensor& scores = softmax_.op->input(0);
    return std::isfinite(scale_) && sameSizes(product_->op->output(), scores) &&
           (!sum_ || sameSizes(sum_->op->output(), scores));
  }

  // Whether an input of a sum is made by a product, or a factor of what one makes.
  static bool leadsToProduct(const Node& sum, uint32_t input) {
    for (const auto type : {DML_OPERATOR_GEMM, DML_OPERATOR_ELEMENT_WISE_DIVIDE, DML_OPERATOR_ELEMENT_WISE_MULTIPLY})
      if (onlyProducerAt(sum, input, type)) return true;
    return false;
  }

  Node& softmax_;
  Node* cast_ = nullptr;      // null: the softmax has the type of the products
  Node* castBack_ = nullptr;  // the same
  Reader mixing_;
  Node* product_ = nullptr;
  std::vector<Node*> between_;  // the product and the softmax
  Node* sum_ = nullptr;         // null: nothing is added
  uint32_t addend_ = 0;
  float scale_ = 1;
};

}  // namespace

void passes::findAttention(Graph& graph, const Target& target) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (typeOf(node) == DML_OPERATOR_ACTIVATION_SOFTMAX1 && !node.runsAtInitialization) found.push_back(&node);
  for (Node* node : found)
    if (Attention attention(*node); attention.matches()) attention.replace(graph, target);
}

}  // namespace dimple
