// Products on kernels that only some devices have: matrices that a subgroup's invocations hold together.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "core/schema/op_schema.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/generators/generator.h"
#include "tests/conformance/selection.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

struct Counts {
  size_t cases = 0;
  size_t failed = 0;
  size_t dispatches = 0;  // of kernels of matrices
  std::set<std::string> kernels;
};

void STDMETHODCALLTYPE countKernel(void* context, const char* kernel, double) {
  Counts& counts = *static_cast<Counts*>(context);
  const std::string_view name = kernel;
  if (name.find("_cooperative") == name.npos && name.find("_step_matrices") == name.npos) return;
  ++counts.dispatches;
  counts.kernels.insert(kernel);
}

// Those that are made for these kernels, and of the operators that may take them a sample of the others.
std::vector<std::string> productLines() {
  auto lines = readCaseFile(DIMPLE_TEST_SOURCE_DIR "/conformance/cases/product.txt");
  REQUIRE(lines);
  size_t counter = 0;
  const auto add = [&](DML_OPERATOR_TYPE op, DataType type) {
    for (const std::string& line : generateCases(*findSchema(op), type))
      if (counter++ % selection().sample == 0) lines->push_back(line);
  };
  for (const DML_OPERATOR_TYPE op :
       {DML_OPERATOR_GEMM, DML_OPERATOR_CONVOLUTION, DML_OPERATOR_MULTIHEAD_ATTENTION,
        DML_OPERATOR_MULTIHEAD_ATTENTION1, DML_OPERATOR_RNN, DML_OPERATOR_LSTM, DML_OPERATOR_GRU})
    add(op, DML_TENSOR_DATA_TYPE_FLOAT16);
  for (const DML_OPERATOR_TYPE op :
       {DML_OPERATOR_MATRIX_MULTIPLY_INTEGER, DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT,
        DML_OPERATOR_QUANTIZED_LINEAR_MATRIX_MULTIPLY, DML_OPERATOR_CONVOLUTION_INTEGER,
        DML_OPERATOR_QUANTIZED_LINEAR_CONVOLUTION})
    for (const DataType type : {DML_TENSOR_DATA_TYPE_INT8, DML_TENSOR_DATA_TYPE_UINT8}) add(op, type);
  return *lines;
}

// A machine whose device has them says so with DIMPLE_TEST_MATRICES=1; then it is an error if none runs.
GPU_TEST_CASE("ops: products of subgroups' matrices agree with the oracle") {
  const bool expected = std::getenv("DIMPLE_TEST_MATRICES") != nullptr;
  IDimpleContext& context = gpu.context();
  if (FAILED(context.SetProfiling(TRUE))) {
    std::printf("products of subgroups' matrices: the %s device cannot tell which kernels it runs\n",
                std::string(gpu.backend()).c_str());
    CHECK_FALSE(expected);
    return;
  }
  Counts counts;
  {
    CaseRunner runner(gpu, [&](const CaseOutcome& outcome) {
      ++counts.cases;
      if (outcome.failure.empty()) return;
      ++counts.failed;
      std::printf("%s\n    %s\n", outcome.line.c_str(), outcome.failure.c_str());
    });
    const auto readProfile = [&] {
      runner.flush();
      CHECK(context.ReadProfile(countKernel, &counts) == S_OK);
    };
    const auto lines = productLines();
    // The first one tells whether the device has them.
    runner.add(lines.front());
    readProfile();
    if (counts.dispatches != 0)
      for (size_t i = 1; i < lines.size(); ++i) {
        runner.add(lines[i]);
        if (i % 256 == 0) readProfile();
      }
    readProfile();
  }
  CHECK(context.SetProfiling(FALSE) == S_OK);
  CHECK(counts.failed == 0);
  if (counts.dispatches == 0) {
    std::printf("products of subgroups' matrices: the device has none\n");
    CHECK_FALSE(expected);
    return;
  }
  std::printf("products of subgroups' matrices: %zu cases, %zu dispatches of", counts.cases, counts.dispatches);
  for (const std::string& kernel : counts.kernels) std::printf(" %s", kernel.c_str());
  std::printf("\n");
  // Matrices and convolutions of both types of floats, attention, recurrent steps and vectors of channels of one, and
  // integers where the device has such matrices; large tiles of FLOAT16 where its subgroups hold them.
  const auto count = [&](auto&& is) { return static_cast<size_t>(std::ranges::count_if(counts.kernels, is)); };
  const auto isOfIntegers = [](const std::string& kernel) { return kernel.starts_with("integer_"); };
  const auto isAhead = [](const std::string& kernel) { return kernel.find("_ahead") != kernel.npos; };
  const size_t integers = count(isOfIntegers);
  const size_t integersAhead =
      count([&](const std::string& kernel) { return isOfIntegers(kernel) && isAhead(kernel); });
  const size_t ahead = count(isAhead) - integersAhead;
  const size_t attention = count([](const std::string& kernel) { return kernel.starts_with("attention"); });
  // Those whose depth subgroups share: of matrices, and of windows of channels that lie side by side or not.
  const size_t shared = count([](const std::string& kernel) {
    return kernel.find("_cooperative_split") != kernel.npos || kernel.find("_gathered") != kernel.npos;
  });
  CHECK((shared == 0 || shared == 3));
  // Those that read patches, or chunks of channels.
  const size_t patches = count([](const std::string& kernel) {
    return kernel.find("_cooperative_patch") != kernel.npos || kernel.find("_cooperative_chunks") != kernel.npos;
  });
  CHECK((patches == 0 || patches == 2));
  CHECK(counts.kernels.size() - integers - ahead - attention - shared - patches == 6);
  if (attention == 0) std::printf("products of subgroups' matrices: the device has none for attention\n");
  if (ahead == 0) std::printf("products of subgroups' matrices: the device has no large tiles\n");
  if (integers == 0)
    std::printf("products of subgroups' matrices: the device has none of integers\n");
  else
    CHECK(integers - integersAhead == 5 + 3);
  // Those of narrow results have tiles enough on small devices alone.
  CHECK((integersAhead == 0 || integersAhead >= 2));
}

}  // namespace
}  // namespace dimple::testing
