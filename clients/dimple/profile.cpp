#include "clients/dimple/profile.h"

#include <algorithm>
#include <cstdio>

#include "clients/dimple/table.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

void STDMETHODCALLTYPE receiveTime(void* times, const char* kernel, double begin, double nanoseconds) {
  static_cast<std::vector<KernelTime>*>(times)->push_back({kernel, begin, nanoseconds});
}

}  // namespace

std::vector<KernelTime> readProfile(const Device& device) {
  std::vector<KernelTime> times;
  device.check(device.context().ReadTimeline(receiveTime, &times), "The times cannot be read");
  return times;
}

void printProfile(const std::vector<KernelTime>& times) {
  struct Sum {
    std::string kernel;
    size_t count = 0;
    double total = 0;
  };
  std::vector<Sum> sums;
  double all = 0;
  for (const KernelTime& time : times) {
    auto sum = std::find_if(sums.begin(), sums.end(), [&](const Sum& s) { return s.kernel == time.kernel; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), Sum{time.kernel});
    ++sum->count;
    sum->total += time.nanoseconds;
    all += time.nanoseconds;
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.total > b.total; });
  Table table({"kernel", ">dispatches", ">total ms", ">mean ms", ">share"});
  const auto add = [&](const std::string& name, size_t count, double total) {
    const double share = all > 0 ? 100 * total / all : 0;
    table.add({name, std::to_string(count), fixedText(total / 1e6, 3),
               fixedText(count ? total / static_cast<double>(count) / 1e6 : 0, 3), fixedText(share, 1) + " %"});
  };
  for (const Sum& sum : sums) add(sum.kernel, sum.count, sum.total);
  add("all", times.size(), all);
  table.print();
}

}  // namespace dimple::tool
