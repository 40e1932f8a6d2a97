#include <doctest.h>

#include "tests/tool/tool_fixture.h"

using dimple::testing::contains;
using dimple::testing::ToolFixture;

namespace {

std::string binary(const std::string& type) {
  const std::string tensor = R"({ "DataType": "FLOAT32", "Sizes": [2] })";
  return R"({ "type": ")" + type + R"(", "desc": { "ATensor": )" + tensor + R"(, "BTensor": )" + tensor +
         R"(, "OutputTensor": )" + tensor + "} }";
}

std::string dispatch(const std::string& what, const std::string& a, const std::string& b, const std::string& y) {
  return R"({ "type": "dispatch", "dispatchable": ")" + what + R"(", "bindings": { "ATensor": ")" + a +
         R"(", "BTensor": ")" + b + R"(", "OutputTensor": ")" + y + R"(" } })";
}

std::string model(const std::string& commands) {
  return R"({ "resources": {
    "x": { "initialValuesDataType": "FLOAT32", "initialValues": [1, 2] },
    "sum": { "initialValuesDataType": "FLOAT32", "initialValues": [0, 0] },
    "square": { "initialValuesDataType": "FLOAT32", "initialValues": [0, 0] },
    "result": { "initialValuesDataType": "FLOAT32", "initialValues": [0, 0] } },
    "dispatchables": { "add": )" +
         binary("ELEMENT_WISE_ADD") + R"(, "multiply": )" + binary("ELEMENT_WISE_MULTIPLY") + R"(},
    "commands": [)" +
         commands + "] }";
}

}  // namespace

TEST_CASE("tool: dispatches that follow each other run as one graph") {
  const ToolFixture fixture;
  const std::string chain = dispatch("add", "x", "x", "sum") + "," + dispatch("multiply", "sum", "x", "square") + "," +
                            dispatch("add", "square", "sum", "result") + R"(, { "type": "print", "resource": "result" },
                              { "type": "print", "resource": "sum" }, )";
  fixture.write("model.json", model(chain + dispatch("add", "result", "x", "result") +
                                    R"(, { "type": "print", "resource": "square" })"));
  const auto alone = fixture.run("run model.json");
  CHECK(contains(alone.out, "Resource 'square': 2, 8"));
  // The second graph reads and writes one buffer.
  const auto refused = fixture.run("run model.json --graph");
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "writes to result what the graph reads as it was before"));

  fixture.write("model.json", model(chain + dispatch("add", "result", "x", "square") +
                                    R"(, { "type": "print", "resource": "square" })"));
  const auto graph = fixture.run("run model.json --graph");
  REQUIRE_MESSAGE(graph.code == 0, graph.err);
  CHECK(contains(graph.out, "Resource 'result': 4, 12\n"));
  CHECK(contains(graph.out, "Resource 'sum': 2, 4\n"));
  CHECK(contains(graph.out, "Resource 'square': 5, 14\n"));
  CHECK(contains(graph.out, "Compiled 2 graphs"));
  const auto plan = fixture.run("plan model.json --graph --caps default --options chains=0");
  REQUIRE_MESSAGE(plan.code == 0, plan.err);
  CHECK(contains(plan.out, "# graph of 3 nodes: 3 dispatches, 2 barriers, 72 bytes bound\n"));
  CHECK(contains(plan.out, "# graph of 1 nodes: 1 dispatch, 0 barriers, 24 bytes bound\n"));
  CHECK(contains(plan.out, "multiply (ELEMENT_WISE_MULTIPLY): binary_packed.f32"));
  const auto chained = fixture.run("plan model.json --graph --caps default --options estimates=0");
  REQUIRE_MESSAGE(chained.code == 0, chained.err);
  CHECK(contains(chained.out, "# graph of 3 nodes: 2 dispatches, 1 barrier, "));
  CHECK(contains(chained.out, "add (ELEMENT_WISE_ADD) with multiply (ELEMENT_WISE_MULTIPLY): chain "));
}

TEST_CASE("tool: a graph reads and writes disjoint ranges of one buffer") {
  const ToolFixture fixture;
  const auto at = [](int element) { return R"({ "name": "x", "elementOffset": )" + std::to_string(element) + " }"; };
  const auto dispatchOf = [&](int from, int to) {
    return R"({ "type": "dispatch", "dispatchable": "add", "bindings": { "ATensor": )" + at(from) + R"(, "BTensor": )" +
           at(from) + R"(, "OutputTensor": )" + at(to) + " } }";
  };
  fixture.write("model.json", R"({ "resources": {
    "x": { "initialValuesDataType": "FLOAT32", "initialValues": { "valueCount": 12, "valueStart": 0, "valueDelta": 1 } } },
    "dispatchables": { "add": )" + binary("ELEMENT_WISE_ADD") +
                                  R"(},
    "commands": [)" + dispatchOf(0, 4) +
                                  "," + dispatchOf(4, 8) + R"(, { "type": "print", "resource": "x" }] })");
  for (const char* options : {"", "--graph"}) {
    const auto outcome = fixture.run(std::string("run model.json ") + options);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    CHECK_MESSAGE(contains(outcome.out, "Resource 'x': 0, 1, 2, 3, 0, 2, 6, 7, 0, 4, 10, 11\n"), outcome.out);
  }
  const auto dot = fixture.run("plan model.json --graph --dot --caps default");
  REQUIRE_MESSAGE(dot.code == 0, dot.err);
  CHECK(contains(dot.out, "n0 [label=\"add (ELEMENT_WISE_ADD)\"];"));
  CHECK(contains(dot.out, "n0 -> n1;"));
  CHECK(contains(dot.out, "n1 -> out"));
}
