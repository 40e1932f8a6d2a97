// What a report says of a program.
#pragma once

#include "clients/dimple/model.h"
#include "clients/dimple/program.h"
#include "clients/dimple/run_report.h"

namespace dimple::tool {

// Of a program that has run with ProgramOptions::timed.
void addProgram(RunReport& report, const Model& model, Program& program, const DeviceOptions& device);

}  // namespace dimple::tool
