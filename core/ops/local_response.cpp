// LOCAL_RESPONSE_NORMALIZATION and its gradient.
#include <array>

#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

template <class S>
Status checkLocalResponse(const OpView& view) {
  return checkAtLeast("LocalSize", view.as<S>().LocalSize, 1);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// What a dispatch of kernels/normalization/local_response.comp reads and makes.
enum class RegionSource : uint32_t { Squares, Sums };
enum class RegionTarget : uint32_t { Sums, Output, GradientParts, Gradient };

// Regions of LocalSize elements along channels, or along both spatial dimensions one after the other.
template <class S>
Result<Plan> planLocalResponse(const OpView& view, const Caps& caps) {
  PlanBuilder builder(view, caps);
  const auto& desc = view.as<S>();
  const Tensor& x = view.input(0);
  const Tensor& y = view.output();
  const bool gradient = view.inputs().size() > 1;
  const Tensor& g = view.input(gradient ? 1 : 0);
  std::vector<uint32_t> words;
  uint32_t packed = 1;
  for (uint32_t d = x.rank; d-- > 0;) {
    appendDivisor(words, x.sizes[d]);
    words.insert(words.end(), {x.strides[d], g.strides[d], y.strides[d], packed});
    packed *= x.sizes[d];
  }
  const uint32_t parameters = builder.parameters(words);
  const double share = static_cast<double>(desc.Alpha) / desc.LocalSize;
  const double factor = 2 * share * static_cast<double>(desc.Beta);
  // The region reaches further behind an element than ahead of it if LocalSize is even.
  const uint32_t shorter = (desc.LocalSize - 1) / 2;
  const uint32_t longer = desc.LocalSize / 2;

  std::array<BufferRange, 4> temporary{};
  const uint64_t bytes = x.elements * 4;
  const size_t temporaries = gradient ? (desc.CrossChannel ? 2 : 3) : (desc.CrossChannel ? 0 : 1);
  if (temporaries != 0 && bytes > caps.maxBufferRange)
    return Error{ErrorCode::Unsupported,
                 cat("InputTensor has ", x.elements, " elements, but this device binds at most ",
                     caps.maxBufferRange / 4, " sums to a kernel.")};
  for (size_t i = 0; i < temporaries; ++i) temporary[i] = builder.allocateTemporary(bytes);

  const BufferRange output = builder.output();
  const auto add = [&](uint32_t axis, bool reversed, RegionSource from, RegionTarget to, BufferRange source,
                       const BufferRange& direct, const BufferRange& target) {
    source.writes = false;
    return builder.addItems(
        typedKernel("local_response", x.type, caps), x.elements,
        {static_cast<uint32_t>(x.elements), axis, reversed ? longer : shorter, reversed ? shorter : longer,
         floatBits(-desc.Beta), floatBits(share), floatBits(desc.Bias), floatBits(factor)},
        {builder.input(0), builder.input(gradient ? 1 : 0), source, direct, target, output}, parameters,
        {{0, static_cast<uint32_t>(from)}, {1, static_cast<uint32_t>(to)}});
  };
  // Axes count from the innermost.
  constexpr uint32_t kWidth = 0, kHeight = 1, kChannels = 2;
  const RegionTarget sum = gradient ? RegionTarget::GradientParts : RegionTarget::Output;
  const BufferRange& direct = gradient ? temporary[0] : output;
  const BufferRange& shares = gradient ? temporary[1] : output;
  if (desc.CrossChannel) {
    if (auto error = add(kChannels, false, RegionSource::Squares, sum, builder.input(0), direct, shares)) return *error;
    if (!gradient) return builder.finish();
    if (auto error = add(kChannels, true, RegionSource::Sums, RegionTarget::Gradient, shares, direct, output))
      return *error;
    return builder.finish();
  }
  const BufferRange& sums = temporary[gradient ? 2 : 0];
  if (auto error = add(kWidth, false, RegionSource::Squares, RegionTarget::Sums, builder.input(0), output, sums))
    return *error;
  if (auto error = add(kHeight, false, RegionSource::Sums, sum, sums, direct, shares)) return *error;
  if (!gradient) return builder.finish();
  if (auto error = add(kWidth, true, RegionSource::Sums, RegionTarget::Sums, shares, output, sums)) return *error;
  if (auto error = add(kHeight, true, RegionSource::Sums, RegionTarget::Gradient, sums, direct, output)) return *error;
  return builder.finish();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

template <class S>
constexpr Field kLocalResponseNormalizationFields[] = {
    DIMPLE_INPUT(S, InputTensor),         DIMPLE_OUTPUT(S, OutputTensor),    DIMPLE_ATTRIBUTE(S, CrossChannel, Bool),
    DIMPLE_ATTRIBUTE(S, LocalSize, UInt), DIMPLE_ATTRIBUTE(S, Alpha, Float), DIMPLE_ATTRIBUTE(S, Beta, Float),
    DIMPLE_ATTRIBUTE(S, Bias, Float)};
template <class S>
constexpr Field kLocalResponseNormalizationGradFields[] = {
    DIMPLE_INPUT(S, InputTensor),           DIMPLE_INPUT(S, InputGradientTensor),
    DIMPLE_OUTPUT(S, OutputGradientTensor), DIMPLE_ATTRIBUTE(S, CrossChannel, Bool),
    DIMPLE_ATTRIBUTE(S, LocalSize, UInt),   DIMPLE_ATTRIBUTE(S, Alpha, Float),
    DIMPLE_ATTRIBUTE(S, Beta, Float),       DIMPLE_ATTRIBUTE(S, Bias, Float)};

constexpr TypeHistory kLocalResponseNormalizationTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kLocalResponseNormalizationGradTypes{{k3_1, kFloats, 4, 4}};

constexpr TensorRule kLocalResponseNormalizationRules[] = {{kLocalResponseNormalizationTypes},
                                                           {kLocalResponseNormalizationTypes, {0, -1, 0}}};
constexpr TensorRule kLocalResponseNormalizationGradRules[] = {{kLocalResponseNormalizationGradTypes},
                                                               {kLocalResponseNormalizationGradTypes, {0, -1, 0}},
                                                               {kLocalResponseNormalizationGradTypes, {0, -1, 0}}};

constexpr OpSchema kLocalResponseSchemas[] = {
    DIMPLE_ROW(LOCAL_RESPONSE_NORMALIZATION, kLocalResponseNormalizationFields, kLocalResponseNormalizationRules, false,
               false, checkLocalResponse<DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC>,
               planLocalResponse<DML_LOCAL_RESPONSE_NORMALIZATION_OPERATOR_DESC>),
    DIMPLE_ROW(LOCAL_RESPONSE_NORMALIZATION_GRAD, kLocalResponseNormalizationGradFields,
               kLocalResponseNormalizationGradRules, false, false,
               checkLocalResponse<DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC>,
               planLocalResponse<DML_LOCAL_RESPONSE_NORMALIZATION_GRAD_OPERATOR_DESC>),
};

}  // namespace

std::span<const OpSchema> localResponseSchemas() { return kLocalResponseSchemas; }

}  // namespace dimple
