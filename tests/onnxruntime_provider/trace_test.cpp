// Times of kernels, in files of the provider's and in ONNX Runtime's own profile.
#include <doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/text.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using onnx::Type;
using Reals = std::vector<double>;

// Removes it in the end.
class TraceFolder {
 public:
  TraceFolder() { std::filesystem::create_directories(path_); }
  ~TraceFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TraceFolder(const TraceFolder&) = delete;
  std::string file(const char* name) const { return path_ / name; }
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) all.push_back(entry.path());
    return all;
  }

 private:
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() / cat("dimple_trace_", getpid());
};

json readJson(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

// y = cumulative sums of x * x, of matrices
std::string squareModel() {
  ModelMaker maker;
  maker.input("x", Type::Float, {2, 2});
  maker.node("MatMul", {"x", "x"}, {"square"});
  maker.node("CumSum", {"square", "axis"}, {"y"});
  maker.initializer("axis", integers({0}));
  maker.output("y");
  return maker.bytes();
}

const Inputs& squareInputs() {
  static const Inputs inputs{{"x", floats({2, 2}, {1, 2, 3, 4})}};
  return inputs;
}

const Reals kSquares = {7, 10, 22, 32};

std::vector<json> eventsOf(const json& events, const std::string& category) {
  std::vector<json> found;
  for (const json& event : events)
    if (event.value("cat", "") == category) found.push_back(event);
  return found;
}

std::string textOfNames(const std::vector<json>& events) {
  std::string names;
  for (const json& event : events) names += event.at("name").get<std::string>() + " ";
  return names;
}

double microsecondsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

TEST_CASE("provider trace: the file has each run of a group and its kernels") {
  const TraceFolder folder;
  const Host host;
  const std::string path = folder.file("trace.json");
  constexpr size_t kRuns = 3;
  std::vector<Clock::time_point> begins, ends;
  {
    const HostSession plain = host.open(squareModel());
    const HostSession session = host.open(squareModel(), {.provider = {{"trace", path}}});
    for (size_t i = 0; i < kRuns; ++i) {
      begins.push_back(Clock::now());
      CHECK(session.run(squareInputs())[0].tensor.reals() == kSquares);
      ends.push_back(Clock::now());
      // It is not timed, and its lists execute again.
      CHECK(plain.run(squareInputs())[0].tensor.reals() == kSquares);
    }
  }
  const json events = readJson(path);
  const std::vector<json> groups = eventsOf(events, "group"), kernels = eventsOf(events, "kernel");
  REQUIRE(groups.size() == kRuns);
  const std::string names = textOfNames(kernels);
  CHECK_MESSAGE(names.find("gemm") != names.npos, names);
  CHECK_MESSAGE(names.find("scan") != names.npos, names);
  for (size_t run = 1; run <= kRuns; ++run) {
    const json& group = groups[run - 1];
    CHECK(group.at("args").at("run") == run);
    CHECK(group.at("dur") > 0);
    CHECK(group.at("dur") <= microsecondsBetween(begins[run - 1], ends[run - 1]));
    if (run > 1) {
      const double later = group.at("ts").get<double>() - groups[run - 2].at("ts").get<double>();
      CHECK(later >= microsecondsBetween(ends[run - 2], begins[run - 1]));
      CHECK(later <= microsecondsBetween(begins[run - 2], ends[run - 1]));
    }
    double sum = 0;
    size_t count = 0;
    for (const json& kernel : kernels) {
      if (kernel.at("args").at("run") != run) continue;
      CHECK(kernel.at("args").at("group") == group.at("name"));
      CHECK(kernel.at("ph") == "X");
      CHECK(kernel.at("dur") > 0);
      sum += kernel.at("dur").get<double>();
      ++count;
    }
    CHECK(count >= 2);
    CHECK(sum < group.at("dur"));
  }
}

TEST_CASE("provider trace: threads share a session and its file") {
  const TraceFolder folder;
  const Host host;
  const std::string path = folder.file("threads.json");
  constexpr size_t kThreads = 4;
  {
    const HostSession plain = host.open(squareModel());
    const HostSession session = host.open(squareModel(), {.provider = {{"trace", path}}});
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        wrong += session.run(squareInputs())[0].tensor.reals() != kSquares;
        wrong += plain.run(squareInputs())[0].tensor.reals() != kSquares;
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
  CHECK(eventsOf(readJson(path), "group").size() == kThreads);
}

TEST_CASE("provider trace: a file that cannot be written is refused") {
  const TraceFolder folder;
  const Host host;
  const std::string path = folder.file("none/trace.json");
  const std::string text = refusalOf(host, squareModel(), {.provider = {{"trace", path}}});
  const std::string expected =
      cat("Dimple's option trace is \"", path, "\", which cannot be written: No such file or directory.");
  CHECK_MESSAGE(text.find(expected) != text.npos, text);
  const std::string empty = refusalOf(host, squareModel(), {.provider = {{"trace", ""}}});
  CHECK_MESSAGE(empty.find("Dimple's option trace is \"\", expected a path.") != empty.npos, empty);
}

// What ONNX Runtime's own profile says of kernels.
void checkProfile(const std::string& path, size_t runs) {
  const std::vector<json> kernels = eventsOf(readJson(path), "Kernel");
  if (ort::runtime().apiVersion < 25) {
    CHECK(kernels.empty());
    return;
  }
  const std::string names = textOfNames(kernels);
  CHECK_MESSAGE(names.find("gemm") != names.npos, names);
  CHECK(kernels.size() == 2 * runs);
  for (const json& kernel : kernels) CHECK(kernel.at("args").at("nanoseconds") != "0");
}

TEST_CASE("provider trace: kernels are in ONNX Runtime's own profile of a session") {
  const TraceFolder folder;
  const Host host;
  const OrtApi& api = *ort::runtime().api;
  const HostSession session = host.open(squareModel(), {.profile = folder.file("profile")});
  for (int i = 0; i < 2; ++i) CHECK(session.run(squareInputs())[0].tensor.reals() == kSquares);
  OrtAllocator* allocator = nullptr;
  checkHost(api.GetAllocatorWithDefaultOptions(&allocator));
  char* path = nullptr;
  checkHost(api.SessionEndProfiling(&session.session(), allocator, &path));
  checkProfile(path, 2);
  checkHost(api.AllocatorFree(allocator, path));
  // It goes on without a profiler.
  CHECK(session.run(squareInputs())[0].tensor.reals() == kSquares);
}

TEST_CASE("provider trace: kernels are in ONNX Runtime's own profile of a run") {
  const TraceFolder folder;
  const Host host;
  const OrtApi& api = *ort::runtime().api;
  if (ort::runtime().apiVersion < 25) return;
  const HostSession session = host.open(squareModel());
  CHECK(session.run(squareInputs())[0].tensor.reals() == kSquares);
  Owned<OrtRunOptions> options(api.ReleaseRunOptions);
  checkHost(api.CreateRunOptions(options.put()));
  checkHost(api.RunOptionsEnableProfiling(options.get(), folder.file("run").c_str()));
  const Owned<OrtValue> x = host.upload(squareInputs().at("x"));
  const Owned<OrtValue> y = host.makeOnDevice(Type::Float, {2, 2});
  const char* const inputs[] = {"x"};
  const char* const outputs[] = {"y"};
  const OrtValue* const given = x.get();
  OrtValue* made = y.get();
  checkHost(api.Run(&session.session(), options.get(), inputs, &given, 1, outputs, 1, &made));
  CHECK(host.download(*y.get()).reals() == kSquares);
  const std::vector<std::string> files = folder.files();
  REQUIRE(files.size() == 1);
  checkProfile(files[0], 1);
}

}  // namespace
}  // namespace dimple::testing
