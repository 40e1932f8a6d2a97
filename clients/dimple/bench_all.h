// dimple bench --all: every operator against what memory, arithmetic and latency allow.
#pragma once

#include <cstdint>
#include <string>

#include "clients/dimple/device.h"

namespace dimple::tool {

struct BenchAllOptions {
  bool all = false;  // otherwise dimple bench is asked for another thing
  DeviceOptions device;
  uint32_t scale = 1;
  uint32_t iterations = 3;
  uint32_t repeat = 0;   // 0: as many as take a millisecond and a half
  double below = 0;      // the table has rows below this percentage alone; 0: all
  std::string only;      // rows whose names contain it
  std::string htmlFile;  // empty: none
  bool asJson = false;
  std::string jsonFile;  // empty: none
  bool lines = false;    // runs nothing, prints the rows for dimple case
  bool check = false;    // asks the oracle
};

// Returns the exit code.
int benchAll(const BenchAllOptions& options);

}  // namespace dimple::tool
