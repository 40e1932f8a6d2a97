// Executions of an operator in a row, by the clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clients/dimple/runner.h"

namespace dimple::tool {

constexpr uint32_t kMostRepeats = 64;  // that are chosen

class Repeater {
 public:
  // All must outlive it.
  Repeater(Runner& runner, const CompiledOperator& op, std::vector<BoundBuffer> inputs,
           std::vector<BoundBuffer> outputs)
      : runner_(runner), op_(op), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  double milliseconds(uint32_t count);
  // How many take `longEnough` milliseconds; 0: one does, so that what it takes to submit it does not count.
  uint32_t chooseCount(double longEnough);
  // One of `count` executions: what twice as many take less what these take.
  double nanoseconds(uint32_t count);
  // Executes it once: the names of its kernels, each once, spaces between.
  std::string kernels(const Device& device);

 private:
  Runner& runner_;
  const CompiledOperator& op_;
  std::vector<BoundBuffer> inputs_, outputs_;
};

}  // namespace dimple::tool
