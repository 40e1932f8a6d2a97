#include "core/graph/pass.h"

#include <algorithm>
#include <array>

#include "core/target.h"

namespace dimple {
namespace {

constexpr std::array kPasses = {
    Pass{"constants", "What depends on constants and inputs owned by DML alone executes once, at initialization.",
         passes::foldConstants},
    Pass{"patterns", "Nodes that spell out a layer normalization or a GELU become that operator.",
         passes::findPatterns},
    Pass{"halves", "An operator of FLOAT32 between CASTs from FLOAT16 and to it becomes one of FLOAT16.",
         passes::useHalves},
    Pass{"attention", "A softmax of products, and a product of what it makes, become attention.",
         passes::findAttention},
    Pass{"weights",
         "What follows a product or a convolution and is done to each of its channels goes into its weights and its "
         "bias, which are computed at initialization, so that it needs constants.",
         passes::foldWeights},
    Pass{"quantized",
         "A product or convolution of integers that are dequantized multiplies the integers, and quantizes what it "
         "makes.",
         passes::multiplyIntegers},
    Pass{"epilogues",
         "What is done to the results of a product or a convolution, to each of its channels or by adding a tensor, is "
         "done where they are stored.",
         passes::addEpilogues},
    Pass{"activations", "An activation that alone takes what an operator makes becomes its FusedActivation.",
         passes::fuseActivations},
    Pass{"channels",
         "Tensors between FLOAT16 convolutions lie with the channels of a place side by side, which matrices of "
         "subgroups read in vectors.",
         passes::putChannelsLast},
    Pass{"casts",
         "A normalization or softmax of FLOAT32 reads and stores FLOAT16 in the place of CASTs around it, and a "
         "reduction "
         "reads it.",
         passes::fuseCasts},
    Pass{"chains", "Element-wise nodes that hand tensors to each other execute in one pass over memory.",
         passes::fuseChains},
    Pass{"layouts", "Rows of tensors between nodes begin where products read them in vectors.", passes::chooseLayouts},
    Pass{"views", "What only moves elements becomes strides of the operators that read them or make them.",
         passes::foldViews},
    Pass{"unread", "What nothing reads is not computed.", passes::removeUnread},
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
