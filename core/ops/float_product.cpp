// Products of floats.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "core/checked.h"
#include "core/ops/patch_kernels.h"
#include "core/ops/product.h"
#include "core/ops/product_words.h"
#include "core/ops/tile_refusals.h"
#include "kernels/interfaces/convolution_direct.h"
#include "kernels/interfaces/few_rows.h"
#include "kernels/interfaces/float_blocks.h"
#include "kernels/interfaces/float_combination.h"
#include "kernels/interfaces/float_product.h"
#include "kernels/interfaces/float_tiles.h"

namespace dimple {
namespace {

// The names are those in kernels/matrix/*.glsl.
constexpr uint32_t kWide = 2;
constexpr uint32_t kToParts = 16;
constexpr uint32_t kStoresFours = 32;
constexpr uint32_t kWhole = 64;
constexpr uint32_t kUnrolled = 128;
constexpr uint32_t kRowsFirst = 256;
constexpr uint32_t kBringsWeights = 512;
constexpr uint32_t kFromHalves = 512;  // of the epilogue
constexpr uint32_t kInRegisters = 1024;
constexpr uint32_t kUnscaled = 2048;
constexpr uint32_t kSameLines = 4096;
constexpr uint32_t kInVectors = 2;  // of ROWS_FIRST
constexpr uint32_t kInEvenVectors = 3;

// Dimensions of one element have no steps, so their strides do not count.
void dropIdleStrides(Product& p) {
  if (p.rows == 1) p.a.row = p.c.row = p.y.row = 0;
  if (p.columns == 1) p.b.column = p.c.column = p.y.column = 0;
  if (p.depth == 1) p.a.column = p.b.row = 0;
}

// y = A B is also the transpose of the product of B transposed and A transposed.
void transpose(Product& p) {
  std::swap(p.rows, p.columns);
  std::swap(p.a, p.b);
  for (Product::Strides* s : {&p.a, &p.b, &p.c, &p.y}) std::swap(s->row, s->column);
  std::swap(p.from[0], p.from[1]);
  std::swap(p.bytes[0], p.bytes[1]);
  for (uint32_t d = 0; d < p.matrices.rank; ++d) std::swap(p.matrices.strides[d][0], p.matrices.strides[d][1]);
  std::swap(p.matrices.base[0], p.matrices.base[1]);
}

// Returns how many invocations share the sum of a place, which is one column or several. Each of them takes `vector`
// steps at a time. If there are few places, the invocations are enough to fill the device. If B lies along the depth,
// they are also so many that each has few steps. If it lies across the depth, at least four neighbours in a row, which
// are read together, remain.
uint32_t sliceBitsOf(const Product& p, uint64_t places, bool depthFirst, uint32_t vector, const Target& target) {
  const uint64_t invocations = uint64_t{target.caps.workgroups} * kGroupSize;
  constexpr uint32_t kMaxSteps = 16;
  constexpr uint32_t kBitsOfNeighbours = 6;
  uint32_t bits = depthFirst ? 5 : 3;
  const auto wanted = [&] {
    const uint64_t all = (p.matrices.count() * places) << bits;
    if (bits == 8 || (p.depth >> bits) < 16) return false;
    if (depthFirst && bits < kBitsOfNeighbours && vector > 1 && (p.depth / vector) >> bits > kMaxSteps) return true;
    return all < (depthFirst || vector == 1 || bits < kBitsOfNeighbours ? invocations : invocations / 2);
  };
  while (wanted()) ++bits;
  return bits;
}

// Returns how the depth is cut so that there are enough workgroups if tiles are few.
struct Slices {
  uint32_t depth;
  uint32_t count;
};

Slices slicesOf(const Product& p, const ProductKernel& kernel, const Target& target) {
  using enum kernels::FloatTiles::Form;
  const Tile& tile = kernel.tile;
  const auto form = kernel.form<kernels::FloatTiles>();
  const bool shared = tile.shares > 1;
  // Tiles of few rows read B once, as fast as memory delivers it. This takes two workgroups side by side on each part
  // of the device.
  const bool few = tile.rows <= kMaxFewRows && !shared;
  // One large tile that looks ahead fills a part of the device, where otherwise two workgroups run side by side. More
  // slices would take longer to combine.
  const bool large = form == VectorMatricesAhead && tile.columns > 64;
  const uint64_t side = target.caps.workgroups;
  const uint64_t workgroups = few ? side * 9 / 8 : large || shared ? side / 2 : side;
  // Two workgroups of half as many invocations run side by side, so that more tiles than `fewTiles` still leave a large
  // part of the device idle. These tiles are sliced, too, if slices are deep enough to be worth combining. If subgroups
  // share the depth, short slices gain less than combining them costs.
  const bool paired = tile.invocations < kGroupSize && form != ConvolutionNarrow;
  const uint32_t minSteps = paired ? 2048 : shared ? 4096 : 128;
  const uint64_t tiles = tilesOf(p, tile);
  uint64_t slices = std::min(workgroups / tiles, uint64_t{p.depth / minSteps});
  slices = std::min(slices, std::min(target.caps.maxBufferRange, uint64_t{256} << 20) / (p.elements() * 4));
  // If the parts of a workgroup share the depth, slices gain little.
  const bool parts = form == Split || form == SplitSmall || form == ConvolutionSplitSmall;
  const bool whole = parts || form == PatchWindows || form == ChunkWindows ||
                     (!few && !paired && tiles > fewTiles(target)) || slices < 2;
  const auto depth = whole ? p.depth : static_cast<uint32_t>(alignUp(divideUp(p.depth, slices), tile.depth));
  return {depth, static_cast<uint32_t>(divideUp(p.depth, depth))};
}

bool ofMatrices(kernels::FloatTiles::Form form) {
  using enum kernels::FloatTiles::Form;
  return form == Matrices || form == MatricesAhead || form == ConvolutionMatrices || form == VectorMatrices ||
         form == VectorMatricesAhead || form == MatricesSplit || form == WindowsSplit || form == VectorWindowsSplit ||
         form == PatchWindows || form == ChunkWindows;
}

// Makes the dispatches of a product for the chosen kernel.
class FloatProductPlan {
 public:
  FloatProductPlan(PlanBuilder& builder, const Product& product, const FloatFinish& finish,
                   const ConvolutionWindow* window)
      : builder_(builder), p_(product), finish_(finish), window_(window), request_{p_, builder.target(), window} {}

  Status add() {
    const ProductKernel& kernel = chooseKernel(builder_, request_);
    if (kernel.id.family == kernels::FloatBlocks::kFamily) return addBlocks(kernel);
    std::vector<uint32_t> divisor;  // of steps of the depth: the innermost ones that count together
    if (window_) {
      appendDivisor(divisor, window_->channelsLast != 0 ? window_->channelsLast : std::max(1u, window_->taps));
      divisor.push_back(window_->channelsOfLine);
    }
    parameters_ = builder_.parameters(parameterWords(p_, divisor, window_));
    const KernelFamily family = kernel.id.family;
    if (window_ && window_->continues && family != kernels::FloatTiles::kFamily) builder_.continueLast();
    if (family == kernels::FloatTiles::kFamily) return addTiles(kernel);
    if (family == kernels::FewRows::kFamily) return addFewRows(kernel);
    return family == kernels::ConvolutionDirect::kFamily ? addLines(kernel) : addElements(kernel);
  }

 private:
  uint32_t fused() const { return finish_.activation.type; }
  uint32_t epilogue() const { return finish_.epilogue.steps; }
  // This range is bound in place of an absent tensor, and never read.
  BufferRange unused() const {
    BufferRange range = p_.from[2];
    range.bytes = 4;
    return range;
  }
  BufferRange epilogueInput(size_t input) const { return input ? builder_.input(input) : unused(); }
  BufferRange channels() const { return epilogueInput(finish_.epilogue.channels); }
  BufferRange addend() const { return epilogueInput(finish_.epilogue.addend); }
  uint32_t backward() const { return window_ && window_->backward; }
  uint32_t finishFlags() const {
    const bool addsFirst = p_.hasC && (epilogue() & kEpilogueAddsC) == 0;
    return (addsFirst ? kHasC : 0) | (finish_.wide ? kWide : 0);
  }
  // The parameters of kernels that step through matrices of any strides.
  uint32_t directions() const { return window_ ? 0 : directionsOf(p_); }
  // How tiles read and store, for all descriptions that they take, or for a single one.
  uint32_t tileDirections(kernels::FloatTiles::Form form, bool toParts) const {
    using enum kernels::FloatTiles::Form;
    if ((window_ && !window_->turned) || form == Split || form == SplitSmall) return directions();
    const uint32_t general = directions() | (builder_.target().caps.isProcessor ? 0 : kUnrolled);
    const bool fours = toParts ? p_.columns % 4 == 0 : storesFours();
    if (!fours) return general;
    constexpr uint32_t kParts = 16;  // steps of two of a large tile
    const bool whole = form == Large && !toParts && p_.matrices.count() == 1 && p_.depth % kParts == 0 &&
                       std::ranges::all_of(p_.matrices.base, [](uint32_t base) { return base == 0; });
    return general | kStoresFours | (whole ? kWhole : 0);
  }
  // Whether four columns of the results always lie side by side, at a multiple of four.
  bool storesFours() const {
    if (!window_) return isVectorizable(4, p_.matrices, 3, {p_.y.column, p_.columns}, {p_.y.row, p_.rows});
    uint32_t together = 1;  // places that follow each other
    bool follows = true;    // so far all dimensions' places do
    bool inFours = isVectorizable(4, p_.matrices, 3, {1, 4}, {window_->strides.outputChannel, p_.rows}) &&
                   window_->strides.outputBatch % 4 == 0;
    for (const ConvolutionWindow::Dimension& s : window_->dimensions) {
      if (s.results != s.size) return false;
      if (s.size == 1) continue;
      follows = follows && s.outputStride == together;
      if (follows)
        together *= s.size;
      else
        inFours = inFours && s.outputStride % 4 == 0;
    }
    return inFours && together % 4 == 0;
  }
  KernelElement element(bool words) const {
    return words ? KernelElement(kernelType(p_.type)) : builder_.typedElement(p_.type);
  }

  kernels::FloatFinishWords finish(uint32_t flags) const { return finishWords(p_, finish_, flags); }

  Status addElements(const ProductKernel& kernel) {
    return builder_.add(
        kernels::FloatProduct{.form = kernel.form<kernels::FloatProduct>(),
                              .type = element(finish_.wide),
                              .push = {.rows = p_.rows,
                                       .columns = p_.columns,
                                       .depth = p_.depth,
                                       .count = static_cast<uint32_t>(p_.elements()),
                                       .floatFinish = finish(finishFlags() | directions())},
                              .spec = {.epilogue = epilogue(), .fused = fused(), .backward = backward()},
                              .a = p_.from[0],
                              .b = p_.from[1],
                              .c = p_.from[2],
                              .y = p_.to,
                              .channels = channels(),
                              .addend = addend()},
        divideUp(p_.elements(), kGroupSize), parameters_, p_.multiplyAdds());
  }

  Status addBlocks(const ProductKernel& kernel) {
    const ConvolutionWindow window = window_ ? *window_ : windowOfMatrices(p_);
    if (window.continues) builder_.continueLast();
    const uint64_t rowBlocks = divideUp(p_.rows, kernel.tile.rows);
    const uint64_t columnBlocks = divideUp(p_.columns, kernel.tile.columns);
    const uint64_t blocks = p_.matrices.count() * rowBlocks * columnBlocks;
    // Few blocks are spread over all cores.
    const uint64_t teams = std::clamp<uint64_t>(blocks / builder_.target().caps.workgroups, 1, kGroupSize / kTeam);
    const uint32_t steps = window.taps == 0 ? 0 : p_.depth / window.taps;
    return builder_.add(kernels::FloatBlocks{.form = kernel.form<kernels::FloatBlocks>(),
                                             .type = kernelType(p_.type),
                                             .push = {.rows = p_.rows,
                                                      .columns = p_.columns,
                                                      .taps = window.taps,
                                                      .channels = steps,
                                                      .count = static_cast<uint32_t>(blocks),
                                                      .rowBlocks = static_cast<uint32_t>(rowBlocks),
                                                      .columnBlocks = static_cast<uint32_t>(columnBlocks),
                                                      .teams = static_cast<uint32_t>(teams),
                                                      .floatFinish = finish(finishFlags())},
                                             .spec = {.epilogue = epilogue(), .fused = fused()},
                                             .a = p_.from[0],
                                             .b = p_.from[1],
                                             .c = p_.from[2],
                                             .y = p_.to,
                                             .channels = channels(),
                                             .addend = addend()},
                        divideUp(blocks, teams), builder_.parameters(parameterWords(p_, {}, &window)),
                        p_.multiplyAdds());
  }

  Status addLines(const ProductKernel& kernel) {
    const Lines lines = linesOf(request_);
    return builder_.add(
        kernels::ConvolutionDirect{
            .form = kernel.form<kernels::ConvolutionDirect>(),
            .type = element(finish_.wide),
            .push = {.rows = p_.rows, .lines = lines.words, .floatFinish = finish(finishFlags())},
            .spec = {.epilogue = epilogue(), .fused = fused(), .backward = backward(), .lines = lines.specs},
            .a = p_.from[0],
            .b = p_.from[1],
            .c = p_.from[2],
            .y = p_.to,
            .channels = channels(),
            .addend = addend()},
        lines.workgroups, parameters_, p_.multiplyAdds());
  }

  // Returns the rows of a workgroup of few rows. With fewer rows, more workgroups run side by side, but each block of
  // rows reads B anew.
  uint32_t rowsOfBlock(kernels::FewRows::Form form, uint32_t vector) const {
    if (form == kernels::FewRows::Form::Latency) return kBriefRows;
    if (vector == 1) return kMaxFewSingleRows;
    return std::min(std::bit_ceil(p_.rows), vector == 8 ? 2u : p_.rows > 8 ? 8u : 4u);
  }

  kernels::FewRows::Form fewRowsForm(const ProductKernel& kernel) const {
    using enum kernels::FewRows::Form;
    const auto form = kernel.form<kernels::FewRows>();
    return form == Vector && isBrief(request_) ? Latency : form;
  }

  // Returns the bits of the number of invocations that share a place's sum. In brief products, each of them takes one
  // step of short sums.
  uint32_t sliceBitsOfFewRows(kernels::FewRows::Form form, uint64_t places, bool depthFirst, uint32_t vector) const {
    constexpr uint32_t kShort = 256;
    constexpr uint32_t kFewestBits = 3;  // so that invocations are enough to add shares
    if (form == kernels::FewRows::Form::Latency && p_.depth <= kShort)
      return std::max<uint32_t>(kFewestBits, static_cast<uint32_t>(std::bit_width(p_.depth / vector - 1)));
    return sliceBitsOf(p_, places, depthFirst, vector, builder_.target());
  }

  Status addFewRows(const ProductKernel& kernel) {
    const bool depthFirst = (directions() & kBDepthFirst) != 0;
    const uint32_t vector = std::max(1u, kernel.tile.depth);
    const kernels::FewRows::Form form = fewRowsForm(kernel);
    const uint32_t rows = rowsOfBlock(form, vector);
    // kColumns of kernels/matrix/few_rows_vector.comp.
    const uint32_t columns = vector == 1 ? 1 : rows == 2 ? 2 : 4;
    const uint64_t blocks = divideUp(p_.rows, rows);
    const uint64_t places = divideUp(p_.columns, depthFirst ? columns : vector);
    const uint32_t sliceBits = sliceBitsOfFewRows(form, places * blocks, depthFirst, vector);
    const uint64_t columnGroups = divideUp(places, uint64_t{kGroupSize} >> sliceBits);
    return builder_.add(
        kernels::FewRows{.form = form,
                         .type = element(finish_.wide),
                         .push = {.rows = p_.rows,
                                  .columns = p_.columns,
                                  .depth = p_.depth,
                                  .columnGroups = static_cast<uint32_t>(columnGroups),
                                  .floatFinish = finish(finishFlags() | directions()),
                                  .sliceBits = sliceBits},
                         .spec = {.epilogue = epilogue(), .fused = fused(), .rows = rows, .depthFirst = depthFirst},
                         .a = p_.from[0],
                         .b = p_.from[1],
                         .c = p_.from[2],
                         .y = p_.to,
                         .channels = channels(),
                         .addend = addend()},
        p_.matrices.count() * columnGroups * blocks, parameters_, p_.multiplyAdds());
  }

  // Returns ROWS_FIRST for the kernels that have it. It is set if a convolution's results for one filter after another
  // lie side by side.
  uint32_t rowsFirst(kernels::FloatTiles::Form form) const {
    using enum kernels::FloatTiles::Form;
    const bool known = form == ConvolutionMatrices || form == VectorMatrices || form == VectorMatricesAhead ||
                       form == WindowsSplit || form == VectorWindowsSplit || form == PatchWindows ||
                       form == ChunkWindows;
    if (!known || window_->strides.outputChannel != 1 || p_.rows == 1) return 0;
    if (p_.type != DML_TENSOR_DATA_TYPE_FLOAT16 || !resultsInVectors()) return 1;
    return form == VectorMatricesAhead && resultsLieEvenly() ? kInEvenVectors : kInVectors;
  }
  // Whether each place's results lie as far behind those of the place before as along the innermost dimension.
  bool resultsLieEvenly() const {
    uint64_t next = window_->dimensions[0].outputStride;
    uint64_t places = 1;
    for (const ConvolutionWindow::Dimension& s : window_->dimensions) {
      if (s.results != s.size || (s.size > 1 && s.outputStride != next)) return false;
      next *= s.size;
      places *= s.size;
    }
    return p_.columns == places || window_->strides.outputBatch == next;
  }
  // Whether eight filters' results at a place begin with a vector of FLOAT16.
  bool resultsInVectors() const {
    constexpr uint32_t kVector = 8;
    const auto inVectors = [&](uint32_t stride) { return stride % kVector == 0; };
    return isVectorizable(kVector, p_.matrices, 3, {1, p_.rows}, {window_->strides.outputBatch, 1}) &&
           std::ranges::all_of(window_->dimensions, inVectors, &ConvolutionWindow::Dimension::outputStride);
  }

  // Returns steps of the epilogue if results come in vectors of eight, and if what comes first rounds, so that sums may
  // pass through shared memory as FLOAT16, or stay in registers.
  uint32_t fromHalves(kernels::FloatTiles::Form form, const Tile& tile) const {
    using enum kernels::FloatTiles::Form;
    if (p_.type != DML_TENSOR_DATA_TYPE_FLOAT16 || (finishFlags() & kHasC) != 0) return 0;
    if (form != MatricesAhead && form != VectorMatricesAhead) return 0;
    // A RELU of rounded numbers is the RELU rounded.
    if (epilogue() == 0 && fused() != 0 && fused() != DML_OPERATOR_ACTIVATION_RELU) return 0;
    if (!storesEights(rowsFirst(form) != 0)) return 0;
    const bool same = (window_ ? window_->strides.biasPlace : p_.c.row) == 0;
    return kFromHalves | (finish_.alpha == 1 ? kUnscaled : 0) | (same ? kSameLines : 0) |
           (staysInRegisters(tile, rowsFirst(form) != 0) ? kInRegisters : 0);
  }

  // Whether four neighbours hold lines of a tile's matrices as kernels/matrix/held.glsl exchanges them, which come in
  // pairs.
  bool staysInRegisters(const Tile& tile, bool rowsFirst) const {
    const Target& target = builder_.target();
    const Caps& caps = target.caps;
    constexpr uint32_t kSize = 16;
    constexpr uint32_t kSubgroup = 32;
    if (!caps.knownPlaces || !target.options.places || !caps.has(Feature::SubgroupShuffle)) return false;
    if (caps.matrices.rows != kSize || caps.matrices.columns != kSize || caps.subgroupSize != kSubgroup) return false;
    const uint32_t across = subgroupsAcross(target, tile, caps.matrices);
    const uint32_t along = rowsFirst ? tile.rows / (tile.invocations / kSubgroup / across) : tile.columns / across;
    return along % (2 * kSize) == 0;
  }

  // Whether y has the form in which parts are stored: packed sums of FLOAT32.
  bool isOfSumsAlone() const {
    if (!finish_.wide || p_.hasC || finish_.alpha != 1 || fused() != 0) return false;
    if (p_.y.column != (p_.columns == 1 ? 0 : 1) || p_.y.row != (p_.rows == 1 ? 0 : p_.columns)) return false;
    uint64_t next = uint64_t{p_.rows} * p_.columns;
    for (uint32_t d = p_.matrices.rank; d-- > 0; next *= p_.matrices.sizes[d])
      if (p_.matrices.strides[d][3] != next) return false;
    return p_.matrices.base[3] == 0;
  }

  // Returns the flag if the filters, or B, lie packed, and if all workgroups run at once and are enough to load them.
  uint32_t bringsWeights(const ProductKernel& kernel, uint64_t workgroups) const {
    using enum kernels::FloatTiles::Form;
    const auto form = kernel.form<kernels::FloatTiles>();
    const bool brings =
        form == MatricesAhead || form == VectorMatricesAhead || form == PatchWindows || form == ChunkWindows;
    if (!brings || p_.matrices.rank != 0) return 0;
    if (workgroups > uint64_t{builder_.target().caps.workgroups} * 9 / 8) return 0;
    const bool along = p_.b.row == 1 && p_.b.column == p_.depth;
    const bool across = p_.b.column == 1 && p_.b.row == p_.columns;
    if (!window_ && !along && !across) return 0;
    constexpr uint64_t kSmall = 64 * 1024;
    constexpr uint64_t kOfInvocation = 8 * 32;
    const uint64_t bytes = uint64_t{window_ ? p_.rows : p_.columns} * p_.depth * byteWidth(p_.type);
    return bytes >= kSmall && bytes <= workgroups * kernel.tile.invocations * kOfInvocation ? kBringsWeights : 0;
  }

  // The push words with which a workgroup of a tile computes with a part of its depth only.
  std::vector<uint32_t> briefWords(kernels::FloatTiles::Form form, const Tile& tile,
                                   kernels::FloatTiles::Push push) const {
    using enum kernels::FloatTiles::Form;
    constexpr uint32_t kBriefDepth = 64;
    if (form == PatchWindows || form == ChunkWindows)
      push.depth = std::min(p_.depth, tile.depth * window_->taps);
    else
      push.sliceDepth = std::min<uint32_t>(push.sliceDepth, kBriefDepth);
    return kernels::wordsOf(push, kernels::FloatTiles::kPushBytes);
  }

  // Adds a dispatch that computes sums, and one that combines them if the depth is sliced or if the first one cannot
  // store the wanted form.
  Status addTiles(const ProductKernel& kernel) {
    const Tile& tile = kernel.tile;
    const Caps& caps = builder_.target().caps;
    const auto form = kernel.form<kernels::FloatTiles>();
    const bool matrices = ofMatrices(form);
    std::optional<kernels::TilingSpecs> tiling;
    if (matrices) tiling = matrixTilingOf(request_, tile, caps.matrices, kHalfVectors);
    const Slices slices = slicesOf(p_, kernel, builder_.target());
    const bool toParts = slices.count > 1 || (matrices && finish_.wide);
    const bool combines = toParts && !(slices.count == 1 && isOfSumsAlone());
    const BufferRange to = combines ? builder_.allocateTemporary(p_.elements() * slices.count * 4) : p_.to;
    if (!toParts && window_ && window_->continues) builder_.continueLast();
    const uint64_t workgroups =
        (window_ && window_->patches ? patchesOf(request_, tile) : tilesOf(p_, tile)) * slices.count;
    std::array<BufferRange, 2> from{p_.from[0], p_.from[1]};
    for (const uint32_t operand : {0u, 1u})
      if (!window_ && !matrices && comesInPadded(kTileVector, p_, operand))
        from[operand].bytes = std::max(from[operand].bytes, bytesInVectors(kTileVector, p_, operand));
    const kernels::FloatTiles tiles{
        .form = form,
        // Among the other kernels, only those on 32-bit words store FLOAT32 for FLOAT16 operands.
        .type = element(!matrices && (toParts || finish_.wide)),
        .push = {.rows = p_.rows,
                 .columns = p_.columns,
                 .depth = p_.depth,
                 .sliceDepth = slices.depth,
                 .slices = slices.count,
                 .floatFinish = finish((toParts ? kToParts : finishFlags()) | bringsWeights(kernel, workgroups))},
        .spec = {.epilogue = toParts ? 0 : epilogue() | fromHalves(form, tile),
                 .fused = fused(),
                 .backward = backward(),
                 .tiling = tiling,
                 .tileDepth = tile.depth,
                 .stages = tile.stages,
                 .directions = tileDirections(form, toParts),
                 .shares = tile.shares,
                 .invocations = tile.invocations,
                 .rowsFirst = rowsFirst(form)},
        .a = from[0],
        .b = from[1],
        .c = p_.from[2],
        .y = to,
        .channels = toParts ? unused() : channels(),
        .addend = toParts ? unused() : addend()};
    KernelCall call = tiles;
    if (matrices) call.brief = briefWords(form, tile, tiles.push);
    TRY(builder_.add(call, workgroups, parameters_, p_.multiplyAdds()));
    return combines ? addCombination(slices.count, to, rowsFirst(form) != 0) : Status{};
  }

  // Whether eight sums that parts hold side by side are a vector of FLOAT16 in y.
  bool storesEights(bool rowsFirst) const {
    if (p_.type != DML_TENSOR_DATA_TYPE_FLOAT16 || finish_.wide) return false;
    if (!builder_.target().caps.has(Feature::Storage16) || !builder_.target().caps.matrices) return false;
    if (window_) return rowsFirst && resultsInVectors();
    return isVectorizable(8, p_.matrices, 3, {p_.y.column, p_.columns}, {p_.y.row, p_.rows});
  }

  Status addCombination(uint32_t slices, const BufferRange& parts, bool rowsFirst) {
    using Combination = kernels::FloatCombination;
    using enum Combination::Form;
    const bool eights = storesEights(rowsFirst);
    const uint32_t each = eights ? 8 : 1;
    return builder_.addItems(
        Combination{.form = window_ ? (eights ? ConvolutionEights : Convolution) : (eights ? GemmEights : Gemm),
                    .type = element(finish_.wide),
                    .push = {.rows = p_.rows,
                             .columns = p_.columns,
                             .count = static_cast<uint32_t>(p_.elements() / each),
                             .parts = slices,
                             .floatFinish = finish(finishFlags() | (rowsFirst ? kRowsFirst : 0))},
                    .spec = {.epilogue = epilogue(), .fused = fused(), .backward = backward()},
                    .parts = parts,
                    .c = p_.from[2],
                    .y = p_.to,
                    .channels = channels(),
                    .addend = addend()},
        p_.elements() / each, parameters_, slices * each);
  }

  PlanBuilder& builder_;
  const Product& p_;
  const FloatFinish& finish_;
  const ConvolutionWindow* const window_;
  const Request request_;
  uint32_t parameters_ = 0;
};

}  // namespace

ConvolutionWindow windowOfMatrices(const Product& p) {
  ConvolutionWindow window;
  window.strides = {.filter = p.a.row,
                    .filterChannel = p.a.column,
                    .inputChannel = p.b.row,
                    .bias = p.c.row,
                    .biasPlace = p.c.column,
                    .outputChannel = p.y.row};
  window.dimensions[0] = {.size = p.columns,
                          .input = p.columns,
                          .results = p.columns,
                          .outputs = p.columns,
                          .inputStride = p.b.column,
                          .outputStride = p.y.column};
  return window;
}

Status addFloatProduct(PlanBuilder& builder, Product p, const FloatFinish& finish, const ConvolutionWindow* window) {
  if (!window) {
    dropIdleStrides(p);
    // The rows are the dimension of few elements, or otherwise the one along which neighbours do not store.
    const bool fewColumns = p.columns <= kMaxFewSingleRows && p.rows > kMaxFewSingleRows;
    const bool fewRows = p.rows <= kMaxFewRows;
    if (fewColumns || (!fewRows && p.y.row == 1 && p.y.column != 1)) transpose(p);
  }
  return FloatProductPlan(builder, p, finish, window).add();
}

}  // namespace dimple
