#include "clients/dimple/repeater.h"

#include <algorithm>

#include "clients/dimple/profile.h"
#include "core/text.h"

namespace dimple::tool {

double Repeater::milliseconds(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) runner_.dispatch(op_, inputs_, outputs_);
  return runner_.flush();
}

uint32_t Repeater::chooseCount(double longEnough) {
  const double first = milliseconds(1);
  const double once = std::min(first, runner_.repeat());
  if (once >= longEnough) return 0;
  // Executions in a row may take much less than one of them.
  const double each = milliseconds(4) / 4;
  return static_cast<uint32_t>(std::clamp(longEnough / each, 1.0, double{kMostRepeats}));
}

double Repeater::nanoseconds(uint32_t count) {
  if (count == 0) return milliseconds(1) * 1e6;
  const auto again = [&](uint32_t executions) {
    milliseconds(executions);
    return runner_.repeat();
  };
  const double once = again(count);
  const double twice = again(2 * count);
  // If other work disturbs both times by more than their difference, the time of a submission counts, too.
  return (twice > once ? (twice - once) / count : twice / (2 * count)) * 1e6;
}

std::string Repeater::kernels(const Device& device) {
  device.check(device.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  milliseconds(1);
  std::string names;
  for (const KernelTime& time : readProfile(device)) {
    // Behind the label of a graph's node.
    const size_t label = time.kernel.rfind(' ');
    const std::string kernel = time.kernel.substr(label == time.kernel.npos ? 0 : label + 1);
    if (names.find(kernel) == names.npos) names += cat(names.empty() ? "" : " ", kernel);
  }
  device.check(device.context().SetProfiling(FALSE), "Timing cannot be ended");
  return names;
}

}  // namespace dimple::tool
