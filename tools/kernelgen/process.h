// Runs another program and takes what it prints.
#pragma once

#include <string>
#include <vector>

namespace kernelgen {

struct ProcessResult {
  int exitCode = 0;
  std::string output;     // standard output and standard error together
  double cpuSeconds = 0;  // of the program; where the system does not tell, the time it took
};

ProcessResult runProcess(const std::vector<std::string>& arguments);

unsigned processId();

}  // namespace kernelgen
