#include "core/ops/chain.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/checked.h"
#include "core/plan/plan_builder.h"
#include "core/schema/element_text.h"
#include "kernels/interfaces/chain.h"

namespace dimple {
namespace {

// ---- programs -------------------------------------------------------------------------------------------------------

constexpr uint32_t kMaxKept = 3;

// Bits of a step's operand (kernels/elementwise/chain.comp).
constexpr uint32_t kSourceCurrent = 0;
constexpr uint32_t kSourceKept = 1;
constexpr uint32_t kSourceNumber = 4;
constexpr uint32_t kSourceInput = 8;

class Programmer {
 public:
  explicit Programmer(std::span<const ChainOperator> operators) : operators_(operators) {}

  std::optional<Chain> program() {
    for (uint32_t n = 0; n < operators_.size(); ++n) addOperator(n);
    if (draft_.size() > kMaxChainSteps || !placeKept()) return {};
    Chain chain;
    constexpr uint32_t kLast = 1u << 31;
    for (const Draft& draft : draft_) {
      chain.steps.push_back(encoded(draft));
      if (draft.source >= kSourceInput) chain.loads.push_back(draft.source - kSourceInput);
      chain.groups |= static_cast<uint32_t>(functionsOf(draft.step));
      chain.hasFewDigits |= hasFewDigits(draft.step);
      if (isCostly(draft.step))
        ++countOf(chain.costly, draft.step);
      else if (!isShort(draft.step))
        ++chain.functions;
      if (bitWidth(draft.step.to) < 32) ++chain.narrowed;
    }
    if (draft_.back().store != 0) chain.steps.back().control |= kLast;
    return chain;
  }

 private:
  struct Draft {
    ElementStep step;
    std::optional<ChainValue> operand{};
    bool swapped = false;
    std::optional<uint32_t> result{};  // the operator whose result this is
    uint32_t source = kSourceCurrent;
    uint32_t keep = 0;   // in which place, from 1 on
    uint32_t store = 0;  // to which output, from 1 on
  };

  static bool isOperator(const ChainValue& value, std::optional<uint32_t> index) {
    return value.kind == ChainValue::Kind::Operator && value.value == index;
  }

  static bool takesTwo(StepKind kind) {
    return kind == StepKind::Binary || kind == StepKind::Predicate || kind == StepKind::Power;
  }

  void addOperator(uint32_t n) {
    const ChainOperator& op = operators_[n];
    const ChainValue& first = op.inputs[0];
    const auto operandOf = [&](const ElementStep& step) -> std::optional<ChainValue> {
      if (step.number) return ChainValue{ChainValue::Kind::Number, *step.number};
      if (step.input) return op.inputs[*step.input];
      return {};
    };
    // The value that the steps find. At first, this is the result of the preceding operator.
    std::optional<uint32_t> current;
    if (n > 0) current = n - 1;
    bool swapped = false;
    if (!isOperator(first, current)) {
      const auto operand = operandOf(op.steps[0]);
      swapped = takesTwo(op.steps[0].kind) && operand && isOperator(*operand, current);
      if (!swapped) {
        draft_.push_back({{.to = DML_TENSOR_DATA_TYPE_UINT32}, first});
        current.reset();
      }
    }
    for (size_t s = 0; s < op.steps.size(); ++s) {
      Draft draft{op.steps[s], operandOf(op.steps[s])};
      if (s == 0 && swapped) {
        draft.operand = first;
        draft.swapped = true;
      } else if (draft.operand && isOperator(*draft.operand, current) && s == 0) {
        draft.operand.reset();
      }
      draft_.push_back(draft);
    }
    draft_.back().result = n;
    if (op.output) draft_.back().store = *op.output + 1;
  }

  // Finds places for the results that later steps take. Returns false if there are too few.
  bool placeKept() {
    std::vector<size_t> lastUse(operators_.size());
    for (size_t d = 0; d < draft_.size(); ++d)
      if (const auto& operand = draft_[d].operand; operand && operand->kind == ChainValue::Kind::Operator)
        lastUse[operand->value] = d;
    std::array<size_t, kMaxKept> freeFrom{};  // the first draft that may keep a result there
    std::vector<uint32_t> places(operators_.size());
    for (size_t d = 0; d < draft_.size(); ++d) {
      Draft& draft = draft_[d];
      if (draft.operand) draft.source = sourceOf(*draft.operand, places);
      if (!draft.result || lastUse[*draft.result] == 0) continue;
      const auto free = std::ranges::find_if(freeFrom, [&](size_t from) { return from <= d; });
      if (free == freeFrom.end()) return false;
      *free = lastUse[*draft.result];
      draft.keep = static_cast<uint32_t>(free - freeFrom.begin()) + 1;
      places[*draft.result] = draft.keep - 1;
    }
    return true;
  }

  static uint32_t sourceOf(const ChainValue& value, const std::vector<uint32_t>& places) {
    switch (value.kind) {
      case ChainValue::Kind::Input:
        return kSourceInput + value.value;
      case ChainValue::Kind::Number:
        return kSourceNumber;
      case ChainValue::Kind::Operator:
        return kSourceKept + places[value.value];
    }
    return kSourceCurrent;
  }

  static ChainStep encoded(const Draft& draft) {
    const ElementStep& step = draft.step;
    const uint32_t control = static_cast<uint32_t>(step.op) | static_cast<uint32_t>(step.kind) << 8 |
                             typeWord(step.to) << 12 | typeWord(step.from) << 17 | draft.source << 22 |
                             (draft.swapped ? 1u << 26 : 0u) | draft.keep << 27 | draft.store << 29;
    return {control, {step.a, step.b, draft.source == kSourceNumber ? draft.operand->value : 0}};
  }

  const std::span<const ChainOperator> operators_;
  std::vector<Draft> draft_;
};

// ---- plans ----------------------------------------------------------------------------------------------------------

// The parameter block in words (kernels/elementwise/chain_memory.glsl).
constexpr uint32_t kHeads = 0;
constexpr uint32_t kControls = kHeads + kMaxChainInputs + kMaxChainOutputs;
constexpr uint32_t kRank = kControls + kMaxChainSteps;
constexpr uint32_t kWide = kRank + 1;
constexpr uint32_t kWhole = kWide + 1;
constexpr uint32_t kTiled = kWhole + 1;
constexpr uint32_t kBases = 44;
constexpr uint32_t kStrides = kBases + kMaxChainInputs + kMaxChainOutputs;
constexpr uint32_t kDimensions = kStrides + (kMaxChainInputs + kMaxChainOutputs) * kMaxRank;
constexpr uint32_t kNumbersOfSteps = kDimensions + 4 * kMaxRank;
static_assert(kTiled < kBases && kDimensions % 4 == 0 &&
              (kNumbersOfSteps + 3 * kMaxChainSteps) * 4 <= kParameterBlockBytes);

// How an invocation's elements of an operand lie.
enum Place : uint32_t {
  kStartLinear = 0u << 5,
  kStartWalk = 1u << 5,
  kStartBase = 2u << 5,
  kSpreadVector = 0u << 7,
  kSpreadOne = 1u << 7,
  kSpreadEach = 2u << 7,
  kSpreadTile = 3u << 7,
  kSpreadMask = 3u << 7,
};

// The size of the kernel's tiles: rows, and vectors in a row.
constexpr uint32_t kTileRows = 32;
constexpr uint32_t kTileVectors = kGroupSize / kTileRows;

uint32_t placeOf(const Walk& walk, uint32_t operand, uint32_t lanes) {
  if (walk.isUniform(operand) && walk.rank > 0) return kStartBase | kSpreadOne;
  uint32_t packed = 1;
  bool linear = true;
  bool aligned = walk.base[operand] % lanes == 0;
  for (uint32_t d = walk.rank; d-- > 0;) {
    linear &= walk.strides[d][operand] == packed;
    packed *= walk.sizes[d];
    if (d + 1 < walk.rank) aligned &= walk.strides[d][operand] % lanes == 0;
  }
  if (linear) return kStartLinear | (walk.base[operand] % lanes == 0 ? kSpreadVector : kSpreadEach);
  // No vector crosses the end of an innermost row.
  const uint32_t inner = walk.rank - 1;
  if (walk.sizes[inner] % lanes == 0) {
    if (walk.strides[inner][operand] == 0) return kStartWalk | kSpreadOne;
    if (walk.strides[inner][operand] == 1 && aligned) return kStartWalk | kSpreadVector;
  }
  return kStartWalk | kSpreadEach;
}

// How the elements of all operands lie, in the words that the kernel is told.
struct Places {
  std::array<uint32_t, kMaxOperands> of{};
  uint32_t tiled = 0;  // kTiled
  bool twice = false;  // whether an invocation takes two vectors
  uint64_t groups = 0;

  bool areIn(uint32_t spread, uint32_t operand) const { return (of[operand] & kSpreadMask) == spread; }
};

// The dimension of a walk along which an operand that is read across its rows is dense, if whole words of each column
// lie in a tile.
std::optional<uint32_t> tiledDimension(const Walk& walk, uint32_t operand, DataType type, uint32_t lanes) {
  const uint32_t inner = walk.rank - 1;
  const uint32_t inWord = 32 / bitWidth(type);
  if (walk.sizes[inner] % lanes != 0 || walk.base[operand] % inWord != 0) return {};
  std::optional<uint32_t> dense;
  for (uint32_t d = 0; d < walk.rank; ++d) {
    if (!dense && d != inner && walk.strides[d][operand] == 1 && walk.sizes[d] >= kTileRows / 2)
      dense = d;
    else if (walk.strides[d][operand] % inWord != 0)
      return {};
  }
  return dense;
}

// Whether an invocation takes two vectors, since one of some operand is less than the 16 bytes that keep memory busy.
// Long programs are bound by their steps.
bool takesTwoVectors(const Walk& walk, std::span<const DataType> types, const Places& places, uint32_t lanes,
                     uint32_t inputs, uint32_t steps, const Target& target) {
  constexpr uint32_t kMostInputs = 3;  // loadBoth() of the kernel
  constexpr uint32_t kMostSteps = 4;   // executeFew()
  if (!target.caps.fixesParameters || places.tiled != 0 || inputs > kMostInputs || steps > kMostSteps) return false;
  if (walk.count() % (2 * lanes * kGroupSize) != 0) return false;
  const bool isFew = target.caps.isProcessor || places.groups < 16 * uint64_t{target.caps.workgroups};
  if (isFew && target.options.estimates) return false;
  bool isShort = false;
  for (uint32_t k = 0; k < types.size(); ++k) {
    if (places.areIn(kSpreadEach, k)) return false;
    isShort |= places.areIn(kSpreadVector, k) && lanes * bitWidth(types[k]) < 128;
  }
  return isShort;
}

// The inputs come first.
Places placesOf(const Walk& walk, std::span<const DataType> types, uint32_t inputs, uint32_t lanes,
                const Target& target) {
  Places places;
  bool storesVectors = true;
  for (uint32_t k = 0; k < types.size(); ++k) {
    places.of[k] = placeOf(walk, k, lanes);
    storesVectors &= k < inputs || places.areIn(kSpreadVector, k);
  }
  places.groups = divideUp(divideUp(walk.count(), lanes), kGroupSize);
  if (!target.caps.fixesParameters || !storesVectors || walk.rank < 2) return places;
  // On a CPU, a barrier takes longer than what it would save.
  if (target.caps.isProcessor && target.options.estimates) return places;
  const uint32_t inner = walk.rank - 1;
  if (walk.sizes[inner] < kTileRows / 2) return places;
  for (uint32_t k = 0; k < inputs; ++k) {
    if (!places.areIn(kSpreadEach, k)) continue;
    const auto dense = tiledDimension(walk, k, types[k], lanes);
    if (!dense || (places.tiled != 0 && places.tiled != inner - *dense)) continue;
    places.tiled = inner - *dense;
    places.of[k] = kStartWalk | kSpreadTile;
  }
  if (places.tiled == 0) return places;
  const uint32_t rows = walk.sizes[inner - places.tiled];
  const uint32_t columns = walk.sizes[inner];
  places.groups = walk.count() / rows / columns * divideUp(rows, kTileRows) * divideUp(columns, kTileVectors * lanes);
  return places;
}

// Walks through the inputs, then the outputs.
Walk walkOf(const Operation& op) {
  std::vector<const Tensor*> tensors;
  for (const Tensor& input : op.inputs()) tensors.push_back(&input);
  for (const Tensor& output : op.outputs()) tensors.push_back(&output);
  Walk walk = makeWalk(op.output().sizeSpan(), tensors);
  const auto& reversed = op.as<Chain>().reversed;
  for (uint32_t i = 0; i < op.inputs().size(); ++i)
    for (uint32_t d = 0; d < walk.rank; ++d) {
      if ((reversed[i] >> d & 1) == 0) continue;
      uint32_t& stride = walk.strides[d][i];
      walk.base[i] += (walk.sizes[d] - 1) * stride;
      stride = 0 - stride;
    }
  return walk.coalesceBy(static_cast<uint32_t>(op.inputs().size()));
}

// The types of inputs, then of outputs.
std::vector<DataType> typesOf(const Operation& op) {
  std::vector<DataType> types;
  for (const Tensor& input : op.inputs()) types.push_back(input.type);
  for (const Tensor& output : op.outputs()) types.push_back(output.type);
  return types;
}

// Returns the elements per invocation: four if all outputs are 32 bits wide, since neighbours then store vectors side
// by side; eight if outputs are narrower, if a word has eight elements, or if each step is decoded and there are
// elements enough to keep the device busy. The first `inputs` types are those of inputs.
uint32_t lanesOf(const Walk& walk, std::span<const DataType> types, uint32_t inputs, const Target& target) {
  const auto isWide = [](DataType type) { return bitWidth(type) == 32; };
  const auto hasBytes = [](DataType type) { return bitWidth(type) >= 8; };
  const bool busy = divideUp(divideUp(walk.count(), 8), kGroupSize) >= 2 * uint64_t{target.caps.workgroups};
  return (target.caps.fixesParameters || !busy) && std::ranges::all_of(types.subspan(inputs), isWide) &&
                 std::ranges::all_of(types, hasBytes)
             ? 4
             : 8;
}

std::vector<uint32_t> parameterWords(const Chain& chain, std::span<const DataType> types, uint32_t inputs,
                                     const Walk& walk, const Places& places, uint32_t lanes) {
  std::vector<uint32_t> words(kNumbersOfSteps + 3 * chain.steps.size());
  for (uint32_t k = 0; k < types.size(); ++k) {
    const uint32_t slot = k < inputs ? k : kMaxChainInputs + k - inputs;
    words[kHeads + slot] = typeWord(types[k]) | places.of[k];
    words[kBases + slot] = walk.base[k];
    for (uint32_t d = 0; d < walk.rank; ++d) words[kStrides + slot * kMaxRank + d] = walk.strides[walk.rank - 1 - d][k];
  }
  words[kRank] = walk.rank;
  words[kWide] = lanes == 8 ? 1 : 0;
  words[kWhole] = places.twice ? 2 : walk.count() % lanes == 0 ? 1 : 0;
  words[kTiled] = places.tiled;
  for (uint32_t d = 0; d < walk.rank; ++d) {
    const uint32_t size = walk.sizes[walk.rank - 1 - d];
    const Divisor divisor = makeDivisor(size);
    const uint32_t dimension[] = {size, divisor.multiplier, divisor.shift1, divisor.shift2};
    std::ranges::copy(dimension, &words[kDimensions + d * 4]);
  }
  for (size_t s = 0; s < chain.steps.size(); ++s) {
    words[kControls + s] = chain.steps[s].control;
    std::ranges::copy(chain.steps[s].numbers, &words[kNumbersOfSteps + 3 * s]);
  }
  return words;
}

// A dispatch for a walk through ranges of operands of these types, `inputs` of which come before the outputs.
Status addChain(PlanBuilder& builder, const Chain& chain, std::span<const DataType> types, uint32_t inputs,
                const Walk& walk, const std::vector<BufferRange>& bound) {
  const uint32_t lanes = lanesOf(walk, types, inputs, builder.target());
  const auto steps = static_cast<uint32_t>(chain.steps.size());
  // A binding without an operand is bound to this range, which is never accessed.
  BufferRange unused = bound[inputs];
  unused.bytes = 4;
  const auto in = [&](uint32_t i) { return i < inputs ? bound[i] : unused; };
  Places places = placesOf(walk, types, inputs, lanes, builder.target());
  places.twice = takesTwoVectors(walk, types, places, lanes, inputs, steps, builder.target());
  if (places.twice) places.groups /= 2;
  const std::vector<uint32_t> words = parameterWords(chain, types, inputs, walk, places, lanes);
  KernelCall call = kernels::Chain{.push = {.count = static_cast<uint32_t>(walk.count()), .steps = steps},
                                   .spec = {.functions = chain.groups},
                                   .in0 = in(0),
                                   .in1 = in(1),
                                   .in2 = in(2),
                                   .in3 = in(3),
                                   .in4 = in(4),
                                   .in5 = in(5),
                                   .out0 = bound[inputs],
                                   .out1 = bound.size() == inputs + 2 ? bound[inputs + 1] : unused};
  call.fixed.assign(words.begin(), words.begin() + kBases);
  return builder.add(call, places.groups, builder.parameters(words),
                     Work(places.twice ? 2 * lanes : lanes) * steps * places.groups * uint64_t{kGroupSize});
}

Status planChain(const Operation& op, PlanBuilder& builder) {
  const auto inputs = static_cast<uint32_t>(op.inputs().size());
  std::vector<WalkOperand> ranges;
  for (uint32_t i = 0; i < inputs; ++i) ranges.push_back(builder.inputOperand(i));
  for (uint32_t o = 0; o < op.outputs().size(); ++o) ranges.push_back(builder.outputOperand(o));
  return builder.addWindows(walkOf(op), ranges, [&](const Walk& part, const std::vector<BufferRange>& bound) {
    return addChain(builder, op.as<Chain>(), typesOf(op), inputs, part, bound);
  });
}

// If a chain has several outputs, some are stored while inputs are still read, and elements of inputs that are walked
// backwards are read by others than those that store in their places.
constexpr OpSchema chainSchema(bool inPlace) {
  return {.type = DML_OPERATOR_INVALID,
          .name = "CHAIN",
          .descBytes = 0,
          .fields = {},
          .rules = {},
          .inPlace = inPlace,
          .plan = planChain};
}
constexpr OpSchema kChain = chainSchema(false);
constexpr OpSchema kChainInPlace = chainSchema(true);

bool hasChainType(const Tensor& tensor) { return ((kUpTo32 | kInts4) & typeBit(tensor.type)) != 0; }

// What an operator with one output does to elements, wherever they lie.
std::vector<ElementStep> stepsOfElements(const Operation& op) {
  const auto isKnown = [](const Tensor& input) { return !input.present() || hasChainType(input); };
  if (!hasChainType(op.output()) || !std::ranges::all_of(op.inputs(), isKnown)) return {};
  for (const auto family : {elementwiseSteps, castSteps, quantizationSteps})
    if (auto steps = family(op); !steps.empty()) return steps;
  return {};
}

bool broadcasts(const Tensor& tensor, const Tensor& target) {
  if (tensor.rank != target.rank) return false;
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.sizes[d] != 1 && tensor.sizes[d] != target.sizes[d]) return false;
  return true;
}

}  // namespace

std::vector<ElementStep> elementSteps(const Operation& op) {
  const auto isBroadcast = [&](const Tensor& input) { return !input.present() || broadcasts(input, op.output()); };
  if (op.outputs().size() != 1 || !std::ranges::all_of(op.inputs(), isBroadcast)) return {};
  return stepsOfElements(op);
}

uint32_t chainNumber(DataType type, const std::byte* bytes) {
  DML_SCALAR_UNION value{};
  std::memcpy(value.Bytes, bytes, byteWidth(type));
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      return std::bit_cast<uint32_t>(static_cast<float>(halfValue(value.UInt16)));
    case DML_TENSOR_DATA_TYPE_INT8:
      return static_cast<uint32_t>(int32_t{value.Int8});
    case DML_TENSOR_DATA_TYPE_INT16:
      return static_cast<uint32_t>(int32_t{value.Int16});
    case DML_TENSOR_DATA_TYPE_UINT4:
      return std::to_integer<uint32_t>(bytes[0]) & 15;
    case DML_TENSOR_DATA_TYPE_INT4:
      return ((std::to_integer<uint32_t>(bytes[0]) & 15) ^ 8) - 8;
    default:
      return value.UInt32;
  }
}

Tensor squeezed(const Tensor& tensor, std::span<const uint32_t> sizes) {
  Tensor result = tensor;
  result.rank = 0;
  result.elements = 1;
  result.sizes = {};
  result.strides = {};
  const auto add = [&](uint32_t size, uint32_t stride) {
    result.sizes[result.rank] = size;
    result.strides[result.rank++] = stride;
    result.elements *= size;
  };
  for (uint32_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1) add(sizes[d], tensor.sizes[d] == 1 ? 0 : tensor.strides[d]);
  if (result.rank == 0) add(1, 1);
  return result;
}

std::optional<Chain> makeChain(std::span<const ChainOperator> operators) { return Programmer(operators).program(); }

Operation chainOperation(Chain chain, std::vector<Tensor> inputs, std::vector<Tensor> outputs, TensorNames names) {
  const bool inPlace =
      outputs.size() == 1 && std::ranges::all_of(chain.reversed, [](uint32_t dimensions) { return dimensions == 0; });
  return {inPlace ? kChainInPlace : kChain, std::make_shared<const Chain>(std::move(chain)), std::move(inputs),
          std::move(outputs), std::move(names)};
}

bool SingleChain::isWorthwhile(const Tensor& output, const Target& target) {
  // Below this limit, compiling a pipeline takes longer than the pipeline will ever save.
  constexpr uint64_t kFew = uint64_t{1} << 16;
  return target.caps.fixesParameters && (output.elements >= kFew || !target.options.estimates);
}

std::optional<SingleChain> SingleChain::of(const Operation& op, const Target& target) {
  if (op.outputs().size() != 1 || !isWorthwhile(op.output(), target)) return {};
  // In place of an absent input, the range that the operator's plan chooses is bound, and it is not read.
  std::vector<DataType> inputs;
  for (const Tensor& input : op.inputs()) inputs.push_back(input.present() ? input.type : op.input(0).type);
  return of(stepsOfElements(op), std::move(inputs), op.output().type);
}

std::optional<SingleChain> SingleChain::of(std::vector<ElementStep> steps, std::vector<DataType> inputs,
                                           DataType output) {
  if (steps.empty()) return {};
  ChainOperator single{std::move(steps), {}, 0};
  for (uint32_t i = 0; i < inputs.size(); ++i) single.inputs.push_back({ChainValue::Kind::Input, i});
  auto chain = makeChain(std::span(&single, 1));
  if (!chain) return {};
  SingleChain result;
  result.chain_ = std::move(*chain);
  result.types_ = std::move(inputs);
  result.output_ = output;
  return result;
}

std::vector<DataType> SingleChain::typesFor(size_t operands) const {
  std::vector<DataType> types = types_;
  types.resize(operands - 1, types_.front());
  types.push_back(output_);
  return types;
}

const char* SingleChain::refuses(const Walk& walk, size_t operands, const Target& target) const {
  if (walk.rank > kMaxRank) return "Its operands have too many dimensions together.";
  const auto types = typesFor(operands);
  const auto inputs = static_cast<uint32_t>(operands) - 1;
  const Places places = placesOf(walk, types, inputs, lanesOf(walk, types, inputs, target), target);
  for (uint32_t k = 0; k < operands; ++k)
    if (places.areIn(kSpreadEach, k)) return "An operand is read or written in single elements.";
  return nullptr;
}

Status SingleChain::add(PlanBuilder& builder, const Walk& walk, const std::vector<BufferRange>& ranges) const {
  return addChain(builder, chain_, typesFor(ranges.size()), static_cast<uint32_t>(ranges.size()) - 1, walk, ranges);
}

bool hasModule(const Chain& chain, const Target& target) {
  return target.caps.fixesParameters || (std::popcount(chain.groups) <= 1 && !chain.hasFewDigits);
}

bool isChain(const Operation& op) { return &op.schema() == &kChain || &op.schema() == &kChainInPlace; }

bool isSameChain(const Operation& a, const Operation& b) {
  if (&a.schema() != &b.schema() || !isChain(a)) return false;
  const auto sameStep = [](const ChainStep& x, const ChainStep& y) {
    return x.control == y.control && x.numbers == y.numbers;
  };
  const auto sameType = [](const Tensor& x, const Tensor& y) { return x.type == y.type; };
  const auto& ofA = a.as<Chain>();
  const auto& ofB = b.as<Chain>();
  return std::ranges::equal(ofA.steps, ofB.steps, sameStep) && ofA.reversed == ofB.reversed &&
         std::ranges::equal(a.inputs(), b.inputs(), sameType) && std::ranges::equal(a.outputs(), b.outputs(), sameType);
}

uint32_t indexedAccesses(const Operation& chain, const Target& target) {
  const auto types = typesOf(chain);
  const auto inputs = static_cast<uint32_t>(chain.inputs().size());
  const Walk walk = walkOf(chain);
  const Places places = placesOf(walk, types, inputs, lanesOf(walk, types, inputs, target), target);
  const auto isIndexed = [&](uint32_t operand) { return places.areIn(kSpreadEach, operand); };
  auto indexed = static_cast<uint32_t>(std::ranges::count_if(chain.as<Chain>().loads, isIndexed));
  for (uint32_t o = 0; o < chain.outputs().size(); ++o)
    if (isIndexed(inputs + o)) ++indexed;
  return indexed;
}

bool readsAcross(std::span<const Tensor> inputs, const Tensor& output) {
  std::vector<const Tensor*> tensors;
  for (const Tensor& input : inputs)
    if (input.present()) tensors.push_back(&input);
  tensors.push_back(&output);
  const auto count = static_cast<uint32_t>(tensors.size() - 1);
  const Walk walk = makeWalk(output.sizeSpan(), tensors).coalesceBy(count);
  if (walk.rank == 0) return false;
  const auto& strides = walk.strides[walk.rank - 1];
  return std::any_of(strides.begin(), strides.begin() + count, [](uint32_t stride) { return stride > 1; });
}

}  // namespace dimple
