// Plans of matrix products whose weights DML owns. No device is involved.
#include <doctest/doctest.h>

#include "core/desc_text.h"
#include "core/op_view.h"
#include "core/plan_builder.h"
#include "core/text.h"

using namespace dimple;

namespace {

Plan planOf(std::string_view line) {
  auto parsed = parseCase(line);
  REQUIRE(parsed);
  const auto view = validate(parsed->desc.desc());
  REQUIRE_MESSAGE(view, view.error().text);
  auto plan = planOperator(*view, {});
  REQUIRE_MESSAGE(plan, plan.error().text);
  return std::move(*plan);
}

// 32 rows, a depth of 64.
Plan planOf(std::string_view b, uint32_t columns, std::string_view type = "f32") {
  return planOf(cat("GEMM Alpha=1 ATensor=", type, "[1,1,32,64] BTensor=", type, b, " OutputTensor=", type, "[1,1,32,",
                    columns, "]"));
}

}  // namespace

TEST_CASE("B that DML owns is kept as it is where it is read in vectors") {
  const Plan plan = planOf("[1,1,64,40]!", 40);
  REQUIRE(plan.initialization.size() == 1);
  CHECK(plan.initialization[0].kernel == "copy_packed");
  CHECK(plan.execution[0].kernel == "gemm_vector_tile.f32");
}

TEST_CASE("B that DML owns is copied along the depth where its rows are no vectors") {
  const Plan plan = planOf("[1,1,64,41]!", 41);
  REQUIRE(plan.initialization.size() == 1);
  CHECK(plan.initialization[0].kernel == "transpose.b32");
  CHECK(plan.persistentBytes == 64 * 41 * 4);
  REQUIRE(plan.execution.size() == 1);
  CHECK(plan.execution[0].kernel == "gemm_vector_tile.f32");
  CHECK(plan.execution[0].buffers[1].kind == SlotKind::Persistent);

  const Plan every = planOf("[1,1,64,41]", 41);
  CHECK(every.initialization.empty());
  CHECK(every.execution[0].kernel == "gemm_tile.f32");
}

TEST_CASE("B that DML owns is packed where it has gaps") {
  const Plan plan = planOf("[1,1,64,40]{0,0,41,1}!", 40);
  REQUIRE(plan.initialization.size() == 1);
  CHECK(plan.initialization[0].kernel == "copy.b32");
  CHECK(plan.persistentBytes == 64 * 40 * 4);
  CHECK(plan.execution[0].kernel == "gemm_vector_tile.f32");
}

TEST_CASE("B that DML owns is kept as it is where no layout of it is read in vectors") {
  const Plan plan = planOf("GEMM Alpha=1 ATensor=f32[1,1,32,63] BTensor=f32[1,1,63,41]! OutputTensor=f32[1,1,32,41]");
  REQUIRE(plan.initialization.size() == 1);
  CHECK(plan.initialization[0].kernel == "copy_packed");
  CHECK(plan.execution[0].kernel == "gemm_tile.f32");
}

TEST_CASE("matrices of B that several products share are kept once") {
  const Plan plan =
      planOf("GEMM Alpha=1 ATensor=f32[3,2,32,64] BTensor=f32[3,2,64,41]{0,2624,41,1}! OutputTensor=f32[3,2,32,41]");
  CHECK(plan.persistentBytes == 2 * 64 * 41 * 4);
}

TEST_CASE("vectors of FLOAT16 are of eight elements") {
  CHECK(planOf("[1,1,64,44]!", 44, "f16").initialization[0].kernel != "copy_packed");
  CHECK(planOf("[1,1,64,48]!", 48, "f16").initialization[0].kernel == "copy_packed");
}
