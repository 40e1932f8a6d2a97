// Which element-wise nodes of graphs come to stand in chains.
#include <doctest.h>

#include <algorithm>

#include "core/ops/chain.h"
#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

const std::string kSmall = "[2,3,5]";
const std::string kLarge = "[16384,4096]";  // what `dimple bench` measures

// Where inputs of nodes come from: in(0) is the first input of the graph.
struct From {
  bool isNode;
  UINT index;
};
From in(UINT index) { return {false, index}; }
From node(UINT index) { return {true, index}; }

struct Nodes : GraphBuilder {
  explicit Nodes(std::string_view of, std::string_view shape = kLarge) : type(of), sizes(shape) {}

  std::string type, sizes;

  std::string tensor() const { return type + sizes; }
  UINT add(const std::string& line, std::initializer_list<From> from) {
    const UINT made = op(line);
    connect(made, from);
    return made;
  }
  UINT unary(const std::string& name, From from, const std::string& attributes = "") {
    return add(cat(name, " InputTensor=", tensor(), " OutputTensor=", tensor(), attributes), {from});
  }
  UINT scaled(const std::string& name, From from) { return unary("ELEMENT_WISE_" + name, from, " ScaleBias=[0.5,2]"); }
  UINT binary(const std::string& name, From a, From b, const std::string& strides = "") {
    return add(
        cat("ELEMENT_WISE_", name, " ATensor=", tensor(), " BTensor=", tensor(), strides, " OutputTensor=", tensor()),
        {a, b});
  }
  UINT cast(const std::string& to, From from) {
    const std::string before = tensor();
    type = to;
    return add(cat("CAST InputTensor=", before, " OutputTensor=", tensor()), {from});
  }

  // The operators of the rewritten graph: names of single ones, "chain of N" of the others.
  std::vector<std::string> rewritten(std::string_view without = "", const Caps& caps = {}) const {
    const Target target(caps, optionsWithout(cat("constants,weights,views,", without)));
    Graph made = GraphBuilder::rewritten(target);
    std::vector<std::string> operators;
    for (const Node& n : made.nodes()) {
      if (!n.op) {
        operators.emplace_back("constant");
      } else if (n.op->schema().type != DML_OPERATOR_INVALID) {
        operators.emplace_back(n.op->schema().name);
      } else {
        size_t members = 1;
        for (size_t at = n.name.find(" with "); at != n.name.npos; at = n.name.find(" with ", at + 1)) ++members;
        operators.push_back(cat("chain of ", members));
      }
    }
    const auto planned = planGraph(made, target);
    CHECK_MESSAGE(planned, planned.error().text);
    return operators;
  }

 private:
  void connect(UINT made, std::initializer_list<From> from) {
    UINT index = 0;
    for (const From& source : from) {
      if (source.isNode)
        edge(source.index, made, index++);
      else
        input(source.index, made, index++);
    }
  }
};

using Names = std::vector<std::string>;

// Everything that can stand in a chain.
constexpr std::string_view kAll = "activations,estimates";

TEST_CASE("graph chains: nodes that hand tensors on as they are") {
  Nodes graph("f32", kSmall);
  graph.binary("MULTIPLY", in(0), in(1));
  graph.binary("ADD", node(0), in(2));
  graph.unary("ACTIVATION_RELU", node(1));
  graph.output(2, 0);
  CHECK(graph.rewritten(kAll) == Names{"chain of 3"});
  CHECK(graph.rewritten("chains").size() == 3);
  CHECK(graph.rewritten("estimates") == Names{"chain of 3"});
}

TEST_CASE("graph chains: a tensor that is taken otherwise than it was made ends one") {
  for (const char* taken : {"f32[5,3,2]", "f32[2,3,5]{1,2,6}", "f32[30]"}) {
    CAPTURE(taken);
    Nodes graph("f32", kSmall);
    graph.unary("ELEMENT_WISE_ABS", in(0));
    graph.add(cat("ELEMENT_WISE_SQRT InputTensor=", taken,
                  " OutputTensor=", std::string(taken).substr(0, std::string(taken).find('{'))),
              {node(0)});
    graph.output(1, 0);
    CHECK(graph.rewritten(kAll).size() == 2);
  }
  Nodes bits("f32", kSmall);
  bits.unary("ELEMENT_WISE_ABS", in(0));
  bits.add("ELEMENT_WISE_BIT_NOT InputTensor=u32[2,3,5] OutputTensor=u32[2,3,5]", {node(0)});
  bits.output(1, 0);
  CHECK(bits.rewritten(kAll).size() == 2);
  // Elements that share a place.
  Nodes shared("f32", "[2,2,3]{100,2,1}");
  shared.unary("ELEMENT_WISE_ABS", in(0));
  shared.unary("ELEMENT_WISE_SQRT", node(0));
  shared.output(1, 0);
  CHECK(shared.rewritten(kAll).size() == 2);
  // Dimensions of size 1 make no difference.
  Nodes graph("f32", kSmall);
  graph.unary("ELEMENT_WISE_ABS", in(0));
  graph.add("ELEMENT_WISE_SQRT InputTensor=f32[1,2,3,5] OutputTensor=f32[1,2,3,5]", {node(0)});
  graph.output(1, 0);
  CHECK(graph.rewritten(kAll) == Names{"chain of 2"});
}

TEST_CASE("graph chains: what is not element-wise, and types of 64 bits, stand alone") {
  Nodes graph("f32", kSmall);
  graph.unary("ELEMENT_WISE_ABS", in(0));
  graph.unary("ACTIVATION_SOFTMAX1", node(0), " Axes=[2]");
  graph.unary("ELEMENT_WISE_ABS", node(1));
  graph.output(2, 0);
  CHECK(graph.rewritten(kAll).size() == 3);
  Nodes wide("i64", kSmall);
  wide.binary("ADD", in(0), in(1));
  wide.binary("ADD", node(0), in(2));
  wide.output(1, 0);
  CHECK(wide.rewritten(kAll).size() == 2);
}

TEST_CASE("graph chains: copies to another layout stand alone") {
  for (const char* name : {"ELEMENT_WISE_IDENTITY", "CAST"}) {
    CAPTURE(name);
    Nodes graph("f32", kSmall);
    graph.add(cat(name, " InputTensor=f32[2,3,5]{1,2,6} OutputTensor=f32[2,3,5]"), {in(0)});
    graph.unary("ELEMENT_WISE_ABS", node(0));
    graph.output(1, 0);
    CHECK(graph.rewritten(kAll).size() == 2);
  }
}

TEST_CASE("graph chains: what others take is stored, and as many tensors as the kernel has") {
  Caps compiled;
  compiled.fixesParameters = true;
  Nodes graph("f32", kSmall);
  graph.unary("ELEMENT_WISE_ABS", in(0));
  graph.unary("ELEMENT_WISE_SQRT", node(0));
  graph.unary("ELEMENT_WISE_EXP", node(1));
  graph.output(1, 0);
  graph.output(2, 1);
  CHECK(graph.rewritten(kAll, compiled) == Names{"chain of 3"});
  graph.output(0, 2);
  CHECK(graph.rewritten(kAll, compiled).size() == 2);

  Nodes sums("f32", kSmall);
  sums.binary("ADD", in(0), in(1));
  for (UINT n = 0; n < 5; ++n) sums.binary("ADD", node(n), in(n + 2));
  sums.output(5, 0);
  // Six inputs are five sums.
  CHECK(sums.rewritten(kAll) == Names{"chain of 5", "ELEMENT_WISE_ADD"});
}

TEST_CASE("graph chains: an interpreter has one group of functions at a time, and short ones") {
  Caps compiled;
  compiled.fixesParameters = true;
  const Caps interpreted;
  for (const char* other : {"ELEMENT_WISE_EXP", "ELEMENT_WISE_SIN", "ACTIVATION_SIGMOID"}) {
    CAPTURE(other);
    Nodes graph("f32", kSmall);
    graph.unary("ELEMENT_WISE_SQRT", in(0));
    graph.binary("ADD", node(0), in(1));
    graph.unary(other, node(1));
    graph.output(2, 0);
    CHECK(graph.rewritten(kAll, compiled) == Names{"chain of 3"});
    CHECK(graph.rewritten(kAll, interpreted) == Names{"chain of 2", other});
  }
}

// Whose kernels compute fewer digits.
TEST_CASE("graph chains: an interpreter has no functions of FLOAT16") {
  Caps compiled;
  compiled.fixesParameters = true;
  for (const char* type : {"f32", "f16"})
    for (const bool binary : {false, true}) {
      CAPTURE(type);
      CAPTURE(binary);
      Nodes graph(type, kSmall);
      if (binary)
        graph.binary("ATAN_YX", in(0), in(1));
      else
        graph.unary("ELEMENT_WISE_EXP", in(0));
      graph.binary("ADD", node(0), in(1));
      graph.output(1, 0);
      CHECK(graph.rewritten(kAll, compiled) == Names{"chain of 2"});
      CHECK((graph.rewritten(kAll) == Names{"chain of 2"}) == (std::string_view(type) == "f32"));
    }
}

TEST_CASE("graph chains: a program ends where the kernel's does") {
  Nodes graph("f32", kSmall);
  graph.unary("ELEMENT_WISE_ABS", in(0));
  for (UINT n = 1; n < 40; ++n) graph.unary("ELEMENT_WISE_ABS", node(n - 1));
  graph.output(39, 0);
  // A step loads, the others compute.
  CHECK(graph.rewritten(kAll) == Names{"chain of 31", "chain of 9"});
}

TEST_CASE("graph chains: no cycle through a node that is in none") {
  Nodes graph("f32", kSmall);
  graph.unary("ELEMENT_WISE_ABS", in(0));
  graph.unary("ACTIVATION_SOFTMAX1", node(0), " Axes=[2]");
  graph.binary("ADD", node(0), node(1));
  graph.output(2, 0);
  CHECK(graph.rewritten(kAll).size() == 3);
}

TEST_CASE("graph chains: no cycle through another chain, which began earlier") {
  Nodes graph("f32", kSmall);
  graph.unary("ELEMENT_WISE_ABS", in(0));
  graph.unary("ELEMENT_WISE_SQRT", in(1));
  graph.unary("ACTIVATION_SOFTMAX1", node(1), " Axes=[2]");
  graph.binary("ADD", node(0), node(2));
  graph.unary("ACTIVATION_SOFTMAX1", node(3), " Axes=[2]");
  graph.binary("MULTIPLY", node(1), node(4));
  graph.output(5, 0);
  const Names names = graph.rewritten(kAll);
  CHECK(names.size() == 5);
  CHECK(std::ranges::count(names, "chain of 2") == 1);
}

TEST_CASE("graph chains: constants of one element become numbers") {
  const float half = 0.5f;
  Nodes graph("f32", kSmall);
  const UINT constant = graph.constant(&half, sizeof half);
  graph.binary("MULTIPLY", in(0), node(constant), "{0,0,0}");
  graph.binary("ADD", node(1), in(1));
  graph.output(2, 0);
  CHECK(graph.rewritten(kAll) == Names{"chain of 2"});

  Nodes one("f32", "[1,1,1]");
  const UINT number = one.constant(&half, sizeof half);
  one.binary("MULTIPLY", in(0), node(number));
  one.binary("ADD", node(1), in(1));
  one.output(2, 0);
  CHECK(one.rewritten(kAll) == Names{"chain of 2"});
  one.output(number, 1);
  CHECK(one.rewritten(kAll) == Names{"constant", "chain of 2"});
}

TEST_CASE("graph chains: inputs are loaded by where they come from and how they lie") {
  Nodes graph("f32", "[3,3]");
  graph.binary("MULTIPLY", in(0), in(0), "{1,3}");
  graph.binary("ADD", node(0), in(0));
  graph.output(0, 0);
  graph.output(1, 1);
  // Its second output is taken by what is no part of it.
  graph.unary("ACTIVATION_SOFTMAX1", node(1), " Axes=[1]");
  graph.output(2, 2);
  const Graph made = graph.GraphBuilder::rewritten({Caps{}, optionsWithout(kAll)});
  REQUIRE(made.nodes().size() == 2);
  const Node& chain = made.nodes().front();
  CHECK(chain.op->inputs().size() == 2);
  CHECK(chain.inputs()[0] == chain.inputs()[1]);
  CHECK(made.nodes().back().inputs()[0].value == &chain.outputs()[1]);
  CHECK(made.outputs()[0] == &chain.outputs()[0]);
}

// ---- estimates: what the table of docs/performance.md says
// -----------------------------------------------------------

const Names kTwoNodes{"ELEMENT_WISE_MULTIPLY", "ELEMENT_WISE_ADD"};
const std::string kRow = "{0,1}";
const std::string kColumn = "{1,0}";

Nodes multiplyAdd(std::string_view type, const std::string& strides = "", const std::string& sizes = kLarge) {
  Nodes graph(type, sizes);
  graph.binary("MULTIPLY", in(0), in(1), strides);
  graph.binary("ADD", node(0), in(2), strides);
  graph.output(1, 0);
  return graph;
}

Nodes residual(std::string_view type) {
  Nodes graph(type);
  graph.binary("MULTIPLY", in(0), in(1), kColumn);
  graph.binary("ADD", node(0), in(2), kColumn);
  graph.binary("ADD", node(1), in(3));
  graph.unary("ACTIVATION_RELU", node(2));
  graph.output(3, 0);
  return graph;
}

Nodes geluTanh(std::string_view type) {
  Nodes graph(type);
  graph.binary("MULTIPLY", in(0), in(0));
  graph.binary("MULTIPLY", node(0), in(0));
  graph.scaled("IDENTITY", node(1));
  graph.binary("ADD", in(0), node(2));
  graph.scaled("TANH", node(3));
  graph.scaled("IDENTITY", node(4));
  graph.binary("MULTIPLY", in(0), node(5));
  graph.scaled("IDENTITY", node(6));
  graph.output(7, 0);
  return graph;
}

TEST_CASE("graph chains: those that are faster are made") {
  CHECK(multiplyAdd("f32").rewritten() == Names{"chain of 2"});
  for (const char* type : {"f32", "f16"}) {
    CAPTURE(type);
    // Rows of vectors.
    CHECK(multiplyAdd(type, kRow).rewritten() == kTwoNodes);
    CHECK(multiplyAdd(type, kColumn).rewritten() == kTwoNodes);
  }
  CHECK(residual("f32").rewritten() == Names{"chain of 4"});
  CHECK(geluTanh("f32").rewritten() == Names{"chain of 8"});
  Nodes casts("f16");
  casts.cast("f32", in(0));
  casts.binary("MULTIPLY", node(0), in(1), kRow);
  casts.binary("ADD", node(1), in(2), kRow);
  casts.unary("ACTIVATION_RELU", node(2));
  casts.cast("f16", node(3));
  casts.output(4, 0);
  CHECK(casts.rewritten() == Names{"chain of 5"});
}

TEST_CASE("graph chains: those that are slower are not") {
  CHECK(multiplyAdd("f16").rewritten().size() == 2);
  CHECK(geluTanh("f16").rewritten().size() == 8);
  for (const char* type : {"f32", "f16"}) {
    CAPTURE(type);
    CHECK(multiplyAdd(type, kRow, "[16384,4095]").rewritten().size() == 2);
    Nodes transposed(type);
    transposed.binary("MULTIPLY", in(0), in(1), "{1,16384}");
    transposed.binary("ADD", node(0), in(2));
    transposed.output(1, 0);
    CHECK(transposed.rewritten().size() == 2);
    Nodes absolute(type);
    absolute.unary("ELEMENT_WISE_ABS", in(0));
    absolute.unary("ACTIVATION_RELU", node(0));
    absolute.output(1, 0);
    CHECK(absolute.rewritten().size() == 2);
    Nodes silu(type);
    silu.unary("ACTIVATION_SIGMOID", in(0));
    silu.binary("MULTIPLY", in(0), node(0));
    silu.output(1, 0);
    CHECK(silu.rewritten().size() == 2);
    Nodes costly(type);
    costly.unary("ELEMENT_WISE_EXP", in(0));
    costly.unary("ELEMENT_WISE_SIN", node(0));
    costly.unary("ELEMENT_WISE_CONSTANT_POW", node(1), " Exponent=2.5");
    costly.output(2, 0);
    CHECK(costly.rewritten().size() == 3);
    Nodes gelu(type);
    gelu.scaled("ERF", in(0));
    gelu.scaled("IDENTITY", node(0));
    gelu.binary("MULTIPLY", in(0), node(1));
    gelu.output(2, 0);
    if (gelu.type == "f32")
      CHECK(gelu.rewritten() == Names{"ELEMENT_WISE_ERF", "chain of 2"});
    else
      CHECK(gelu.rewritten().size() == 3);
    Nodes where(type);
    where.add(cat("ELEMENT_WISE_LOGICAL_GREATER_THAN ATensor=", where.tensor(), " BTensor=", where.tensor(),
                  " OutputTensor=u8", kLarge),
              {in(0), in(1)});
    where.add(cat("ELEMENT_WISE_IF ConditionTensor=u8", kLarge, " ATensor=", where.tensor(),
                  " BTensor=", where.tensor(), " OutputTensor=", where.tensor()),
              {node(0), in(0), in(2)});
    where.output(1, 0);
    CHECK(where.rewritten().size() == 2);
  }
  for (const char* type : {"i32", "u8"}) {
    CAPTURE(type);
    Nodes graph(type);
    graph.binary("ADD", in(0), in(1));
    graph.binary("MAX", node(0), in(2));
    graph.output(1, 0);
    CHECK(graph.rewritten().size() == 2);
  }
}

TEST_CASE("graph chains: hardly faster is not enough") {
  Nodes graph("f32", "[16384,4095]");
  graph.binary("MULTIPLY", in(0), in(1), kRow);
  graph.unary("ACTIVATION_RELU", node(0));
  graph.output(1, 0);
  CHECK(graph.rewritten().size() == 2);
  graph.unary("ACTIVATION_RELU", node(1));
  graph.output(2, 0);
  CHECK(graph.rewritten() == Names{"chain of 3"});
}

TEST_CASE("graph chains: rounding costs") {
  Nodes rounded("f16");
  rounded.binary("MULTIPLY", in(0), in(1), kColumn);
  rounded.unary("ACTIVATION_RELU", node(0));
  rounded.output(1, 0);
  CHECK(rounded.rewritten().size() == 2);
}

// Each step takes an interpreter as long as for more elements.
TEST_CASE("graph chains: small ones save dispatches, but for interpreters only if they are many") {
  Caps compiled;
  compiled.fixesParameters = true;
  const Nodes sums = multiplyAdd("f16", "", "[16,4096]");
  CHECK(sums.rewritten("", compiled) == Names{"chain of 2"});
  CHECK(sums.rewritten().size() == 2);
  Nodes silu("f16", "[16,4096]");
  silu.unary("ACTIVATION_SIGMOID", in(0));
  silu.binary("MULTIPLY", in(0), node(0));
  silu.output(1, 0);
  CHECK(silu.rewritten("", compiled) == Names{"chain of 2"});
  CHECK(silu.rewritten().size() == 2);
  Nodes many("f32", "[16,4096]");
  many.binary("ADD", in(0), in(1));
  for (UINT n = 0; n < 4; ++n) many.binary(n % 2 == 0 ? "MULTIPLY" : "ADD", node(n), in(1));
  many.output(4, 0);
  CHECK(many.rewritten() == Names{"chain of 5"});
}

TEST_CASE("graph chains: of one that is slower as a whole, the part that is faster") {
  Nodes graph("f32");
  graph.unary("ELEMENT_WISE_EXP", in(0));
  graph.unary("ELEMENT_WISE_SIN", node(0));
  graph.binary("MULTIPLY", node(1), in(1));
  graph.binary("ADD", node(2), in(2));
  graph.unary("ELEMENT_WISE_COS", node(3));
  graph.unary("ELEMENT_WISE_EXP", node(4));
  graph.output(5, 0);
  CHECK(graph.rewritten() ==
        Names{"ELEMENT_WISE_EXP", "ELEMENT_WISE_SIN", "chain of 2", "ELEMENT_WISE_COS", "ELEMENT_WISE_EXP"});
}

TEST_CASE("graph chains: parts of one whole take in nothing of another") {
  Nodes graph("f32");
  graph.unary("ELEMENT_WISE_EXP", in(0));
  for (UINT n = 1; n < 40; ++n) graph.unary(n < 10 ? "ELEMENT_WISE_EXP" : "ACTIVATION_RELU", node(n - 1));
  graph.output(39, 0);
  Names expected(10, "ELEMENT_WISE_EXP");
  expected.insert(expected.end(), {"chain of 21", "chain of 9"});
  CHECK(graph.rewritten() == expected);
}

TEST_CASE("graph chains: none on a processor, unless they are asked for") {
  Caps caps;
  caps.isProcessor = true;
  CHECK(multiplyAdd("f32").rewritten("", caps).size() == 2);
  CHECK(multiplyAdd("f32").rewritten(kAll, caps) == Names{"chain of 2"});
}

TEST_CASE("graph chains: tensors between nodes vanish") {
  const Nodes graph = residual("f32");
  const auto bytes = [&](std::string_view without) {
    const Target target(Caps{}, optionsWithout(without));
    Graph made = graph.GraphBuilder::rewritten(target);
    const auto planned = planGraph(made, target);
    return std::pair(planned->temporaryBytes, totalsOf(planned->execution).bytes);
  };
  constexpr uint64_t kTensor = 16384ull * 4096 * 4;
  constexpr uint64_t kColumns = 2 * 16384 * 4;
  constexpr uint64_t kUnused = 3 * 4;  // words at bindings that the chain does not have
  const auto [between, bound] = bytes("");
  CHECK(between == 0);
  CHECK(bound == 3 * kTensor + kColumns + kUnused);
  CHECK(bytes("chains").second == 9 * kTensor + kColumns);
}

TEST_CASE("chains: numbers of four bits") {
  const std::byte byte{0x59};
  CHECK(chainNumber(DML_TENSOR_DATA_TYPE_UINT4, &byte) == 9);
  CHECK(chainNumber(DML_TENSOR_DATA_TYPE_INT4, &byte) == static_cast<uint32_t>(-7));
}

}  // namespace
}  // namespace dimple::testing
