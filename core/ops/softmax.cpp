// SOFTMAX, LOG_SOFTMAX and HARDMAX.
#include "core/ops/softmax.h"

#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {

Status addSoftmax(PlanBuilder& builder, DML_OPERATOR_TYPE function, const Tensor& x, const Tensor& y, uint32_t axisMask,
                  const BufferRange& from, const BufferRange& to) {
  // Below, a workgroup's reduction trees cost more than they save.
  constexpr uint64_t kRowElements = 64;
  Walk kept;
  Walk reduced;
  for (uint32_t d = 0; d < x.rank; ++d)
    (axisMask >> d & 1 ? reduced : kept).addDimension(x.sizes[d], {x.strides[d], y.strides[d]});
  kept.sortBy(0);
  kept.coalesce();
  reduced.coalesce();
  const auto rows = static_cast<uint32_t>(kept.count());
  const auto length = static_cast<uint32_t>(reduced.count());
  const bool row = length >= kRowElements;
  constexpr uint32_t kCached = 16;  // of kernels/softmax/softmax.comp
  const bool cached = row && length <= kCached * kGroupSize && function != DML_OPERATOR_ACTIVATION_HARDMAX;

  std::vector<uint32_t> words;
  appendWalk(words, kept);
  const auto reducedAt = static_cast<uint32_t>(words.size() / 4);
  appendWalk(words, reduced);
  return builder.add(typedKernel("softmax", x.type, builder.caps()), taskGroups(rows, row),
                     {rows, length, kept.rank, reduced.rank, reducedAt}, {from, to}, builder.parameters(words),
                     {{0, static_cast<uint32_t>(function)}, {1, row}, {2, cached}});
}

namespace {

// The operators without Axes reduce the rows of one matrix.
Status checkMatrix(const OpView& view) { return checkLeadingOnes("InputTensor", view.input(0), 2); }

// Axes are a set: any order, duplicates ignored, possibly empty.
Status checkSoftmax1(const OpView& view) {
  const auto& desc = view.as<DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC>();
  return checkAxes({desc.Axes, desc.AxisCount}, view.input(0).rank);
}

static_assert(sizeof(DML_ACTIVATION_LOG_SOFTMAX1_OPERATOR_DESC) == sizeof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC) &&
              sizeof(DML_ACTIVATION_HARDMAX1_OPERATOR_DESC) == sizeof(DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC));

// What the kernel computes.
DML_OPERATOR_TYPE functionOf(const OpView& view) {
  switch (view.schema().type) {
    case DML_OPERATOR_ACTIVATION_HARDMAX:
    case DML_OPERATOR_ACTIVATION_HARDMAX1:
      return DML_OPERATOR_ACTIVATION_HARDMAX;
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX:
    case DML_OPERATOR_ACTIVATION_LOG_SOFTMAX1:
      return DML_OPERATOR_ACTIVATION_LOG_SOFTMAX;
    default:
      return DML_OPERATOR_ACTIVATION_SOFTMAX;
  }
}

Result<Plan> planRows(const OpView& view, const Caps& caps, uint32_t axisMask) {
  PlanBuilder builder(view, caps);
  if (auto error = addSoftmax(builder, functionOf(view), view.input(0), view.output(), axisMask, builder.input(0),
                              builder.output()))
    return *error;
  return builder.finish();
}

Result<Plan> planSoftmax(const OpView& view, const Caps& caps) {
  return planRows(view, caps, 1u << (view.input(0).rank - 1));
}

Result<Plan> planSoftmax1(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_ACTIVATION_SOFTMAX1_OPERATOR_DESC>();
  uint32_t mask = 0;
  for (const UINT axis : std::span(desc.Axes, desc.AxisCount)) mask |= 1u << axis;
  return planRows(view, caps, mask);
}

template <class S>
constexpr Field kHardmaxFields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor)};
template <class S>
constexpr Field kSoftmax1Fields[] = {DIMPLE_INPUT(S, InputTensor), DIMPLE_OUTPUT(S, OutputTensor),
                                     DIMPLE_ATTRIBUTE(S, AxisCount, UInt), DIMPLE_ARRAY(S, Axes, UIntArray, 2)};

constexpr TypeHistory kHardmaxTypes{{k1_0, kFloats, 4, 4}, {k2_0, kFloats, 4, 5}, {k3_0, kFloats}};
constexpr TypeHistory kSoftmax1Types{{k5_1, kFloats}};

constexpr TensorRule kHardmaxRules[] = {{kHardmaxTypes}, {kHardmaxTypes, like(0)}};
constexpr TensorRule kSoftmax1Rules[] = {{kSoftmax1Types}, {kSoftmax1Types, like(0)}};

constexpr OpSchema kSoftmaxSchemas[] = {
    DIMPLE_ROW(ACTIVATION_HARDMAX, kHardmaxFields, kHardmaxRules, false, false, checkMatrix, planSoftmax),
    DIMPLE_ROW(ACTIVATION_LOG_SOFTMAX, kHardmaxFields, kHardmaxRules, false, false, checkMatrix, planSoftmax),
    DIMPLE_ROW(ACTIVATION_SOFTMAX, kHardmaxFields, kHardmaxRules, false, false, checkMatrix, planSoftmax),
    DIMPLE_ROW(ACTIVATION_SOFTMAX1, kSoftmax1Fields, kSoftmax1Rules, false, false, checkSoftmax1, planSoftmax1),
    DIMPLE_ROW(ACTIVATION_LOG_SOFTMAX1, kSoftmax1Fields, kSoftmax1Rules, false, false, checkSoftmax1, planSoftmax1),
    DIMPLE_ROW(ACTIVATION_HARDMAX1, kSoftmax1Fields, kSoftmax1Rules, false, false, checkSoftmax1, planSoftmax1),
};

}  // namespace

std::span<const OpSchema> softmaxSchemas() { return kSoftmaxSchemas; }

}  // namespace dimple
