// The expected cost of executing nodes of a graph, by which passes decide how they execute.
#pragma once

#include <cstdint>
#include <string_view>

namespace dimple {

class Operation;
struct Caps;
struct CostlyFunctions;
struct Plan;

// The cost of dispatches on a kind of device. Only the ratios of the numbers matter.
struct CostModel {
  std::string_view device;
  std::string_view source;  // where the numbers come from

  // Whether chains can gain at all.
  bool chainsGain = true;
  // A rewrite is made only if it is expected to be faster than what it replaces by this factor.
  double minGain = 1.1;

  double dispatch = 0;    // ns, with its barrier
  double byte = 0;        // ps
  double invocation = 0;  // ps, in the kernel of an operator; it bounds kernels that take one element per invocation
  // ps, of an exponential or the like for an element, and of one of FLOAT16; in a chain on top of its step.
  double costlyFunction = 0;
  double costlyHalf = 0;
  // ps for one element of a chain.
  double chain = 0;
  double step = 0;
  double load = 0;      // on top of its step
  double indexed = 0;   // on top of its load, or for a store
  double function = 0;  // on top of its step
  double narrowed = 0;  // on top of its step
  // ns that an invocation of a chain takes for a step and for its function, however few elements there are.
  double stepLatency = 0;
  double functionLatency = 0;

  // The time of a single element-wise operator of so many elements. `bytes` counts the tensors that it reads and
  // writes.
  double nodeNanoseconds(const Plan& plan, uint64_t bytes, uint64_t elements, const CostlyFunctions& costly) const;
  // The time of a chain of such operators. `indexedAccesses` is the number that indexedAccesses() returns.
  double chainNanoseconds(const Plan& plan, const Operation& chain, uint32_t indexedAccesses) const;

 private:
  double picoseconds(const CostlyFunctions& costly) const;
};

const CostModel& costModelOf(const Caps& caps);

}  // namespace dimple
