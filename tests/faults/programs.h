// A program on a driver whose calls fail.
#pragma once

#include "tests/faults/runs.h"
#include "tests/tool/tool_fixture.h"

namespace dimple::testing {

// A program with the layer, and what the layer saw.
class FaultedProgram {
 public:
  // `answer`: what it prints where it succeeds. A program may try once more after a failure that is over, and print the
  // answer behind "again: " with the same device, unless that is lost, and "anew: " with another. `releases`:
  // everything, also when it fails.
  FaultedProgram(std::string program, std::string arguments, std::string answer, bool releases)
      : program_(std::move(program)),
        arguments_(std::move(arguments)),
        answer_(std::move(answer)),
        releases_(releases) {}

  // A file in its folder.
  void write(const std::string& name, const std::string& text) const { fixture_.write(name, text); }

  // Has `most` of its calls of the driver fail, each in a process of its own.
  void check(size_t most) const;
  // Without a failing call: it refuses what it is given with a text that contains `text`.
  void checkRefusal(const std::string& text) const;

 private:
  ToolOutcome run(const std::string& fault, std::string& report) const;
  // What is wrong about it; empty: nothing.
  std::string judge(const std::string& fault) const;
  // Objects that it leaves; empty: none.
  std::string leftBy(const std::string& report) const;
  std::vector<FaultLine> faults() const;

  const ToolFixture fixture_;
  const std::string program_, arguments_, answer_;
  const bool releases_;
};

}  // namespace dimple::testing
