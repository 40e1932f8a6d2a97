#include "clients/dimple/copy_speed.h"

#include <algorithm>

#include "clients/dimple/profile.h"
#include "clients/dimple/runner.h"
#include "clients/files/failure.h"
#include "core/schema/desc_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr uint64_t kElements = uint64_t{1} << 24;  // more than caches hold
constexpr int kRepeats = 5;

// The shortest of some copies.
double nanosecondsOf(const Device& device, uint64_t elements) {
  const auto parsed =
      parseCase(cat("ELEMENT_WISE_IDENTITY InputTensor=f32[", elements, "] OutputTensor=f32[", elements, "]"));
  if (!parsed) throw RunError(parsed.error().text);
  CompiledOperator copy = compileOperator(device, parsed->desc.desc(), DML_EXECUTION_FLAG_NONE, "A copy");
  const Com<ID3D12Resource> from = createBuffer(device, elements * 4);
  const Com<ID3D12Resource> to = createBuffer(device, elements * 4);
  Runner runner(device, copy.properties.RequiredDescriptorCount * kRepeats, copy.properties.TemporaryResourceSize);
  runner.initialize({&copy}, {{{}}});
  readProfile(device);
  for (int i = 0; i < kRepeats; ++i)
    runner.dispatch(copy, {{from.get(), 0, elements * 4}}, {{to.get(), 0, elements * 4}});
  runner.flush();
  const auto times = readProfile(device);
  const size_t parts = times.size() / kRepeats;  // dispatches of a copy
  if (parts == 0) throw RunError("A copy was not timed.");
  double least = 0;
  for (size_t i = 0; i + parts <= times.size(); i += parts) {
    double sum = 0;
    for (size_t part = 0; part < parts; ++part) sum += times[i + part].nanoseconds;
    least = i == 0 ? sum : std::min(least, sum);
  }
  return least;
}

}  // namespace

CopySpeed measureCopy(const Device& device) {
  device.check(device.context().SetProfiling(TRUE), "Dispatches cannot be timed");
  const double least = nanosecondsOf(device, 1);
  const double large = nanosecondsOf(device, kElements);
  return {large > 0 ? 2.0 * 4.0 * static_cast<double>(kElements) / large * 1e9 : 0, least};
}

}  // namespace dimple::tool
