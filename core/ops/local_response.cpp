// LOCAL_RESPONSE_NORMALIZATION and its gradient.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/elementwise.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/local_response.h"
#include "kernels/interfaces/local_response_grad.h"
#include "kernels/interfaces/local_response_vectors.h"

namespace dimple {
namespace {

// ---- checks ---------------------------------------------------------------------------------------------------------

template <class S>
Status checkLocalResponse(const Operation& op) {
  return checkAtLeast("LocalSize", op.as<S>().LocalSize, 1);
}

// ---- plans ----------------------------------------------------------------------------------------------------------

// What a dispatch of kernels/normalization/local_response.comp reads and makes.
enum class RegionSource : uint32_t { Squares, Sums };
enum class RegionTarget : uint32_t { Sums, Output, GradientParts, Gradient };

// The attributes of both operators.
struct LocalResponse {
  bool crossChannel;
  uint32_t size;  // of a region
  double alpha, beta, bias;
};

template <class S>
LocalResponse localResponseOf(const Operation& op) {
  const auto& desc = op.as<S>();
  return {desc.CrossChannel != 0, desc.LocalSize, double{desc.Alpha}, double{desc.Beta}, double{desc.Bias}};
}

// Regions of LocalSize elements along channels, or along both spatial dimensions one after the other.
class LocalResponsePlan {
 public:
  LocalResponsePlan(PlanBuilder& builder, const LocalResponse& attributes)
      : builder_(builder), attributes_(attributes), gradient_(builder.op().inputs().size() > 1) {}

  Status make() {
    const auto planes = planesInVectors();
    if (planes) return gradient_ ? addGradient(*planes) : addPlanes(*planes);
    builder_.passOver({gradient_ ? "local_response_grad" : "local_response_vectors",
                       "Its lines are not in vectors, or its regions are large."});
    const Operation& op = builder_.op();
    const Tensor& x = op.input(0);
    const Tensor& g = op.input(gradient_ ? 1 : 0);
    std::vector<uint32_t> words;
    uint32_t packed = 1;
    for (uint32_t d = x.rank; d-- > 0;) {
      appendDivisor(words, x.sizes[d]);
      words.insert(words.end(), {x.strides[d], g.strides[d], op.output().strides[d], packed});
      packed *= x.sizes[d];
    }
    parameters_ = builder_.parameters(words);
    if (gradient_ || !attributes_.crossChannel)
      TRY(builder_.checkBindable(x.elements * 4, cat("InputTensor has ", x.elements, " elements"), "sums", 4));
    return attributes_.crossChannel ? addAlongChannels() : addAlongImage();
  }

 private:
  // Axes count from the innermost.
  static constexpr uint32_t kWidth = 0, kHeight = 1, kChannels = 2;

  // Describes what kernels of lines in vectors take. The region reaches along the lines, too, unless it reaches only
  // from channel to channel; then each line is a whole image.
  struct Planes {
    Walk walk;  // operands: the inputs, the output
    uint32_t across;
    uint32_t along;
    std::array<uint32_t, kMaxOperands> lineSteps;

    uint32_t acrossBits() const { return std::min<uint32_t>(std::bit_width(across - 1), 5); }
    uint64_t groups() const {
      const uint64_t tiles =
          divideUp(across, uint64_t{1} << acrossBits()) * divideUp(along, uint64_t{kGroupSize} >> acrossBits());
      return tiles * walk.count();
    }
  };

  std::optional<Planes> planesInVectors() const {
    constexpr uint32_t kMostReach = 2;
    constexpr uint32_t kMostParts = 4096;  // elements in shared memory
    const Operation& op = builder_.op();
    const Tensor& x = op.input(0);
    const uint32_t number = vectorElements(x.type);
    // The gradient divides a power by its base, which may be 0 where the exponent is negative.
    if (gradient_ && attributes_.beta < 0) return {};
    if (!attributes_.crossChannel && (gradient_ || attributes_.size / 2 > kMostReach)) return {};
    const uint32_t lines = x.rank - 1 - (attributes_.crossChannel ? kChannels : kHeight);
    const uint32_t operands = gradient_ ? 0b111 : 0b011;
    const Walk all = gradient_ ? makeWalk(x.sizeSpan(), {&x, &op.input(1), &op.output()})
                               : makeWalk(x.sizeSpan(), {&x, &op.output()});
    const SplitWalk walks = split(all, (1u << x.rank) - (2u << lines));
    Walk line = walks.reduced;
    line.coalesce();
    if (line.rank != 1) return {};
    const auto vectors = line.inVectors(number, operands);
    const auto others = walks.kept.betweenVectors(number, operands);
    if (!vectors || !others) return {};
    Planes planes{.walk = {}, .across = vectors->sizes[0], .along = x.sizes[lines], .lineSteps = {}};
    for (uint32_t d = 0; d < others->rank; ++d)
      if (d == lines)
        planes.lineSteps = others->strides[d];
      else
        planes.walk.addDimension(others->sizes[d], others->strides[d]);
    planes.walk.coalesce();
    const uint64_t reaching = uint64_t{attributes_.size - 1} << planes.acrossBits();
    if (gradient_ && (reaching + kGroupSize) * number > kMostParts) return {};
    return planes;
  }

  kernels::ResponseLinesWords lineWords(const Planes& planes) const {
    return {.rank = planes.walk.rank,
            .across = planes.across,
            .acrossBits = planes.acrossBits(),
            .along = planes.along,
            .before = (attributes_.size - 1) / 2,
            .after = attributes_.size / 2,
            .inputStep = planes.lineSteps[0]};
  }

  Status addGradient(const Planes& planes) {
    const Tensor& x = builder_.op().input(0);
    const double share = attributes_.alpha / attributes_.size;
    return builder_.add(kernels::LocalResponseGrad{.type = kernelType(x.type),
                                                   .push = {.responseLines = lineWords(planes),
                                                            .gradientStep = planes.lineSteps[1],
                                                            .outputStep = planes.lineSteps[2],
                                                            .exponent = floatBits(-attributes_.beta),
                                                            .share = floatBits(share),
                                                            .bias = floatBits(attributes_.bias),
                                                            .factor = floatBits(2 * share * attributes_.beta)},
                                                   .x = builder_.input(0),
                                                   .g = builder_.input(1),
                                                   .y = builder_.output()},
                        planes.groups(), builder_.parameters(planes.walk), 2 * kLookup * x.elements * attributes_.size);
  }

  Status addPlanes(const Planes& planes) {
    const Tensor& x = builder_.op().input(0);
    const uint32_t reach = std::min(attributes_.size, planes.along) * (attributes_.crossChannel ? 1 : attributes_.size);
    return builder_.add(kernels::LocalResponseVectors{.type = kernelType(x.type),
                                                      .push = {.responseLines = lineWords(planes),
                                                               .outputStep = planes.lineSteps[1],
                                                               .exponent = floatBits(-attributes_.beta),
                                                               .share = floatBits(attributes_.alpha / attributes_.size),
                                                               .bias = floatBits(attributes_.bias)},
                                                      .spec = {.wide = !attributes_.crossChannel},
                                                      .x = builder_.input(0),
                                                      .y = builder_.output()},
                        planes.groups(), builder_.parameters(planes.walk), kLookup * x.elements * reach);
  }

  // Adds a dispatch. The arguments say what it sums along an axis, and what it computes from the sums.
  struct Stage {
    uint32_t axis;
    bool reversed;
    RegionSource from;
    RegionTarget to;
  };

  BufferRange allocateSums() { return builder_.allocateTemporary(builder_.op().input(0).elements * 4); }

  Status add(const Stage& stage, const BufferRange& source, const BufferRange& direct, const BufferRange& sums) {
    const Tensor& x = builder_.op().input(0);
    const double share = attributes_.alpha / attributes_.size;
    const double factor = 2 * share * attributes_.beta;
    // The region reaches further behind an element than ahead of it if LocalSize is even.
    const uint32_t shorter = (attributes_.size - 1) / 2;
    const uint32_t longer = attributes_.size / 2;
    return builder_.addItems(
        kernels::LocalResponse{
            .type = builder_.typedElement(x.type),
            .push = {.count = static_cast<uint32_t>(x.elements),
                     .axis = stage.axis,
                     .before = stage.reversed ? longer : shorter,
                     .after = stage.reversed ? shorter : longer,
                     .exponent = floatBits(-attributes_.beta),
                     .share = floatBits(share),
                     .bias = floatBits(attributes_.bias),
                     .factor = floatBits(factor)},
            .spec = {.source = static_cast<uint32_t>(stage.from), .target = static_cast<uint32_t>(stage.to)},
            .x = builder_.input(0),
            .g = builder_.input(gradient_ ? 1 : 0),
            .source = source,
            .direct = kernels::WriteBuffer::asGiven(direct),
            .target = kernels::WriteBuffer::asGiven(sums),
            .y = builder_.output()},
        x.elements, parameters_, kLookup * std::min(attributes_.size, x.sizes[x.rank - 1 - stage.axis]));
  }

  // Ranges that a dispatch does not touch are the output's or the input's.
  Status addAlongChannels() {
    const BufferRange x = builder_.input(0);
    const BufferRange y = builder_.output();
    if (!gradient_) return add({kChannels, false, RegionSource::Squares, RegionTarget::Output}, x, y, y);
    const BufferRange direct = allocateSums();
    const BufferRange shares = allocateSums();
    TRY(add({kChannels, false, RegionSource::Squares, RegionTarget::GradientParts}, x, direct, shares));
    return add({kChannels, true, RegionSource::Sums, RegionTarget::Gradient}, shares, direct, y);
  }

  Status addAlongImage() {
    const BufferRange x = builder_.input(0);
    const BufferRange y = builder_.output();
    // For a gradient, computes what elements get from themselves and from their regions.
    const BufferRange direct = gradient_ ? allocateSums() : y;
    const BufferRange shares = gradient_ ? allocateSums() : y;
    const BufferRange sums = allocateSums();
    TRY(add({kWidth, false, RegionSource::Squares, RegionTarget::Sums}, x, y, sums));
    if (!gradient_) return add({kHeight, false, RegionSource::Sums, RegionTarget::Output}, sums, direct, shares);
    TRY(add({kHeight, false, RegionSource::Sums, RegionTarget::GradientParts}, sums, direct, shares));
    TRY(add({kWidth, true, RegionSource::Sums, RegionTarget::Sums}, shares, y, sums));
    return add({kHeight, true, RegionSource::Sums, RegionTarget::Gradient}, sums, direct, y);
  }

  PlanBuilder& builder_;
  const LocalResponse attributes_;
  const bool gradient_;
  uint32_t parameters_ = 0;
};

template <class S>
Status planLocalResponse(const Operation& op, PlanBuilder& builder) {
  return LocalResponsePlan(builder, localResponseOf<S>(op)).make();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

#define DIMPLE_REGIONS DIMPLE_BOOL(CrossChannel), DIMPLE_UINT(LocalSize), DIMPLE_FLOAT(Alpha, Beta, Bias)
DIMPLE_FIELDS(kLocalResponseFields, DIMPLE_IN_AND_OUT, DIMPLE_REGIONS);
DIMPLE_FIELDS(kLocalResponseGradFields, DIMPLE_OF_GRADIENT, DIMPLE_REGIONS);

constexpr TypeHistory kTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kGradTypes{{k3_1, kFloats, 4, 4}};
constexpr TensorRule kRules[] = {{kTypes}, {kTypes, {0, -1, 0}}};
constexpr TensorRule kResponseGradRules[] = {{kGradTypes}, {kGradTypes, {0, -1, 0}}, {kGradTypes, {0, -1, 0}}};

constexpr OpSchema kLocalResponseSchemas[] = {
    DIMPLE_DESC_ROW(LOCAL_RESPONSE_NORMALIZATION, kLocalResponseFields, kRules, checkLocalResponse, planLocalResponse),
    DIMPLE_DESC_ROW(LOCAL_RESPONSE_NORMALIZATION_GRAD, kLocalResponseGradFields, kResponseGradRules, checkLocalResponse,
                    planLocalResponse),
};

}  // namespace

std::span<const OpSchema> localResponseSchemas() { return kLocalResponseSchemas; }

}  // namespace dimple
