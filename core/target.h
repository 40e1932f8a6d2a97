// What plans are made for.
#pragma once

#include "core/caps.h"
#include "core/graph/cost.h"
#include "core/options.h"

namespace dimple {

struct Target {
  Target() : Target(Caps{}) {}
  Target(const Caps& device, Options chosen = {}, bool allowsHalfPrecision = false)
      : caps(device), options(std::move(chosen)), halfPrecision(allowsHalfPrecision), costs(&costModelOf(device)) {}

  // The most multiply-adds of a dispatch that has more than one workgroup.
  uint64_t workLimit() const { return options.work ? options.work : caps.workLimit; }

  Caps caps;                   // facts of the device
  Options options;             // the options that the device was created with
  bool halfPrecision = false;  // the caller allows FLOAT32 operands to be rounded to FLOAT16
  const CostModel* costs;      // what execution costs on such a device
};

}  // namespace dimple
