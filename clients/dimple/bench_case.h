// What dimple bench measures.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/dimple/bench_graph.h"
#include "clients/dimple/runner.h"
#include "core/schema/desc_copy.h"

namespace dimple::tool {

struct BenchCase {
  // What element e of output 0 must be, and the size of what it is a sum of.
  using Exact = std::function<std::pair<double, double>(uint64_t element)>;

  std::string name;
  std::optional<OwnedDesc> desc = {};
  std::shared_ptr<BenchGraph> graph = {};  // in the place of an operator
  uint64_t bytes = 0;                      // read and written
  uint64_t operations = 0;                 // multiplications and additions; 0: memory is what counts
  uint32_t indexEnd = 0;                   // input 1 holds indices below this; 0: there are none
  Exact exact = {};                        // of inputs that hold benchValue(); none: they hold anything
  double constant = 0;                     // but if not 0, what each of their elements holds
  CompiledOperator op = {};
  uint32_t repeat = 0;                   // executions in a row that are timed; 0: one, with its submission
  std::vector<double> nanoseconds = {};  // one per iteration
  std::string kernels = {};
  std::string refusal = {};  // why the device cannot run it
  bool compared = false;     // others are compared with it, so it is not left out
  double error = 0;          // the largest of some elements, relative to the size of what they are sums of

  double median() const {
    auto sorted = nanoseconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  double bytesPerSecond() const { return static_cast<double>(bytes) / (median() * 1e-9); }
  double operationsPerSecond() const { return static_cast<double>(operations) / (median() * 1e-9); }
};

// `line` is an operator as text; `indexEnd` as above.
BenchCase makeBenchCase(std::string name, const std::string& line, uint64_t indexEnd = 0);

// Matrix products, convolutions, attention and recurrent networks, at sizes of their own.
std::vector<BenchCase> benchProducts();
// Those of them that stand for all, in the order of docs/performance.md.
std::vector<BenchCase> benchSummary();

// Products with weights that are dequantized, in a row.
std::vector<BenchCase> benchWeights();

// Chains of element-wise operators, each as it is planned, in one pass over memory, and node by node.
std::vector<BenchCase> benchChains(uint64_t rows, uint64_t columns);

// Element e of an input whose elements differ: between -1 and 1, a FLOAT16; or an integer of 8 bits.
double benchValue(size_t input, uint64_t element);
int benchInteger(DataType type, size_t input, uint64_t element);

}  // namespace dimple::tool
