// Functions of kernels/common/ that no operator calls yet, in kernels of the tests' own that take the place of embedded
// ones (the option kernels, which Vulkan reads).
#if defined(DIMPLE_GLSLANG) && defined(DIMPLE_DEVELOPER)

#include <doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "tests/conformance/gpu.h"
#include "tests/tool/tool_fixture.h"

using dimple::testing::Gpu;
using dimple::testing::readText;
using dimple::testing::ToolFixture;

namespace {

// Of a matrix that is read in columns, too narrow to be transposed in tiles: only the strided kernel copies it.
constexpr size_t kRows = 1152;
constexpr size_t kColumns = 8;
const char* const kCopyProgram = R"({
  "resources": {
    "X": { "initialValuesDataType": "FLOAT64", "initialValues": { "sourcePath": "x.bin" } },
    "Y": { "initialValuesDataType": "FLOAT64", "sizeInBytes": 73728 }
  },
  "dispatchables": {
    "copy": { "type": "ELEMENT_WISE_IDENTITY", "desc": {
      "InputTensor": { "DataType": "FLOAT64", "Sizes": [1152, 8], "Strides": [1, 1152] },
      "OutputTensor": { "DataType": "FLOAT64", "Sizes": [1152, 8] } } }
  },
  "commands": [
    { "type": "dispatch", "dispatchable": "copy", "bindings": { "InputTensor": "X", "OutputTensor": "Y" } },
    { "type": "writeFile", "resource": "Y", "targetPath": "y.bin" }
  ]
})";

bool hasDoubles() {
  std::string error;
  const auto gpu = Gpu::open({}, error);
  REQUIRE_MESSAGE(gpu, error);
  const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{DML_TENSOR_DATA_TYPE_FLOAT64};
  DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT data{};
  REQUIRE(gpu->device().CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof data,
                                            &data) == S_OK);
  return data.IsSupported;
}

std::vector<double> operands() {
  using Limits = std::numeric_limits<double>;
  constexpr double kInfinity = Limits::infinity();
  const double smallest = Limits::min();
  std::vector<double> values{0.0,
                             -0.0,
                             kInfinity,
                             -kInfinity,
                             Limits::quiet_NaN(),
                             -Limits::quiet_NaN(),
                             std::bit_cast<double>(uint64_t{0x7ff0000000000001}),
                             -1,
                             -Limits::denorm_min(),
                             -Limits::max(),
                             Limits::max(),
                             smallest,
                             std::nextafter(smallest, 0.0),
                             1,
                             2,
                             3,
                             4};
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    values.insert(values.end(), {power, std::nextafter(power, kInfinity), std::nextafter(power, 0.0)});
  }
  std::mt19937_64 random(1);
  constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
  while (values.size() < kRows * kColumns) {
    const uint64_t bits = random();
    const uint64_t nearOne = (bits & kFraction) | (uint64_t{1023} + (bits >> 63)) << 52;
    for (const uint64_t chosen : {bits & ~(uint64_t{1} << 63), nearOne, (bits & kFraction) >> (bits >> 52) % 52})
      if (values.size() < kRows * kColumns) values.push_back(std::bit_cast<double>(chosen));
  }
  return values;
}

// In units in the last place between two numbers; infinite where one is no number, or zero with another sign.
double distance(double expected, double actual) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual) ? 0 : INFINITY;
  if (std::signbit(expected) != std::signbit(actual)) return INFINITY;
  return std::fabs(static_cast<double>(std::bit_cast<int64_t>(expected) - std::bit_cast<int64_t>(actual)));
}

}  // namespace

TEST_CASE("kernels: the square root of doubles is within 1 ULP") {
  if (!hasDoubles()) {
    std::printf("The square root of doubles is not tested: the Vulkan device has no shaderFloat64.\n");
    return;
  }
  ToolFixture fixture;
  const auto compiled =
      fixture.runProgram(DIMPLE_GLSLANG, "-V --quiet --target-env vulkan1.2 -o copy.b64.spv '" DIMPLE_SOURCE_DIR
                                         "/tests/kernels/sqrt_f64.comp' '-I" DIMPLE_SOURCE_DIR
                                         "/kernels' '-I" DIMPLE_KERNEL_INTERFACES "/copy.strided' -DT=b64");
  REQUIRE_MESSAGE(compiled.code == 0, compiled.out);
  const std::vector<double> values = operands();
  fixture.write("x.bin", std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)));
  fixture.write("model.json", kCopyProgram);
  fixture.setEnvironment("DIMPLE_OPTIONS", "unroll=0,kernels=" + fixture.folder().string());
  const auto outcome = fixture.run("run model.json");
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  const std::string bytes = readText(fixture.folder() / "y.bin");
  REQUIRE(bytes.size() == values.size() * sizeof(double));

  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = values[i % kColumns * kRows + i / kColumns];
    const double expected = std::sqrt(x);
    double actual = 0;
    std::copy_n(bytes.data() + i * sizeof actual, sizeof actual, reinterpret_cast<char*>(&actual));
    const double ulp = distance(expected, actual);
    worst = std::max(worst, ulp);
    CAPTURE(x);
    CAPTURE(expected);
    CAPTURE(actual);
    // Roots without an end are rounded; these are exact.
    const bool exact = expected == 0 || !std::isfinite(expected);
    CHECK(ulp <= (exact ? 0 : 1));
  }
  std::printf("kernels: square roots of %zu doubles, at most %g ULP off\n", values.size(), worst);
}

#endif
