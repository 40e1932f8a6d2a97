// When dispatches ran, as the device says.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/fixture.h"

namespace dimple::testing {
namespace {

struct TimelineEntry {
  std::string kernel;
  double begin, nanoseconds;
};

void STDMETHODCALLTYPE receiveEntry(void* entries, const char* kernel, double begin, double nanoseconds) {
  static_cast<std::vector<TimelineEntry>*>(entries)->push_back({kernel, begin, nanoseconds});
}

std::vector<TimelineEntry> timelineOf(IDimpleContext& context) {
  std::vector<TimelineEntry> entries;
  REQUIRE(context.ReadTimeline(receiveEntry, &entries) == S_OK);
  return entries;
}

}  // namespace

GPU_TEST_CASE("a timeline says when each dispatch began, also between reads") {
  Fixture f;
  const auto compiled = f.compile(kAddLine);
  const auto heap = f.heap(64);
  const auto table = f.table(compiled.Get(), heap);
  const auto a = f.buffer({1, 2, 3, 4}), b = f.buffer({5, 6, 7, 8}), sum = f.buffer(16);
  const DML_BUFFER_BINDING buffers[] = {{a.Get(), 0, 16}, {b.Get(), 0, 16}, {sum.Get(), 0, 16}};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &buffers[0]}, {DML_BINDING_TYPE_BUFFER, &buffers[1]}};
  const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &buffers[2]};
  table->BindInputs(2, inputs);
  table->BindOutputs(1, &output);
  f.run(compiled.Get(), table);  // untimed: it may compile

  constexpr auto kPause = std::chrono::milliseconds(20);
  constexpr double kPauseNanoseconds = 20e6;
  REQUIRE(f.context->SetProfiling(TRUE) == S_OK);
  f.run(compiled.Get(), table);
  std::this_thread::sleep_for(kPause);
  f.run(compiled.Get(), table);
  const auto first = timelineOf(*f.context);
  REQUIRE(first.size() == 2);
  CHECK(first[0].begin == 0);
  CHECK(first[0].nanoseconds > 0);
  CHECK(first[0].kernel == first[1].kernel);
  CHECK(first[1].begin >= first[0].nanoseconds + kPauseNanoseconds);
  CHECK(first[1].nanoseconds < kPauseNanoseconds);

  std::this_thread::sleep_for(kPause);
  f.run(compiled.Get(), table);
  const auto second = timelineOf(*f.context);
  REQUIRE(second.size() == 1);
  CHECK(second[0].begin >= first[1].begin + first[1].nanoseconds + kPauseNanoseconds);
  CHECK(timelineOf(*f.context).empty());

  // It counts from the next dispatch.
  REQUIRE(f.context->SetProfiling(TRUE) == S_OK);
  f.run(compiled.Get(), table);
  const auto again = timelineOf(*f.context);
  REQUIRE(again.size() == 1);
  CHECK(again[0].begin == 0);
}

GPU_TEST_CASE("a list that was recorded for a profile runs with what is bound later, also when profiling is off") {
  Fixture f;
  const auto compiled = f.compile(kAddLine, DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  const auto heap = f.heap(3);
  const auto table = f.table(compiled.Get(), heap);
  const auto a = f.buffer({1, 2, 3, 4}), b = f.buffer({5, 6, 7, 8});
  bindInputs(table, {a.Get(), b.Get()});
  REQUIRE(f.context->SetProfiling(TRUE) == S_OK);
  const auto list = f.list();
  f.recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
  REQUIRE(list->Close() == S_OK);
  const auto check = [&] {
    const auto sum = f.buffer(16);
    bindOutputs(table, {sum.Get()});
    f.execute(list);
    CHECK(f.read(sum, 4) == std::vector<float>{6, 8, 10, 12});
  };
  check();
  REQUIRE(timelineOf(*f.context).size() == 1);
  REQUIRE(f.context->SetProfiling(FALSE) == S_OK);
  check();
  REQUIRE(f.context->SetProfiling(TRUE) == S_OK);
  check();
  CHECK(timelineOf(*f.context).empty());  // what is recorded now is timed
  f.run(compiled.Get(), table);
  CHECK(timelineOf(*f.context).size() == 1);
}

GPU_TEST_CASE("a timeline is refused without a function or without profiling") {
  Fixture f;
  std::vector<TimelineEntry> entries;
  CHECK(f.context->ReadTimeline(nullptr, &entries) == E_POINTER);
  CHECK(std::string(dimpleGetLastMessage()) == "report is null, expected a function.");
  CHECK(f.context->ReadTimeline(receiveEntry, &entries) == E_INVALIDARG);
  CHECK(std::string(dimpleGetLastMessage()) == "Profiling is off, expected SetProfiling first.");
  CHECK(entries.empty());
  f.gpu->takeMessages();
}

}  // namespace dimple::testing
