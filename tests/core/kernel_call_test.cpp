// Kernels as values, and what a dispatch may give them.
#include "core/plan/kernel_call.h"

#include <doctest.h>

#include "core/plan/plan_builder.h"
#include "kernels/interfaces/ids.h"
#include "kernels/interfaces/softmax.h"
#include "tests/core/planned.h"

namespace dimple::testing {
namespace {

TEST_CASE("kernels: an id has a name, and a name an id") {
  const auto names = kernelNames();
  REQUIRE_FALSE(names.empty());
  for (size_t i = 0; i < names.size(); ++i) {
    CHECK(kernelIndex(names[i].id) == i);
    CHECK(kernelNamed(names[i].name) == names[i].id);
  }
  CHECK(kernelName({KernelFamily::Binary, 1, KernelType::F32}) == "binary_packed.f32");
  CHECK(kernelName({KernelFamily::Copy, 0, KernelType::B16, true}) == "copy_native.b16");
  CHECK(kernelName({KernelFamily::FloatTiles, 1, KernelType::F32}) == "gemm_vector_tile.f32");
  CHECK(kernelName({KernelFamily::Copy, 0, KernelType::F32}).empty());
  CHECK_FALSE(kernelNamed("copy.f32"));
}

TEST_CASE("kernels: one that the manifest does not have is refused") {
  const auto plan = planned("ACTIVATION_SOFTMAX InputTensor=f32[1,1,2,8] OutputTensor=f32[1,1,2,8]");
  REQUIRE(plan);
  kernels::Softmax softmax{.form = kernels::Softmax::Form::Strided,
                           .type = KernelType::I8,
                           .push = {.rows = 2, .elements = 8, .split = {1, 1, 3}},
                           .spec = {.function = DML_OPERATOR_ACTIVATION_SOFTMAX, .row = 0, .cached = 0},
                           .x = plan->execution[0].buffers[0],
                           .y = plan->execution[0].buffers[1]};
  const KernelCall call = softmax;
  CHECK_FALSE(kernelIndex(call.kernel));
  softmax.type = KernelType::F32;
  CHECK(KernelCall(softmax).kernel == plan->execution[0].kernel);
}

TEST_CASE("kernels: a dispatch that writes what its kernel reads is refused") {
  auto plan = planned("ACTIVATION_SOFTMAX InputTensor=f32[1,1,2,8] OutputTensor=f32[1,1,2,8]");
  REQUIRE(plan);
  Dispatch& dispatch = plan->execution[0];
  KernelInterface kernel{2, 0b11, 0b10, static_cast<uint32_t>(dispatch.push.size()), dispatch.groupSize, 0};
  CHECK(checkDispatch(dispatch, kernel, {}));
  dispatch.buffers[0].writes = true;
  auto error = checkDispatch(dispatch, kernel, {});
  REQUIRE_FALSE(error);
  CHECK(error.error().text == "Kernel softmax.f32 only reads binding 0; its dispatch says that it writes it.");
  dispatch.buffers[0].writes = false;
  // Which of its buffers a kernel writes may depend on its specialization, but not where it cannot read.
  dispatch.buffers[1].writes = false;
  CHECK(checkDispatch(dispatch, kernel, {}));
  kernel.readBindings = 0b01;
  error = checkDispatch(dispatch, kernel, {});
  REQUIRE_FALSE(error);
  CHECK(error.error().text == "Kernel softmax.f32 only writes binding 1; its dispatch says that it reads it.");
}

}  // namespace
}  // namespace dimple::testing
