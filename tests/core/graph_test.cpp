// Which graphs are refused, and in which words. What the DML_GRAPH_DESC page leaves open was asked of DirectML 1.15.4.
#include <doctest.h>

#include <array>

#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

constexpr const char* kCopy = "ELEMENT_WISE_IDENTITY InputTensor=f32[4] OutputTensor=f32[4]";
constexpr const char* kCopyFive = "ELEMENT_WISE_IDENTITY InputTensor=f32[5] OutputTensor=f32[5]";
constexpr const char* kCopyBytes = "ELEMENT_WISE_IDENTITY InputTensor=u8[16] OutputTensor=u8[16]";
constexpr const char* kCopyOwned = "ELEMENT_WISE_IDENTITY InputTensor=f32[4]! OutputTensor=f32[4]";
constexpr const char* kAddFour = "ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4] OutputTensor=f32[4]";
constexpr const char* kAddOwned = "ELEMENT_WISE_ADD ATensor=f32[4] BTensor=f32[4]! OutputTensor=f32[4]";
constexpr const char* kTopK =
    "TOP_K InputTensor=f32[1,1,1,4] OutputValueTensor=f32[1,1,1,4] OutputIndexTensor=u32[1,1,1,4] Axis=3 K=4";
constexpr const char* kGemm =
    "GEMM ATensor=f32[1,1,2,2] BTensor=f32[1,1,2,2] OutputTensor=f32[1,1,2,2] TransA=NONE TransB=NONE Alpha=1 Beta=0";

constexpr std::array<float, 5> kValues{1, 2, 3, 4, 5};

// One copy from an input to an output of the graph.
struct Copy : GraphBuilder {
  Copy() {
    op(kCopy, "only");
    input(0, 0);
    output(0, 0);
  }
};

TEST_CASE("graphs: arrays and their counts") {
  CHECK(Copy().refusal() == "");
  CHECK(GraphBuilder().refusal() == "NodeCount has value (0), expected at least 1.");
  for (const auto& [change, text] : std::initializer_list<std::pair<void (*)(DML_GRAPH_DESC&), const char*>>{
           {[](DML_GRAPH_DESC& d) { d.Nodes = nullptr; }, "Nodes is null, expected 1 elements."},
           {[](DML_GRAPH_DESC& d) { d.InputEdges = nullptr; }, "InputEdges is null, expected 1 elements."},
           {[](DML_GRAPH_DESC& d) { d.OutputEdges = nullptr; }, "OutputEdges is null, expected 1 elements."},
           {[](DML_GRAPH_DESC& d) { d.IntermediateEdgeCount = 2, d.IntermediateEdges = nullptr; },
            "IntermediateEdges is null, expected 2 elements."},
           {[](DML_GRAPH_DESC& d) { d.InputCount = 0xffffffff; },
            "InputCount has value (4294967295), expected at most 65536."},
           {[](DML_GRAPH_DESC& d) { d.OutputCount = 65537; },
            "OutputCount has value (65537), expected at most 65536."}}) {
    const Copy graph;
    DML_GRAPH_DESC desc = graph.desc();
    change(desc);
    const auto read = parseGraph(desc, graph.find());
    REQUIRE(!read);
    CHECK(read.error().text == text);
  }
  Copy unused;
  unused.inputs = unused.outputs = 7;
  const auto graph = unused.read();
  REQUIRE(graph);
  CHECK(graph->inputs().size() == 7);
  CHECK(graph->outputs().size() == 7);
}

TEST_CASE("graphs: nodes") {
  const auto with = [](DML_GRAPH_NODE_TYPE type, const void* desc) {
    Copy graph;
    graph.node(type, desc);
    return graph.refusal();
  };
  CHECK(with(DML_GRAPH_NODE_TYPE_INVALID, &kValues) ==
        "Nodes[1] has Type (0), expected DML_GRAPH_NODE_TYPE_OPERATOR (1) or DML_GRAPH_NODE_TYPE_CONSTANT (2).");
  CHECK(with(static_cast<DML_GRAPH_NODE_TYPE>(3), &kValues) ==
        "Nodes[1] has Type (3), expected DML_GRAPH_NODE_TYPE_OPERATOR (1) or DML_GRAPH_NODE_TYPE_CONSTANT (2).");
  CHECK(with(DML_GRAPH_NODE_TYPE_OPERATOR, nullptr) == "Nodes[1] has a null Desc.");
  const DML_OPERATOR_GRAPH_NODE_DESC foreign{nullptr, "foreign"};
  CHECK(with(DML_GRAPH_NODE_TYPE_OPERATOR, &foreign) == "Nodes[1]: Operator is not a live Dimple operator.");
  const DML_CONSTANT_DATA_GRAPH_NODE_DESC noData{nullptr, 16, "weights"};
  CHECK(with(DML_GRAPH_NODE_TYPE_CONSTANT, &noData) ==
        "Nodes[1] (weights, constant) has a null Data, expected 16 bytes.");
  const DML_CONSTANT_DATA_GRAPH_NODE_DESC empty{kValues.data(), 0, nullptr};
  CHECK(with(DML_GRAPH_NODE_TYPE_CONSTANT, &empty) == "Nodes[1] (constant) has DataSize (0), expected at least 1.");
  // DirectML refuses it, too.
  const DML_CONSTANT_DATA_GRAPH_NODE_DESC unused{kValues.data(), 16, "unused"};
  CHECK(with(DML_GRAPH_NODE_TYPE_CONSTANT, &unused) ==
        "Nodes[1] (unused, constant) has no edge from its outputs, expected at least one.");
}

TEST_CASE("graphs: ends of edges") {
  const auto with = [](const auto& change) {
    Copy graph;
    change(graph);
    return graph.refusal();
  };
  CHECK(with([](Copy& g) { g.input(1000, 0, 0, "x"); }) ==
        "InputEdges[1] (\"x\") has GraphInputIndex (1000), expected less than 1, the number of graph inputs.");
  CHECK(with([](Copy& g) { g.input(0, 1); }) ==
        "InputEdges[1] has ToNodeIndex (1), expected less than 1, the number of nodes.");
  CHECK(with([](Copy& g) { g.input(0, 0, 1); }) ==
        "InputEdges[1] has ToNodeInputIndex (1), expected less than 1, the number of inputs of Nodes[0] (only, "
        "ELEMENT_WISE_IDENTITY).");
  CHECK(with([](Copy& g) { g.input(0, 0); }) ==
        "InputEdges[1] leads to InputTensor of Nodes[0] (only, ELEMENT_WISE_IDENTITY), expected an input without "
        "another edge.");
  CHECK(with([](Copy& g) { g.output(1, 0, 0, "y"); }) ==
        "OutputEdges[1] (\"y\") has FromNodeIndex (1), expected less than 1, the number of nodes.");
  CHECK(with([](Copy& g) { g.output(0, 0, 1); }) ==
        "OutputEdges[1] has FromNodeOutputIndex (1), expected less than 1, the number of outputs of Nodes[0] (only, "
        "ELEMENT_WISE_IDENTITY).");
  CHECK(with([](Copy& g) { g.output(0, 1000); }) ==
        "OutputEdges[1] has GraphOutputIndex (1000), expected less than 1, the number of graph outputs.");
  CHECK(with([](Copy& g) { g.edge(0, 1); }) ==
        "IntermediateEdges[0] has ToNodeIndex (1), expected less than 1, the number of nodes.");
  CHECK(with([](Copy& g) { g.edge(1, 0); }) ==
        "IntermediateEdges[0] has FromNodeIndex (1), expected less than 1, the number of nodes.");
  CHECK(with([](Copy& g) { g.edge(0, g.op(kCopy), 0, 1); }) ==
        "IntermediateEdges[0] has FromNodeOutputIndex (1), expected less than 1, the number of outputs of Nodes[0] "
        "(only, ELEMENT_WISE_IDENTITY).");
  CHECK(with([](Copy& g) {
          const UINT constant = g.constant(kValues.data(), 16);
          g.output(constant, 1);
          g.edge(0, constant);
        }) ==
        "IntermediateEdges[0] has ToNodeInputIndex (0), expected less than 0, the number of inputs of Nodes[1] "
        "(constant).");

  const auto withEdges = [](DML_GRAPH_DESC desc, DML_GRAPH_EDGE_DESC edge, auto member) {
    const Copy graph;
    const DML_GRAPH_DESC good = graph.desc();
    desc = good;
    desc.*member = &edge;
    const auto read = parseGraph(desc, graph.find());
    return read ? std::string() : read.error().text;
  };
  const DML_INPUT_GRAPH_EDGE_DESC input{};
  const DML_OUTPUT_GRAPH_EDGE_DESC output{};
  CHECK(withEdges({}, {DML_GRAPH_EDGE_TYPE_INPUT, &input}, &DML_GRAPH_DESC::InputEdges) == "");
  CHECK(withEdges({}, {DML_GRAPH_EDGE_TYPE_OUTPUT, &input}, &DML_GRAPH_DESC::InputEdges) ==
        "InputEdges[0] has Type (2), expected 1.");
  CHECK(withEdges({}, {DML_GRAPH_EDGE_TYPE_INPUT, nullptr}, &DML_GRAPH_DESC::InputEdges) ==
        "InputEdges[0] has a null Desc.");
  CHECK(withEdges({}, {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &output}, &DML_GRAPH_DESC::OutputEdges) ==
        "OutputEdges[0] has Type (3), expected 2.");
}

TEST_CASE("graphs: what must be connected") {
  {
    GraphBuilder graph;  // an input without an edge
    graph.op(kAddFour, "sum");
    graph.input(0, 0, 0);
    graph.output(0, 0);
    CHECK(graph.refusal() == "BTensor of Nodes[0] (sum, ELEMENT_WISE_ADD) has no edge, expected one.");
    graph.input(0, 0, 1);
    CHECK(graph.refusal() == "");
  }
  {
    GraphBuilder graph;  // an optional input that the operator lacks
    graph.op(kGemm);
    graph.input(0, 0, 0);
    graph.input(1, 0, 1);
    graph.output(0, 0);
    CHECK(graph.refusal() == "");
    graph.input(1, 0, 2);
    CHECK(graph.refusal() ==
          "InputEdges[2] leads to CTensor of Nodes[0] (GEMM), expected an input that the operator was created with.");
  }
  {
    GraphBuilder graph;  // a node that nothing takes from
    graph.op(kCopy);
    graph.op(kCopy, "idle");
    graph.input(0, 0);
    graph.input(0, 1);
    graph.output(0, 0);
    CHECK(graph.refusal() ==
          "Nodes[1] (idle, ELEMENT_WISE_IDENTITY) has no edge from its outputs, expected at least one.");
  }
  {
    GraphBuilder graph;  // one of two outputs suffices
    graph.op(kTopK);
    graph.input(0, 0);
    graph.output(0, 0);
    CHECK(graph.refusal() == "");
  }
}

TEST_CASE("graphs: connected tensors have as many bytes, and may differ otherwise") {
  const auto chain = [](const char* first, const char* second) {
    GraphBuilder graph;
    graph.op(first, "a");
    graph.op(second, "b");
    graph.input(0, 0);
    graph.edge(0, 1, 0, 0, "link");
    graph.output(1, 0);
    return graph.refusal();
  };
  CHECK(chain(kCopy, kCopy) == "");
  CHECK(chain(kCopy, kCopyBytes) == "");
  CHECK(chain(kCopy, kCopyFive) ==
        "IntermediateEdges[0] (\"link\"): OutputTensor of Nodes[0] (a, ELEMENT_WISE_IDENTITY) has "
        "TotalTensorSizeInBytes (16), expected that of InputTensor of Nodes[1] (b, ELEMENT_WISE_IDENTITY) (20).");
  CHECK(chain(kCopy, kCopyOwned) ==
        "IntermediateEdges[0] (\"link\") leads to InputTensor of Nodes[1] (b, ELEMENT_WISE_IDENTITY), which has Flags "
        "(OWNED_BY_DML), expected an edge from a graph input.");

  // A graph input may lead to tensors of different sizes; it is bound with the largest.
  GraphBuilder graph;
  graph.op(kCopy);
  graph.op(kCopyFive);
  graph.input(0, 0);
  graph.input(0, 1);
  graph.output(0, 0);
  graph.output(1, 1);
  CHECK(graph.refusal() == "");
  CHECK(graph.plan().inputs[0].bytes == 20);

  const auto constant = [](size_t bytes) {
    GraphBuilder g;
    const UINT node = g.constant(kValues.data(), bytes, "c");
    g.edge(node, g.op(kCopy));
    g.output(1, 0);
    return g.refusal();
  };
  CHECK(constant(16) == "");
  CHECK(constant(20) == "");
  CHECK(constant(13) == "");  // with what fills the last word
  CHECK(constant(12) ==
        "IntermediateEdges[0]: Nodes[0] (c, constant) has DataSize (12), expected at least 16, what InputTensor of "
        "Nodes[1] (ELEMENT_WISE_IDENTITY) spans.");
}

TEST_CASE("graphs: an input is owned by DML for all it leads to, or for none") {
  GraphBuilder graph;
  graph.op(kAddOwned, "sum");
  graph.input(0, 0, 0);
  graph.input(1, 0, 1);
  graph.output(0, 0);
  CHECK(graph.refusal() == "");
  graph.op(kCopyOwned, "copy");
  graph.input(1, 1);
  graph.output(1, 1);
  CHECK(graph.refusal() == "");
  graph.op(kCopyOwned);
  graph.input(0, 2);
  graph.output(2, 2);
  CHECK(graph.refusal() ==
        "Graph input 0 leads to ATensor of Nodes[0] (sum, ELEMENT_WISE_ADD) and InputTensor of Nodes[2] "
        "(ELEMENT_WISE_IDENTITY), expected OWNED_BY_DML in the Flags of both or of neither.");
}

TEST_CASE("graphs: no cycles") {
  {
    GraphBuilder graph;
    graph.op(kAddFour, "loop");
    graph.input(0, 0, 0);
    graph.edge(0, 0, 1);
    graph.output(0, 0);
    CHECK(graph.refusal() ==
          "Nodes[0] (loop, ELEMENT_WISE_ADD) depends on its own outputs, expected a graph without cycles.");
  }
  {
    // A cycle that the start does not lie on, behind a node that waits for it.
    GraphBuilder graph;
    graph.op(kCopy, "behind");
    graph.op(kAddFour, "first");
    graph.op(kCopy, "second");
    graph.input(0, 1, 0);
    graph.edge(1, 2);
    graph.edge(2, 1, 1);
    graph.edge(2, 0);
    graph.output(0, 0);
    const std::string refusal = graph.refusal();
    CHECK((refusal.starts_with("Nodes[1] (first, ") || refusal.starts_with("Nodes[2] (second, ")));
  }
  {
    GraphBuilder graph;  // an edge from a later node is none
    graph.op(kCopy);
    graph.op(kCopy);
    graph.input(0, 1);
    graph.edge(1, 0);
    graph.output(0, 0);
    CHECK(graph.refusal() == "");
  }
}

TEST_CASE("graphs: the last of several edges to an output of the graph counts") {
  GraphBuilder graph;
  graph.op(kCopy);
  graph.op(kCopyFive);
  graph.input(0, 0);
  graph.input(1, 1);
  graph.output(0, 0);
  graph.output(1, 0);
  const auto read = graph.read();
  REQUIRE(read);
  CHECK(read->outputs()[0] == &read->nodes().back().outputs()[0]);
  CHECK(graph.plan().outputs[0].bytes == 20);
}

}  // namespace
}  // namespace dimple::testing
