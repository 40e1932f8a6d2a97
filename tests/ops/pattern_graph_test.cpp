// Graphs that are a layer normalization or GELU, or nearly so: either they stay, bit for bit, or the operator answers
// what its nodes answer.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/schema/desc_text.h"
#include "core/schema/op_schema.h"
#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/options_text.h"
#include "tests/conformance/random.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// Of tensors of one type and one size, and means of them.
class Spelling : public GraphOfLines {
 public:
  explicit Spelling(DataType type) : type_(type) {}

  std::string tensor(std::string_view strides = "") const { return cat(shortTypeName(type_), "[2,6,6]", strides); }
  GraphSource numbers(const std::vector<double>& given) { return input(type_, given); }
  GraphSource constants(const std::vector<double>& given) { return constant(type_, given); }
  GraphSource number(double value) { return constants({value}); }
  GraphSource drawn(double most = 2) {
    Random random(++drawn_);
    std::vector<double> values(72);
    for (double& value : values) value = (2 * random.unit() - 1) * most;
    return numbers(values);
  }
  GraphSource one(std::string_view line, GraphSource x) {
    return node(cat(line.substr(0, line.find(' ')), " InputTensor=", tensor(), " OutputTensor=", tensor(),
                    line.substr(std::min(line.find(' '), line.size()))),
                {x});
  }
  GraphSource two(std::string_view name, GraphSource a, GraphSource b, std::string_view stridesOfB = "",
                  std::string_view more = "") {
    return node(cat("ELEMENT_WISE_", name, " ATensor=", tensor(), " BTensor=", tensor(stridesOfB),
                    " OutputTensor=", tensor(), more),
                {a, b});
  }
  GraphSource byNumber(std::string_view name, GraphSource a, double b) { return two(name, a, number(b), kNumber); }
  GraphSource power(GraphSource x, double exponent, std::string_view more = "") {
    return node(cat("ELEMENT_WISE_POW InputTensor=", tensor(), " ExponentTensor=", tensor(kNumber),
                    " OutputTensor=", tensor(), more),
                {x, number(exponent)});
  }
  std::string meanTensor(std::string_view strides = "") const { return cat(shortTypeName(type_), "[2,6,1]", strides); }
  GraphSource mean(GraphSource x, std::string_view function = "AVERAGE") {
    return node(
        cat("REDUCE Function=", function, " InputTensor=", tensor(), " OutputTensor=", meanTensor(), " Axes=[2]"), {x});
  }
  GraphSource root(GraphSource x, std::string_view more = "") {
    return node(cat("ELEMENT_WISE_SQRT InputTensor=", meanTensor(), " OutputTensor=", meanTensor(), more), {x});
  }
  GraphSource shifted(GraphSource variance, GraphSource epsilon, std::string_view strides = "{0,0,0}",
                      std::string_view name = "ADD", std::string_view more = "") {
    return node(cat("ELEMENT_WISE_", name, " ATensor=", meanTensor(), " BTensor=", meanTensor(strides),
                    " OutputTensor=", meanTensor(), more),
                {variance, epsilon});
  }

  static constexpr std::string_view kNumber = "{0,0,0}";
  static constexpr std::string_view kRows = "{6,1,0}";  // a number of each row
  static constexpr std::string_view kVector = "{0,0,1}";

 private:
  DataType type_;
  uint64_t drawn_ = 0;
};

struct Hostile {
  std::string_view what;
  bool becomes;  // the operator
  std::function<void(Spelling&)> spell;
};

void check(Gpu& gpu, DataType type, DML_OPERATOR_TYPE op, const std::vector<Hostile>& graphs) {
  StepMemory memory;
  for (const Hostile& hostile : graphs) {
    Spelling spelling(type);
    hostile.spell(spelling);
    // Chains would take the operator in.
    const auto planned = planTestGraph(spelling.graph(), {Caps{}, optionsWithout("chains")});
    REQUIRE_MESSAGE(planned, planned.error().text);
    const bool becomes = std::ranges::any_of(planned->rewritten.nodes(), [&](const Node& node) {
      return node.op && (node.op->schema().type == op || node.op->activation().type == op);
    });
    CHECK_MESSAGE(becomes == hostile.becomes, std::string(hostile.what));
    const std::string failure =
        compareWithNodes(gpu, memory, spelling.graph(), becomes ? compareWithLargest : compareElements);
    CHECK_MESSAGE(failure.empty(), cat(hostile.what, ": ", failure));
  }
}

// ---- layer normalization --------------------------------------------------------------------------------------------

// The steps of one, each of which a graph may do otherwise.
struct Steps {
  using One = std::function<GraphSource(Spelling&, GraphSource)>;
  using Two = std::function<GraphSource(Spelling&, GraphSource, GraphSource)>;
  One x = [](Spelling& s, GraphSource) { return s.drawn(); };
  One mean = [](Spelling& s, GraphSource a) { return s.mean(a); };
  Two centred = [](Spelling& s, GraphSource a, GraphSource b) { return s.two("SUBTRACT", a, b, s.kRows); };
  Two square = [](Spelling& s, GraphSource a, GraphSource) { return s.power(a, 2); };
  One variance = [](Spelling& s, GraphSource a) { return s.mean(a); };
  One sum = [](Spelling& s, GraphSource a) { return s.shifted(a, s.number(0.25)); };
  One root = [](Spelling& s, GraphSource a) { return s.root(a); };
  Two normal = [](Spelling& s, GraphSource a, GraphSource b) { return s.two("DIVIDE", a, b, s.kRows); };
  Two scaled = [](Spelling& s, GraphSource a, GraphSource) {
    return s.two("MULTIPLY", a, s.numbers({1, 2, 0.5, -1, 3, 0.25}), s.kVector);
  };
  Two biased = [](Spelling& s, GraphSource a, GraphSource) {
    return s.two("ADD", a, s.numbers({1, -2, 0.5, -1, 3, 0.25}), s.kVector);
  };
  int alsoRead = -1;    // the step that another node reads, too; 0 is the mean
  int alsoOutput = -1;  // that is an output of the graph, too
};

void normalize(Spelling& s, const Steps& steps = {}) {
  const GraphSource x = steps.x(s, {});
  std::vector<GraphSource> made{steps.mean(s, x)};
  made.push_back(steps.centred(s, x, made[0]));
  const GraphSource centred = made[1];
  made.push_back(steps.square(s, centred, x));
  made.push_back(steps.variance(s, made.back()));
  made.push_back(steps.sum(s, made.back()));
  made.push_back(steps.root(s, made.back()));
  made.push_back(steps.normal(s, centred, made.back()));
  made.push_back(steps.scaled(s, made.back(), x));
  s.output(steps.biased(s, made.back(), x));
  if (steps.alsoOutput >= 0) s.output(made[static_cast<size_t>(steps.alsoOutput)]);
  if (steps.alsoRead < 0) return;
  const bool isOfRows = s.graph().tensorOf(made[static_cast<size_t>(steps.alsoRead)])->Sizes[2] == 1;
  const std::string tensor = isOfRows ? s.meanTensor() : s.tensor();
  s.output(s.node(cat("ELEMENT_WISE_NEGATE InputTensor=", tensor, " OutputTensor=", tensor),
                  {made[static_cast<size_t>(steps.alsoRead)]}));
}

Hostile normalization(std::string_view what, bool becomes, const std::function<void(Steps&)>& change) {
  Steps steps;
  change(steps);
  return {what, becomes, [steps](Spelling& s) { normalize(s, steps); }};
}

// With another one of the steps.
template <class Step>
Hostile normalization(std::string_view what, bool becomes, Step Steps::*which, const std::type_identity_t<Step>& step) {
  return normalization(what, becomes, [&](Steps& steps) { steps.*which = step; });
}

// What the steps may be done with instead of what they take. Differences to something else than the mean are normalized
// without a mean.
std::vector<Hostile> normalizationsOfOtherOperands() {
  return {
      normalization("itself", true, [](Steps&) {}),
      normalization("the mean minus x", true, &Steps::centred,
                    [](Spelling& s, GraphSource x, GraphSource mean) {
                      return s.node(cat("ELEMENT_WISE_SUBTRACT ATensor=", s.tensor(s.kRows), " BTensor=", s.tensor(),
                                        " OutputTensor=", s.tensor()),
                                    {mean, x});
                    }),
      normalization("the deviation over x", false, &Steps::normal,
                    [](Spelling& s, GraphSource centred, GraphSource root) {
                      return s.node(cat("ELEMENT_WISE_DIVIDE ATensor=", s.tensor(s.kRows), " BTensor=", s.tensor(),
                                        " OutputTensor=", s.tensor()),
                                    {root, centred});
                    }),
      normalization("means along the other dimension", true, &Steps::centred,
                    [](Spelling& s, GraphSource x, GraphSource mean) { return s.two("SUBTRACT", x, mean, "{6,0,1}"); }),
      normalization(
          "deviations along the other dimension", false, &Steps::normal,
          [](Spelling& s, GraphSource centred, GraphSource root) { return s.two("DIVIDE", centred, root, "{6,0,1}"); }),
      normalization("the mean of other numbers", true, &Steps::mean,
                    [](Spelling& s, GraphSource x) { return s.mean(s.one("ELEMENT_WISE_ABS", x)); }),
      normalization("the mean of x turned", true, &Steps::mean,
                    [](Spelling& s, GraphSource x) {
                      return s.node(cat("REDUCE Function=AVERAGE InputTensor=", s.tensor("{36,1,6}"),
                                        " OutputTensor=", s.meanTensor(), " Axes=[2]"),
                                    {x});
                    }),
      normalization("the variance along another axis", false, &Steps::variance,
                    [](Spelling& s, GraphSource square) {
                      const std::string turned = s.tensor().replace(s.tensor().find('['), 7, "[2,1,6]");
                      return s.node(cat("REDUCE Function=AVERAGE InputTensor=", s.tensor(), " OutputTensor=", turned,
                                        " Axes=[1]"),
                                    {square});
                    }),
      normalization("the square of x", false, &Steps::square,
                    [](Spelling& s, GraphSource, GraphSource x) { return s.power(x, 2); }),
      normalization("the difference by itself", true, &Steps::square,
                    [](Spelling& s, GraphSource centred, GraphSource) { return s.two("MULTIPLY", centred, centred); }),
      normalization("the difference by itself turned", false, &Steps::square,
                    [](Spelling& s, GraphSource centred, GraphSource) {
                      return s.two("MULTIPLY", centred, centred, "{36,1,6}");
                    }),
      normalization("the difference by x", false, &Steps::square,
                    [](Spelling& s, GraphSource centred, GraphSource x) { return s.two("MULTIPLY", centred, x); }),
  };
}

std::vector<Hostile> normalizationsOfOtherNumbers(bool isHalf) {
  const auto exponent = [](double value, std::string_view more) {
    return [=](Steps& t) {
      t.square = [=](Spelling& s, GraphSource centred, GraphSource) { return s.power(centred, value, more); };
    };
  };
  const auto epsilon = [](const std::function<GraphSource(Spelling&)>& source, std::string_view strides) {
    return [=](Steps& t) {
      t.sum = [=](Spelling& s, GraphSource variance) { return s.shifted(variance, source(s), strides); };
    };
  };
  const auto constantEpsilon = [&](double value) {
    return epsilon([=](Spelling& s) { return s.number(value); }, "{0,0,0}");
  };
  const auto constantExponent = [](std::string_view attributes) {
    return [=](Steps& t) {
      t.square = [=](Spelling& s, GraphSource centred, GraphSource) {
        return s.one(cat("ELEMENT_WISE_CONSTANT_POW ", attributes), centred);
      };
    };
  };
  const double nearlyTwo = isHalf ? 2 + 0x1p-9 : 2 + 0x1p-22;
  return {
      normalization("nearly a square", false, exponent(nearlyTwo, "")),
      normalization("the square of a factor", false, exponent(2, " ScaleBias=[2,0]")),
      normalization("a constant square", true, constantExponent("Exponent=2")),
      normalization("a constant cube", false, constantExponent("Exponent=3")),
      normalization("a constant square of a factor", false, constantExponent("Exponent=2 ScaleBias=[2,0]")),
      normalization("an epsilon that is an input", false,
                    epsilon(
                        [](Spelling& s) {
                          return s.numbers({0.25, 0.25});
                        },
                        "{0,0,0}")),
      normalization("an epsilon of each row", false,
                    epsilon(
                        [](Spelling& s) {
                          return s.constants({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
                        },
                        "{6,1,1}")),
      normalization("no epsilon", true, constantEpsilon(0)),
      normalization("an epsilon below 0", true, constantEpsilon(-0.5)),
      normalization("an infinite epsilon", true, constantEpsilon(std::numeric_limits<double>::infinity())),
      normalization("a root of a factor", false, &Steps::root,
                    [](Spelling& s, GraphSource sum) { return s.root(sum, " ScaleBias=[2,0]"); }),
      normalization("a sum of squares", false, &Steps::variance,
                    [](Spelling& s, GraphSource square) { return s.mean(square, "SUM"); }),
  };
}

// What follows is part of it, or left behind.
std::vector<Hostile> normalizationsThatGoOn() {
  std::vector<Hostile> graphs{
      normalization(
          "a scale of each row", true, &Steps::scaled,
          [](Spelling& s, GraphSource normal, GraphSource) { return s.two("MULTIPLY", normal, s.drawn(), s.kRows); }),
      normalization("x as the scale", true, &Steps::scaled,
                    [](Spelling& s, GraphSource normal, GraphSource x) { return s.two("MULTIPLY", normal, x); }),
      normalization(
          "a row of x as the scale", true, &Steps::scaled,
          [](Spelling& s, GraphSource normal, GraphSource x) { return s.two("MULTIPLY", normal, x, s.kVector); }),
      normalization("its square", true, &Steps::scaled,
                    [](Spelling& s, GraphSource normal, GraphSource) { return s.two("MULTIPLY", normal, normal); }),
      normalization("twice itself", true, &Steps::biased,
                    [](Spelling& s, GraphSource scaled, GraphSource) { return s.two("ADD", scaled, scaled); }),
      normalization("x as the bias", true, &Steps::biased,
                    [](Spelling& s, GraphSource scaled, GraphSource x) { return s.two("ADD", scaled, x); }),
      normalization("a sum with an activation", true, &Steps::biased,
                    [](Spelling& s, GraphSource scaled, GraphSource) {
                      return s.two("ADD1", scaled, s.drawn(), s.kVector, " FusedActivation=RELU");
                    }),
      normalization("rows of other sizes", false, &Steps::scaled,
                    [](Spelling& s, GraphSource normal, GraphSource) {
                      const std::string other = s.tensor().replace(s.tensor().find('['), 7, "[4,3,6]");
                      return s.node(cat("ELEMENT_WISE_MULTIPLY ATensor=", other, " BTensor=", other, s.kVector,
                                        " OutputTensor=", other),
                                    {normal, s.drawn()});
                    }),
  };
  static constexpr std::string_view kSteps[] = {"mean", "difference", "square", "variance",
                                                "sum",  "root",       "normal", "product"};
  for (int step = 0; step < 8; ++step) {
    // What is behind the division ends it, and what is before the square is not part of it.
    const bool becomes = step >= 6 || step < 2;
    graphs.push_back(normalization(kSteps[step], becomes, [=](Steps& t) { t.alsoRead = step; }));
    graphs.push_back(normalization(kSteps[step], becomes, [=](Steps& t) { t.alsoOutput = step; }));
  }
  return graphs;
}

GraphSource reciprocal(Spelling& s, GraphSource root, std::string_view more = "") {
  return s.node(cat("ELEMENT_WISE_RECIP InputTensor=", s.meanTensor(), " OutputTensor=", s.meanTensor(), more), {root});
}
GraphSource numberOver(Spelling& s, double number, GraphSource root) {
  return s.node(cat("ELEMENT_WISE_DIVIDE ATensor=", s.meanTensor(s.kNumber), " BTensor=", s.meanTensor(),
                    " OutputTensor=", s.meanTensor()),
                {s.number(number), root});
}

// Products with the reciprocal of the root, with a mean and without one.
std::vector<Hostile> normalizationsByReciprocals() {
  std::vector<Hostile> graphs;
  for (const bool hasMean : {true, false}) {
    const auto add = [&](std::string_view what, bool becomes, const Steps::Two& normal) {
      graphs.push_back(normalization(what, becomes, [&](Steps& t) {
        t.normal = normal;
        if (hasMean) return;
        t.mean = [](Spelling&, GraphSource x) { return x; };
        t.centred = [](Spelling&, GraphSource x, GraphSource) { return x; };
      }));
    };
    add("a quotient", true, Steps().normal);
    add("a product with the reciprocal", true, [](Spelling& s, GraphSource x, GraphSource root) {
      return s.two("MULTIPLY", x, reciprocal(s, root), s.kRows);
    });
    add("a product of the reciprocal", true, [](Spelling& s, GraphSource x, GraphSource root) {
      return s.node(cat("ELEMENT_WISE_MULTIPLY ATensor=", s.tensor(s.kRows), " BTensor=", s.tensor(),
                        " OutputTensor=", s.tensor()),
                    {reciprocal(s, root), x});
    });
    add("a product with 1 over the root", true, [](Spelling& s, GraphSource x, GraphSource root) {
      return s.two("MULTIPLY", x, numberOver(s, 1, root), s.kRows);
    });
    add("a product with 2 over the root", false, [](Spelling& s, GraphSource x, GraphSource root) {
      return s.two("MULTIPLY", x, numberOver(s, 2, root), s.kRows);
    });
    add("a quotient by the reciprocal", false,
        [](Spelling& s, GraphSource x, GraphSource root) { return s.two("DIVIDE", x, reciprocal(s, root), s.kRows); });
    add("a product with the root", false,
        [](Spelling& s, GraphSource x, GraphSource root) { return s.two("MULTIPLY", x, root, s.kRows); });
    add("the reciprocal of a factor", false, [](Spelling& s, GraphSource x, GraphSource root) {
      return s.two("MULTIPLY", x, reciprocal(s, root, " ScaleBias=[2,0]"), s.kRows);
    });
    add("reciprocals along the other dimension", false, [](Spelling& s, GraphSource x, GraphSource root) {
      return s.two("MULTIPLY", x, reciprocal(s, root), "{6,0,1}");
    });
    add("a reciprocal that is an output, too", false, [](Spelling& s, GraphSource x, GraphSource root) {
      const GraphSource made = reciprocal(s, root);
      s.output(made);
      return s.two("MULTIPLY", x, made, s.kRows);
    });
    add("a product with other numbers", false, [](Spelling& s, GraphSource x, GraphSource root) {
      return s.two("MULTIPLY", s.one("ELEMENT_WISE_ABS", x), reciprocal(s, root), s.kRows);
    });
  }
  return graphs;
}

std::vector<Hostile> normalizationsOfSpecialNumbers() {
  const auto of = [](std::vector<double> row) {
    return [=](Steps& t) {
      t.x = [=](Spelling& s, GraphSource) {
        std::vector<double> values(72);
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = i < 36 ? row[i % row.size()] : static_cast<double>(i % 7);
        return s.numbers(values);
      };
    };
  };
  const double infinity = std::numeric_limits<double>::infinity();
  return {
      normalization("rows of one number", true, of({0.3})),
      normalization("an infinite number", true, of({1, infinity, 2, 3, 4, 5})),
      normalization("both infinities", true, of({1, infinity, -infinity, 3, 4, 5})),
      normalization("NaN", true, of({1, std::nan(""), 2, 3, 4, 5})),
      normalization("rows of one number and no epsilon", true,
                    [&](Steps& t) {
                      of({2})(t);
                      t.sum = [](Spelling& s, GraphSource variance) { return s.shifted(variance, s.number(0)); };
                    }),
  };
}

GPU_TEST_CASE("graphs: what nearly spells a layer normalization answers what its nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  for (const DataType type : {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16}) {
    const bool isHalf = type == DML_TENSOR_DATA_TYPE_FLOAT16;
    for (const auto& graphs :
         {normalizationsOfOtherOperands(), normalizationsOfOtherNumbers(isHalf), normalizationsThatGoOn(),
          normalizationsByReciprocals(), normalizationsOfSpecialNumbers()})
      check(gpu, type, DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2, graphs);
  }
}

// ---- GELU -----------------------------------------------------------------------------------------------------------

// x * (1 + erf(x / sqrt(2))) * 0.5, each step of which a graph may do otherwise.
struct GeluSteps {
  using Two = std::function<GraphSource(Spelling&, GraphSource, GraphSource x)>;
  std::function<GraphSource(Spelling&)> x = [](Spelling& s) { return s.drawn(); };
  Two argument = [](Spelling& s, GraphSource, GraphSource b) { return s.byNumber("DIVIDE", b, std::sqrt(2.0)); };
  Two error = [](Spelling& s, GraphSource a, GraphSource) { return s.one("ELEMENT_WISE_ERF", a); };
  Two sum = [](Spelling& s, GraphSource a, GraphSource) { return s.byNumber("ADD", a, 1); };
  Two product = [](Spelling& s, GraphSource a, GraphSource b) { return s.two("MULTIPLY", b, a); };
  Two half = [](Spelling& s, GraphSource a, GraphSource) { return s.byNumber("MULTIPLY", a, 0.5); };
  int alsoRead = -1;    // the step that another node reads, too; 0 is the argument
  int alsoOutput = -1;  // that is an output of the graph, too
};

Hostile gelu(std::string_view what, bool becomes, const std::function<void(GeluSteps&)>& change) {
  GeluSteps steps;
  change(steps);
  return {what, becomes, [steps](Spelling& s) {
            const GraphSource x = steps.x(s);
            std::vector<GraphSource> made;
            GraphSource last = x;
            for (const auto* step : {&steps.argument, &steps.error, &steps.sum, &steps.product, &steps.half})
              made.push_back(last = (*step)(s, last, x));
            s.output(s.one("ELEMENT_WISE_NEGATE", last));
            if (steps.alsoOutput >= 0) s.output(made[static_cast<size_t>(steps.alsoOutput)]);
            if (steps.alsoRead >= 0) s.output(s.one("ELEMENT_WISE_ABS", made[static_cast<size_t>(steps.alsoRead)]));
          }};
}
template <class Step>
Hostile gelu(std::string_view what, bool becomes, Step GeluSteps::*which, const std::type_identity_t<Step>& step) {
  return gelu(what, becomes, [&](GeluSteps& steps) { steps.*which = step; });
}

GeluSteps::Two byNumber(std::string_view name, double number) {
  return [=](Spelling& s, GraphSource a, GraphSource) { return s.byNumber(name, a, number); };
}

std::vector<Hostile> gelusOfOtherNumbers(bool isHalf) {
  const double step = isHalf ? 0x1p-10 : 0x1p-23;  // of numbers from 1 to 2
  return {
      gelu("itself", true, [](GeluSteps&) {}),
      gelu("a neighbour of the root of 2", true, &GeluSteps::argument, byNumber("DIVIDE", std::sqrt(2.0) + step / 2)),
      gelu("nearly the root of 2", false, &GeluSteps::argument, byNumber("DIVIDE", std::sqrt(2.0) + 5 * step)),
      gelu("the root of 2 below 0", false, &GeluSteps::argument, byNumber("DIVIDE", -std::sqrt(2.0))),
      gelu("the root of a half", true, &GeluSteps::argument, byNumber("MULTIPLY", std::sqrt(0.5))),
      gelu("by the root of 2", false, &GeluSteps::argument, byNumber("MULTIPLY", std::sqrt(2.0))),
      gelu("nearly 1", false, &GeluSteps::sum, byNumber("ADD", 1 + step)),
      gelu("-1", false, &GeluSteps::sum, byNumber("ADD", -1)),
      gelu("1 taken away", false, &GeluSteps::sum, byNumber("SUBTRACT", 1)),
      gelu("nearly a half", false, &GeluSteps::half, byNumber("MULTIPLY", 0.5 - step / 4)),
      gelu("over a half", false, &GeluSteps::half, byNumber("DIVIDE", 0.5)),
      gelu("over 2", false, &GeluSteps::half, byNumber("DIVIDE", 2)),
      gelu("a half that is an input", false, &GeluSteps::half,
           [](Spelling& s, GraphSource a, GraphSource) {
             return s.two("MULTIPLY", a, s.numbers({0.5, 0.5}), s.kNumber);
           }),
      gelu("halves that are several constants", false, &GeluSteps::half,
           [](Spelling& s, GraphSource a, GraphSource) {
             return s.two("MULTIPLY", a, s.constants({0.5, 0.5, 0.5, 0.5, 0.5, 0.25}), s.kVector);
           }),
      gelu("an error function of a factor", false, &GeluSteps::error,
           [](Spelling& s, GraphSource a, GraphSource) { return s.one("ELEMENT_WISE_ERF ScaleBias=[2,0]", a); }),
  };
}

std::vector<Hostile> gelusOfOtherOperands() {
  return {
      gelu("the root of 2 over x", false, &GeluSteps::argument,
           [](Spelling& s, GraphSource, GraphSource x) {
             return s.node(cat("ELEMENT_WISE_DIVIDE ATensor=", s.tensor(s.kNumber), " BTensor=", s.tensor(),
                               " OutputTensor=", s.tensor()),
                           {s.number(std::sqrt(2.0)), x});
           }),
      gelu("by another x", false, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource) { return s.two("MULTIPLY", a, s.drawn()); }),
      gelu("by x turned", false, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource x) { return s.two("MULTIPLY", a, x, "{36,1,6}"); }),
      gelu("by a row of x", false, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource x) { return s.two("MULTIPLY", a, x, "{0,0,1}"); }),
      gelu("by the argument", false, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource x) {
             return s.two("MULTIPLY", a, s.byNumber("DIVIDE", x, std::sqrt(2.0)));
           }),
      gelu("by x again", true, &GeluSteps::half,
           [](Spelling& s, GraphSource a, GraphSource x) {
             return s.two("MULTIPLY", s.byNumber("MULTIPLY", a, 0.5), x);
           }),
      gelu("by x twice before the half", false, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource x) { return s.two("MULTIPLY", s.two("MULTIPLY", a, x), x); }),
      gelu("a half twice", false, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource) { return s.byNumber("MULTIPLY", a, 0.5); }),
      gelu("half of x, and a half", true, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource x) {
             return s.two("MULTIPLY", s.byNumber("MULTIPLY", x, 0.5), a);
           }),
      gelu("by itself", false, &GeluSteps::product,
           [](Spelling& s, GraphSource a, GraphSource) { return s.two("MULTIPLY", a, a); }),
      gelu("the error and itself", false, &GeluSteps::sum,
           [](Spelling& s, GraphSource a, GraphSource) { return s.two("ADD", a, a); }),
      gelu("the error and x", false, &GeluSteps::sum,
           [](Spelling& s, GraphSource a, GraphSource x) { return s.two("ADD", a, x); }),
      gelu("a sum with an activation", false, &GeluSteps::sum,
           [](Spelling& s, GraphSource a, GraphSource) {
             return s.two("ADD1", a, s.number(1), s.kNumber, " FusedActivation=RELU");
           }),
      gelu("x that is a constant half", false, &GeluSteps::x,
           [](Spelling& s) { return s.constants(std::vector<double>(72, 0.5)); }),
      gelu("numbers that are none", true, &GeluSteps::x,
           [](Spelling& s) {
             std::vector<double> values(72, -1.5);
             values[3] = std::numeric_limits<double>::infinity();
             values[4] = -std::numeric_limits<double>::infinity();
             values[5] = std::nan("");
             values[6] = -0.0;
             values[7] = 30;
             values[8] = -30;
             return s.numbers(values);
           }),
  };
}

std::vector<Hostile> gelusThatOthersRead() {
  static constexpr std::string_view kSteps[] = {"argument", "error", "sum", "product", "half"};
  std::vector<Hostile> graphs;
  graphs.reserve(10);
  for (int step = 0; step < 5; ++step) {
    // What the last step makes is GELU, whoever reads it.
    graphs.push_back(gelu(kSteps[step], step == 4, [=](GeluSteps& t) { t.alsoRead = step; }));
    graphs.push_back(gelu(kSteps[step], step == 4, [=](GeluSteps& t) { t.alsoOutput = step; }));
  }
  return graphs;
}

GPU_TEST_CASE("graphs: what nearly spells GELU answers what its nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  for (const DataType type : {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16})
    for (const auto& graphs :
         {gelusOfOtherNumbers(type == DML_TENSOR_DATA_TYPE_FLOAT16), gelusOfOtherOperands(), gelusThatOthersRead()})
      check(gpu, type, DML_OPERATOR_ACTIVATION_GELU, graphs);
}

}  // namespace
}  // namespace dimple::testing
