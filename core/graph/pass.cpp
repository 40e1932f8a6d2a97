#include "core/graph/pass.h"

#include <algorithm>
#include <array>

#include "core/target.h"

namespace dimple {
namespace {

constexpr std::array kPasses = {
    Pass{"repeated", "A node that computes what another one computes is left out.", passes::leaveOutRepeated},
    Pass{"constants", "Nodes that depend only on constants and on inputs owned by DML execute once, at initialization.",
         passes::foldConstants},
    Pass{"patterns", "Nodes that spell out a normalization of rows or a GELU become that operator.",
         passes::findPatterns},
    Pass{"halves", "An operator of FLOAT32 between CASTs from and to FLOAT16 becomes an operator of FLOAT16.",
         passes::useHalves},
    Pass{"attention", "A softmax of products, followed by a product of its results, becomes attention.",
         passes::findAttention},
    Pass{
        "caches",
        "Attention of FLOAT32 between CASTs from and to FLOAT16 that appends to a cache is attention of FLOAT16, which "
        "keeps what the cache holds.",
        passes::keepCaches},
    Pass{"weights",
         "Normalizations, factors and sums of each channel after a product or a convolution are folded into its "
         "weights and bias, which are computed at initialization, so that the pass needs constants.",
         passes::foldWeights},
    Pass{"integers",
         "Operators that move dequantized integers, or take the greatest of them, take the integers if the results are "
         "quantized in the same way.",
         passes::useIntegers},
    Pass{"quantized",
         "A product, convolution or average of dequantized integers takes the integers, and quantizes its results.",
         passes::multiplyIntegers},
    Pass{"epilogues",
         "Normalizations and factors of each channel, and tensors that are added to the results of a product or a "
         "convolution, are applied where the results are stored.",
         passes::addEpilogues},
    Pass{"activations", "An activation that is the only reader of an operator becomes its FusedActivation.",
         passes::fuseActivations},
    Pass{"dequantized",
         "A product with weights that are dequantized reads the integers, or one matrix for all batches.",
         passes::readIntegers},
    Pass{
        "siblings",
        "Products of the same rows with weights that are known at initialization become one product, which applies the "
        "gates that its results hold.",
        passes::joinSiblings},
    Pass{"channels",
         "Tensors between FLOAT16 convolutions have the channels of a place side by side, so that matrices of "
         "subgroups read them in vectors.",
         passes::putChannelsLast},
    Pass{"casts",
         "A normalization or softmax of FLOAT32 reads and stores FLOAT16 in place of the CASTs around it, a "
         "reduction reads FLOAT16, and a FLOAT16 product stores FLOAT32.",
         passes::fuseCasts},
    Pass{"prologues",
         "A product of few rows normalizes the rows that it reads, and stores them if others read them, too.",
         passes::addPrologues},
    Pass{"chains", "Element-wise nodes that pass tensors to each other execute in one pass over memory.",
         passes::fuseChains},
    Pass{"neighbours", "Chains that do the same with neighbouring parts of a tensor become one.",
         passes::joinNeighbours},
    Pass{"layouts", "Rows of tensors between nodes begin where products can read them in vectors.",
         passes::chooseLayouts},
    Pass{"views", "Operators that only move elements become strides of the operators that read or write the elements.",
         passes::foldViews},
    Pass{"unread", "Results that nothing reads are not computed.", passes::removeUnread},
};
static_assert(kPasses.size() <= kMaxPasses);

}  // namespace

std::span<const Pass> allPasses() { return kPasses; }

bool runsPass(const Options& options, std::string_view name) {
  const auto pass = std::ranges::find(kPasses, name, &Pass::name);
  return options.runsPass(static_cast<size_t>(pass - kPasses.begin()));
}

void runPasses(Graph& graph, const Target& target) {
  for (size_t i = 0; i < kPasses.size(); ++i)
    if (target.options.runsPass(i)) kPasses[i].run(graph, target);
}

}  // namespace dimple
