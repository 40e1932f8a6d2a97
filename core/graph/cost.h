// What executing nodes of a graph is expected to take, for deciding how they execute.
#pragma once

#include <cstdint>
#include <string_view>

namespace dimple {

class Operation;
struct Caps;
struct Plan;

// What dispatches take on a kind of device. What counts is how the numbers compare.
struct CostModel {
  std::string_view device;
  std::string_view source;  // where the numbers come from

  // Whether chains can gain at all.
  bool chainsGain = true;
  // A rewrite is made where it is expected to take less than what it replaces by this factor.
  double minGain = 1.1;

  double dispatch = 0;        // ns, with its barrier
  double byte = 0;            // ps
  double invocation = 0;      // ps, of a kernel for an operator; one that takes an element each is bound by it
  double costlyFunction = 0;  // ps, an exponential and the like of an element; in a chain on top of its step
  // ps for an element of a chain.
  double chain = 0;
  double step = 0;
  double load = 0;      // on top of its step
  double indexed = 0;   // on top of its load, or for a store
  double function = 0;  // on top of its step
  double narrowed = 0;  // on top of its step

  // An element-wise operator on its own. `bytes`: of the tensors that it reads and writes. `functions`: costly ones, of
  // all elements.
  double nodeNanoseconds(const Plan& plan, uint64_t bytes, uint64_t functions) const;
  // A chain of such operators, with so many accesses by indexedAccesses().
  double chainNanoseconds(const Plan& plan, const Operation& chain, uint32_t indexedAccesses) const;
};

const CostModel& costModelOf(const Caps& caps);

}  // namespace dimple
