// Passes are rewrites of graphs that save dispatches and keep the results, within the tolerance of the operators.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dimple {

class Graph;
struct Options;
struct Target;

struct Pass {
  std::string_view name;      // of the option that switches it off
  std::string_view sentence;  // what it does
  void (*run)(Graph& graph, const Target& target);
};

// In the order in which they run.
std::span<const Pass> allPasses();

// Whether the options switch a pass on.
bool runsPass(const Options& options, std::string_view name);

// Runs the passes that the options switch on.
void runPasses(Graph& graph, const Target& target);

// Each is in its own file, passes/<name>.cpp.
namespace passes {
void leaveOutRepeated(Graph& graph, const Target& target);
void foldConstants(Graph& graph, const Target& target);
void findPatterns(Graph& graph, const Target& target);
void useHalves(Graph& graph, const Target& target);
void findAttention(Graph& graph, const Target& target);
void keepCaches(Graph& graph, const Target& target);
void foldWeights(Graph& graph, const Target& target);
void useIntegers(Graph& graph, const Target& target);
void multiplyIntegers(Graph& graph, const Target& target);
void addEpilogues(Graph& graph, const Target& target);
void fuseActivations(Graph& graph, const Target& target);
void readIntegers(Graph& graph, const Target& target);
void joinSiblings(Graph& graph, const Target& target);
void putChannelsLast(Graph& graph, const Target& target);
void fuseCasts(Graph& graph, const Target& target);
void addPrologues(Graph& graph, const Target& target);
void fuseChains(Graph& graph, const Target& target);
void joinNeighbours(Graph& graph, const Target& target);
void chooseLayouts(Graph& graph, const Target& target);
void foldViews(Graph& graph, const Target& target);
void removeUnread(Graph& graph, const Target& target);
}  // namespace passes

}  // namespace dimple
