// Pages and traces of what ran: what they say is what the plan and the device say.
#include <doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "clients/files/image.h"
#include "tests/tool/report_page.h"

using dimple::testing::contains;
using dimple::testing::kWithPlots;
using dimple::testing::readText;
using dimple::testing::reportOf;
using dimple::testing::ToolFixture;
using Json = nlohmann::json;

namespace {

Json tensorJson(const std::vector<int>& sizes, const char* type = "FLOAT32") {
  return {{"DataType", type}, {"Sizes", sizes}};
}

Json binaryJson(const std::string& type, const std::vector<int>& sizes) {
  return {
      {"type", type},
      {"desc", {{"ATensor", tensorJson(sizes)}, {"BTensor", tensorJson(sizes)}, {"OutputTensor", tensorJson(sizes)}}}};
}

Json dispatchJson(const std::string& what, const std::string& a, const std::string& b, const std::string& y) {
  return {{"type", "dispatch"},
          {"dispatchable", what},
          {"bindings", {{"ATensor", a}, {"BTensor", b}, {"OutputTensor", y}}}};
}

Json floatsJson(int count) {
  return {{"initialValuesDataType", "FLOAT32"},
          {"initialValues", {{"valueCount", count}, {"valueStart", 1}, {"valueDelta", 1}}}};
}

// (a + b) * b, whose nodes become one, and the product of that with itself. `first`: the name of the first dispatch.
Json programJson(const std::string& first) {
  const std::vector<int> sizes{1, 1, 64, 64};
  Json json;
  for (const char* name : {"a", "b", "sum", "scaled", "product"}) json["resources"][name] = floatsJson(64 * 64);
  json["dispatchables"][first] = binaryJson("ELEMENT_WISE_ADD", sizes);
  json["dispatchables"]["scale"] = binaryJson("ELEMENT_WISE_MULTIPLY", sizes);
  json["dispatchables"]["square"] = {{"type", "GEMM"},
                                     {"desc",
                                      {{"ATensor", tensorJson(sizes)},
                                       {"BTensor", tensorJson(sizes)},
                                       {"OutputTensor", tensorJson(sizes)},
                                       {"TransA", "NONE"},
                                       {"TransB", "NONE"},
                                       {"Alpha", 1},
                                       {"Beta", 0}}}};
  json["commands"] = {dispatchJson(first, "a", "b", "sum"),
                      dispatchJson("scale", "sum", "b", "scaled"),
                      dispatchJson("square", "scaled", "scaled", "product"),
                      {{"type", "print"}, {"resource", "product"}}};
  return json;
}

double sumOf(const Json& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0,
                         [](double sum, const Json& number) { return sum + number.get<double>(); });
}

// No two blocks that are in use at once share a byte, but for a result that lies over what the same dispatch reads
// last. All lie in the resource.
void checkBlocks(const Json& graph) {
  struct Block {
    int first, last;
    int64_t offset, bytes;
  };
  std::vector<Block> blocks;
  for (const Json& block : graph["memory"]["temporaryBlocks"])
    blocks.push_back({block["first"], block["last"], block["offset"], block["bytes"]});
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block& a = blocks[i];
    CHECK(a.offset + a.bytes <= graph["memory"]["temporary"]);
    CHECK(a.first <= a.last);
    CHECK(a.last < static_cast<int>(graph["execution"].size()));
    for (size_t j = 0; j < i; ++j) {
      const Block& b = blocks[j];
      const bool apartInTime = b.last < a.first || a.last < b.first;
      const bool apart = b.offset + b.bytes <= a.offset || a.offset + a.bytes <= b.offset;
      const bool inPlace = a.offset == b.offset && (b.last == a.first || a.last == b.first);
      CHECK((apartInTime || apart || inPlace));
    }
  }
}

// The execution of a report's only graph, and its times.
const Json& timesOf(const Json& report) {
  const auto run = std::ranges::find_if(report["runs"], [](const Json& r) { return !r["initialization"]; });
  REQUIRE(run != report["runs"].end());
  return (*run)["nanoseconds"];
}

}  // namespace

TEST_CASE("tool: a report has what the plan has, and the times of the device") {
  if (!kWithPlots) return;
  const ToolFixture fixture;
  fixture.write("program.json", programJson("add").dump());
  for (const std::string& backend : dimple::testing::toolBackends()) {
    CAPTURE(backend);
    const auto run =
        fixture.run("run program.json --graph --profile --report page.html --trace trace.json --backend " + backend);
    REQUIRE_MESSAGE(run.code == 0, run.err);
    const Json report = reportOf(fixture.folder() / "page.html");
    REQUIRE(report.is_object());
    CHECK(report["backend"] == backend);
    CHECK(report["copy"]["bytesPerSecond"] > 0);
    CHECK(report["others"].empty());
    REQUIRE(report["graphs"].size() == 1);
    const Json& graph = report["graphs"][0];

    const auto plan = fixture.run("plan program.json --graph --backend " + backend);
    const auto& memory = graph["memory"];
    CHECK(
        contains(plan.out, "\ntemporary " + memory["temporary"].dump() + " persistent " + memory["persistent"].dump()));
    size_t at = 0;
    for (const Json& step : graph["execution"]) {
      const auto marker = step["label"].get<std::string>() + ": " + step["kernel"].get<std::string>();
      at = plan.out.find(marker, at);
      CHECK_MESSAGE(at != plan.out.npos, marker);
    }
    checkBlocks(graph);
    REQUIRE(!memory["temporaryBlocks"].empty());

    const Json& times = timesOf(report);
    REQUIRE(times.size() == graph["execution"].size());
    for (const Json& time : times) CHECK(time > 0);
    double end = 0;
    for (const Json& executed : report["runs"])
      for (size_t d = 0; d < executed["begins"].size(); ++d) {
        CHECK(executed["begins"][d] >= end);
        end = executed["begins"][d].get<double>() + executed["nanoseconds"][d].get<double>();
      }
    // The last row of --profile: "all  3  0.123  0.041  100.0 %"
    const std::string all = run.out.substr(run.out.find("\nall ") + 5);
    std::string count, total;
    std::istringstream(all) >> count >> total;
    CHECK(count == std::to_string(times.size()));
    CHECK(std::fabs(std::stod(total) - sumOf(times) / 1e6) < 0.001);
  }
}

TEST_CASE("tool: a report says which nodes became one, and what flows between them") {
  if (!kWithPlots) return;
  const ToolFixture fixture;
  fixture.write("program.json", programJson("add").dump());
  const auto run = fixture.run("run program.json --graph --report page.html");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const Json report = reportOf(fixture.folder() / "page.html");
  const Json& graph = report["graphs"][0];
  const Json& before = graph["before"]["nodes"];
  const Json& after = graph["after"]["nodes"];
  REQUIRE(before.size() == 3);
  CHECK(before[0]["label"] == "add (ELEMENT_WISE_ADD)");
  REQUIRE(after.size() == 2);
  CHECK(before[0]["into"] == before[1]["into"]);
  CHECK(before[2]["into"] != before[1]["into"]);
  const Json& fused = after[before[0]["into"].get<size_t>()];
  CHECK(fused["label"] == "add (ELEMENT_WISE_ADD) with scale (ELEMENT_WISE_MULTIPLY)");
  CHECK(fused["from"] == Json{0, 1});
  for (const Json& pass : graph["passes"]) {
    const bool chains = pass["name"] == "chains";
    CHECK(pass["before"] == (chains ? 3 : pass["after"].get<int>()));
    if (chains) CHECK(pass["after"] == 2);
  }
  std::multiset<std::string> edges;
  for (const Json& edge : graph["before"]["edges"])
    edges.insert((edge.contains("input") ? edge["input"].get<std::string>() : edge["from"].dump()) + ">" +
                 (edge.contains("output") ? edge["output"].get<std::string>() : edge["to"].dump()));
  CHECK(edges == std::multiset<std::string>{"a>0", "b>0", "0>1", "b>1", "1>2", "1>2", "2>product"});
  // A product of 64 rows: each reads twice 16 KiB at least, and writes it.
  const Json& product = graph["execution"].back();
  CHECK(product["bytesWritten"] == 64 * 64 * 4);
  CHECK(product["bytesRead"] >= 64 * 64 * 4);
  REQUIRE(report["tensors"].size() == 3);
  CHECK(report["tensors"][0]["name"] == "a");
  CHECK(report["tensors"][0]["least"] == 1);
  CHECK(report["tensors"][0]["greatest"] == 4096);
  CHECK(report["tensors"][2]["name"] == "product");
  CHECK(report["tensors"][2]["role"] == "output");
}

TEST_CASE("tool: a trace has an event for each dispatch, when it ran, and the memory in use") {
  const ToolFixture fixture;
  fixture.write("program.json", programJson("add").dump());
  const auto run = fixture.run("run program.json --graph --trace trace.json");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const Json trace = Json::parse(readText(fixture.folder() / "trace.json"));
  std::vector<std::string> names;
  double end = 0;
  double mostBytes = 0, lastBytes = -1;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "C") {
      lastBytes = event["args"]["bytes"];
      mostBytes = std::max(mostBytes, lastBytes);
    }
    if (event["ph"] != "X" || event["tid"] != 2) continue;
    CHECK(event["ts"] >= end - 1e-3);
    end = event["ts"].get<double>() + event["dur"].get<double>();
    names.push_back(event["name"]);
  }
  REQUIRE(names.size() >= 2);
  CHECK(names.front() == "add (ELEMENT_WISE_ADD) with scale (ELEMENT_WISE_MULTIPLY)");
  CHECK(names.back() == "square (GEMM)");
  CHECK(mostBytes >= 64 * 64 * 4);
  CHECK(lastBytes == 0);
}

TEST_CASE("tool: a trace has the time in which the device waits") {
  const ToolFixture fixture;
  Json json = programJson("add");
  // What is printed between dispatches separates their submissions.
  json["commands"].insert(json["commands"].begin() + 1, Json{{"type", "print"}, {"resource", "sum"}});
  fixture.write("program.json", json.dump());
  for (const std::string& backend : dimple::testing::toolBackends()) {
    CAPTURE(backend);
    const auto run = fixture.run("run program.json --trace trace.json --backend " + backend);
    REQUIRE_MESSAGE(run.code == 0, run.err);
    const Json trace = Json::parse(readText(fixture.folder() / "trace.json"));
    double end = 0, waited = 0;
    size_t dispatches = 0;
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] != "X") continue;
      const double begin = event["ts"], duration = event["dur"];
      if (event["tid"] != 2) continue;
      if (dispatches++ > 0) waited = std::max(waited, begin - end);
      end = begin + duration;
    }
    // 4,096 numbers are read back and printed: that takes more than 20 microseconds.
    CHECK(waited > 20);
    CHECK(dispatches == 3);
  }
}

TEST_CASE("tool: a report of dispatches one by one, with pictures and hostile names") {
  if (!kWithPlots) return;
  const ToolFixture fixture;
  dimple::tool::Image image{24, 16, 3, {}};
  for (size_t i = 0; i < size_t{24} * 16 * 3; ++i) image.pixels.push_back(static_cast<uint8_t>(i * 7));
  dimple::tool::writeImage(fixture.folder() / "in.png", image);
  const std::string hostile = "</script><b>\"";
  Json json;
  json["resources"]["in"] = {{"initialValuesDataType", "UINT8"}, {"initialValues", {{"sourcePath", "in.png"}}}};
  json["resources"]["out"] = {{"initialValuesDataType", "UINT8"}, {"sizeInBytes", 24 * 16 * 3}};
  const std::vector<int> sizes{1, 16, 24, 3};
  json["dispatchables"][hostile] = {
      {"type", "ELEMENT_WISE_IDENTITY"},
      {"desc", {{"InputTensor", tensorJson(sizes, "UINT8")}, {"OutputTensor", tensorJson(sizes, "UINT8")}}}};
  json["commands"] = {
      {{"type", "dispatch"}, {"dispatchable", hostile}, {"bindings", {{"InputTensor", "in"}, {"OutputTensor", "out"}}}},
      {{"type", "writeFile"},
       {"resource", "out"},
       {"targetPath", "out.png"},
       {"width", 24},
       {"height", 16},
       {"channels", 3}}};
  fixture.write("program.json", json.dump());
  const auto run = fixture.run("run program.json --report page.html");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  CHECK_FALSE(contains(readText(fixture.folder() / "page.html"), "</script><b>"));
  const Json report = reportOf(fixture.folder() / "page.html");
  REQUIRE(report.is_object());
  const Json& graph = report["graphs"][0];
  CHECK_FALSE(graph.contains("after"));
  CHECK(graph["before"]["nodes"][0]["label"] == hostile + " (ELEMENT_WISE_IDENTITY)");
  CHECK(timesOf(report).size() == graph["execution"].size());
  REQUIRE(report["tensors"].size() == 2);
  for (const Json& shown : report["tensors"]) {
    REQUIRE(shown.contains("picture"));
    CHECK(shown["picture"]["width"] == 24);
    CHECK(shown["picture"]["height"] == 16);
    CHECK(shown["picture"]["source"].get<std::string>().starts_with("data:image/png;base64,iVBORw0KGgo"));
  }
  // What is copied looks the same.
  CHECK(report["tensors"][0]["picture"]["source"] == report["tensors"][1]["picture"]["source"]);
}

TEST_CASE("tool: a report shows as pictures the tensors that are pictures, and no others") {
  if (!kWithPlots) return;
  const ToolFixture fixture;
  Json json;
  // `elements` of a picture whose channels lie side by side, or each in a plane of its own.
  const auto add = [&](const std::string& name, const std::vector<int>& sizes, size_t channels, bool planar,
                       const char* type = "UINT8", double factor = 1, double summand = 0) {
    const auto count = std::accumulate(sizes.begin(), sizes.end(), size_t{1}, std::multiplies<>());
    const size_t pixels = count / channels;
    Json values = Json::array();
    for (size_t i = 0; i < count; ++i) {
      const size_t pixel = planar ? i % pixels : i / channels, channel = planar ? i / pixels : i % channels;
      values.push_back(static_cast<double>(pixel == 0   ? 0
                                           : pixel == 1 ? 255
                                                        : (pixel * 7 + channel * 50) % 256) *
                           factor +
                       summand);
    }
    if (std::string(type) == "UINT8")
      for (Json& value : values) value = static_cast<int>(value.get<double>());
    json["resources"][name] = {{"initialValuesDataType", type}, {"initialValues", values}};
    json["resources"][name + "_out"] = json["resources"][name];
    json["dispatchables"]["copy " + name] = {
        {"type", "ELEMENT_WISE_IDENTITY"},
        {"desc", {{"InputTensor", tensorJson(sizes, type)}, {"OutputTensor", tensorJson(sizes, type)}}}};
    json["commands"].push_back({{"type", "dispatch"},
                                {"dispatchable", "copy " + name},
                                {"bindings", {{"InputTensor", name}, {"OutputTensor", name + "_out"}}}});
    json["commands"].push_back({{"type", "print"}, {"resource", name + "_out"}});
  };
  add("planes3", {1, 3, 16, 24}, 3, true);
  add("planes4", {4, 16, 24}, 4, true);
  add("plane", {1, 1, 16, 24}, 1, true);
  add("pixels3", {1, 16, 24, 3}, 3, false);
  add("pixels4", {1, 16, 24, 4}, 4, false);
  add("pixels1", {1, 16, 24, 1}, 1, false);
  add("unit", {1, 3, 16, 24}, 3, true, "FLOAT32", 1 / 255.0);
  add("signed", {1, 3, 16, 24}, 3, true, "FLOAT32", 2 / 255.0, -1);
  add("planes2", {1, 2, 16, 24}, 2, true);
  add("planes5", {1, 5, 16, 24}, 5, true);
  add("batch", {2, 3, 16, 24}, 3, true);
  add("low", {1, 3, 15, 24}, 3, true);
  add("narrow", {1, 3, 24, 15}, 3, true);
  add("matrix", {16, 24}, 1, true);
  fixture.write("program.json", json.dump());
  const auto run = fixture.run("run program.json --report page.html");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const Json report = reportOf(fixture.folder() / "page.html");
  std::map<std::string, Json> pictures;
  for (const Json& shown : report["tensors"])
    if (shown.contains("picture")) pictures[shown["name"]] = shown["picture"];
  std::set<std::string> names;
  for (const auto& entry : pictures) {
    CAPTURE(entry.first);
    names.insert(entry.first);
    CHECK(entry.second["width"] == 24);
    CHECK(entry.second["height"] == 16);
  }
  std::set<std::string> expected;
  for (const char* name : {"planes3", "planes4", "plane", "pixels3", "pixels4", "pixels1", "unit", "signed"}) {
    expected.insert(name);
    expected.insert(std::string(name) + "_out");
  }
  REQUIRE(names == expected);
  // The same picture, however its channels lie and whatever stands for white.
  const auto same = [&](const char* one, const char* other) {
    CHECK_MESSAGE(pictures[one]["source"] == pictures[other]["source"], one, " and ", other);
  };
  same("planes3", "pixels3");
  same("planes4", "pixels4");
  same("plane", "pixels1");
  same("planes3", "unit");
  same("planes3", "signed");
  CHECK(pictures["planes3"]["source"] != pictures["planes4"]["source"]);
  CHECK(pictures["planes3"]["white"] == 255);
  CHECK(pictures["unit"]["white"] == 1);
  CHECK(pictures["signed"]["black"] == -1);
}

TEST_CASE("tool: reports that cannot be are refused before anything runs") {
  const ToolFixture fixture;
  fixture.write("program.json", programJson("add").dump());
  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const auto outcome = fixture.run("run program.json " + arguments);
    CHECK(outcome.code != 0);
    CHECK_MESSAGE(contains(outcome.err, part), outcome.err);
    CHECK(outcome.out == "");
  };
  refused("--trace none/trace.json", "The folder of --trace none/trace.json does not exist, expected one that does.");
  refused("--trace t.json --compare vulkan,d3d12", "--trace excludes --compare");
  if (kWithPlots)
    refused("--report none/page.html", "The folder of --report none/page.html does not exist, expected one that does.");
  else
    refused("--report page.html",
            "--report needs d3 and dagre, which this build was made without; tools/setup.sh --report");
}

TEST_CASE("tool: bench writes a page with a bar for each case") {
  const ToolFixture fixture;
  const auto run = fixture.run(
      "bench --rows 64 --columns 64 --iterations 1 --repeat 1 --memory-only --only 'add f32, B one row' --report "
      "page.html");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const std::string page = readText(fixture.folder() / "page.html");
  CHECK(contains(page, "<td>add f32, B one row</td>"));
  CHECK(contains(page, "tensors of 64 x 64 elements"));
  CHECK(contains(page, "<i style=\"width:100.0%\">"));  // the copy
  CHECK(page.find("<script") == page.npos);
}
