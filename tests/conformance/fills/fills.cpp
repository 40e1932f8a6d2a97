#include "tests/conformance/fills/fills.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/schema/element_text.h"
#include "core/text.h"
#include "tests/conformance/fills/domain.h"
#include "tests/conformance/fills/structured.h"
#include "tests/conformance/random.h"

namespace dimple::testing {
namespace {

using oracle::Array;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<uint32_t> sizesOf(const DML_BUFFER_TENSOR_DESC& tensor) {
  return {tensor.Sizes, tensor.Sizes + tensor.DimensionCount};
}

uint32_t bitsOf(DML_TENSOR_DATA_TYPE type) { return static_cast<uint32_t>(oracle::elementBits(type)); }
int64_t lowest(DML_TENSOR_DATA_TYPE type) {
  return oracle::isSigned(type) ? static_cast<int64_t>(~uint64_t{0} << (bitsOf(type) - 1)) : 0;
}
// As a bit pattern for UINT64.
int64_t highest(DML_TENSOR_DATA_TYPE type) {
  return static_cast<int64_t>(~uint64_t{0} >> (64 - bitsOf(type) + (oracle::isSigned(type) ? 1 : 0)));
}

double randomReal(Random& random, DML_TENSOR_DATA_TYPE type, const Domain& domain) {
  int low = domain.minExponent;
  int high = domain.maxExponent;
  if (domain.fullRange && random.chance(0.15)) {
    low = type == DML_TENSOR_DATA_TYPE_FLOAT16 ? -14 : type == DML_TENSOR_DATA_TYPE_FLOAT32 ? -126 : -1022;
    high = type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 15 : type == DML_TENSOR_DATA_TYPE_FLOAT32 ? 127 : 1023;
  }
  const double value = std::ldexp(1 + random.unit(), static_cast<int>(random.range(low, high)));
  // Rounding up at the end of the range must not make infinities: those are for FillKind::Special.
  const double rounded = oracle::roundTo(type, value);
  return random.chance(domain.negative) ? -(std::isinf(rounded) ? 1.0 : rounded) : std::isinf(rounded) ? 1.0 : rounded;
}

int64_t randomWhole(Random& random, DML_TENSOR_DATA_TYPE type, const Domain& domain) {
  const uint64_t bits = random.next();
  const auto shift = domain.uniform ? 0 : static_cast<int>(64 - 1 - random.below(bitsOf(type)));
  // Shifts leave numbers of every width, arithmetic ones of every sign.
  int64_t value = oracle::isSigned(type) ? static_cast<int64_t>(bits) >> shift : static_cast<int64_t>(bits >> shift);
  if (domain.odd) value |= 1;
  return oracle::wrapTo(type, value);
}

std::vector<double> specialReals(DML_TENSOR_DATA_TYPE type, const TestCase& test) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double normal = oracle::smallestNormal(type);
  const double denormal = oracle::spacing(type, 0);
  const double most = type == DML_TENSOR_DATA_TYPE_FLOAT16   ? 65504.0
                      : type == DML_TENSOR_DATA_TYPE_FLOAT32 ? static_cast<double>(std::numeric_limits<float>::max())
                                                             : std::numeric_limits<double>::max();
  std::vector<double> values = {0.0, -0.0, 1.0,   -1.0,   2.0,     -2.0,     0.5,       -0.5,
                                3.0, -3.0, 1.5,   -1.5,   100.25,  -100.25,  kInfinity, -kInfinity,
                                nan, most, -most, normal, -normal, denormal, -denormal, 0.75 * normal};
  if (test.type() == DML_OPERATOR_CAST) {
    const DML_TENSOR_DATA_TYPE target = test.outputs[0]->DataType;
    values.insert(values.end(),
                  {2.5, -2.5, 0.999, -0.999, 65519, 65520, -65520, 1e10, -1e10, 1e300, 8.9e-8, 5.96e-8, 0.1});
    for (int power : {7, 8, 15, 16, 24, 31, 32, 53, 63, 64})
      for (double offset : {-1.0, -0.5, 0.0, 0.5, 1.0})
        for (double sign : {1.0, -1.0}) values.push_back(oracle::roundTo(type, sign * (std::ldexp(1, power) + offset)));
    // Halves between neighbours of the narrower type.
    for (double x : {1.0, 2.0, 1024.0, 2048.0, 1e-5}) {
      const double unit = oracle::isReal(target) ? oracle::spacing(target, x) : 1;
      for (double part : {0.5, 1.5, 0.49, 0.51}) values.push_back(x + part * unit);
    }
  }
  return values;
}

std::vector<int64_t> specialWholes(DML_TENSOR_DATA_TYPE type, const TestCase& test) {
  const int64_t low = lowest(type);
  const int64_t high = highest(type);
  std::vector<int64_t> values = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 low,
                                 low + 1,
                                 high,
                                 high - 1,
                                 low / 2,
                                 static_cast<int64_t>(static_cast<uint64_t>(high) / 2),
                                 100,
                                 static_cast<int64_t>(1) << (bitsOf(type) / 2)};
  if (oracle::isSigned(type)) values.insert(values.end(), {-1, -2, -3, -7, -100});
  if (test.type() == DML_OPERATOR_CAST) {
    for (int power : {7, 8, 15, 16, 24, 31, 32, 53, 62, 63}) {
      const auto base = static_cast<int64_t>(uint64_t{1} << power);
      for (int64_t offset : {-1, 0, 1, 3}) {
        const auto value = static_cast<int64_t>(static_cast<uint64_t>(base) + static_cast<uint64_t>(offset));
        values.push_back(value);
        values.push_back(static_cast<int64_t>(-static_cast<uint64_t>(value)));
      }
    }
    for (int64_t value : {16777217, 16777219, 300, 200, -129, 40000, -40000, 2049, 2051, 70000, 65519, 65520})
      values.push_back(value);
  }
  for (int64_t& value : values) value = oracle::wrapTo(type, value);
  return values;
}

// Index of the special value of an element: inputs count through all combinations where there are elements enough.
size_t specialAt(Random& random, size_t element, size_t elements, size_t values, size_t input) {
  size_t step = 1;
  for (size_t i = 0; i < input && step <= elements; ++i) step *= values;
  if (step * values > elements) return random.below(values);
  // Each round is shifted by one, so that no stride through the elements always meets the same value.
  return (element / step + element / (step * values)) % values;
}

// ---- index tensors
// ---------------------------------------------------------------------------------------------------

int64_t encodeIndex(Random& random, DML_TENSOR_DATA_TYPE type, int64_t index, int64_t size) {
  return oracle::isSigned(type) && random.chance(0.25) ? index - size : index;
}

int64_t wildIndex(Random& random, DML_TENSOR_DATA_TYPE type, int64_t size) {
  const int64_t choices[] = {size, size + 1, -size - 1, 100 * size, -100 * size, highest(type), lowest(type)};
  const int64_t value = random.pick(choices);
  return oracle::isSigned(type) || value >= 0 ? oracle::wrapTo(type, value) : highest(type);
}

// Any indices into `size` elements.
void fillIndicesInto(const TestCase& test, Random& random, Array& array, int64_t size) {
  for (int64_t& index : array.whole) {
    index = encodeIndex(random, array.type, random.range(0, size - 1), size);
    if (test.wildIndices && random.chance(0.1)) index = wildIndex(random, array.type, size);
  }
}

void fillGatherIndices(const TestCase& test, Random& random, Array& array) {
  const auto axis = test.as<DML_GATHER_OPERATOR_DESC>().Axis;
  fillIndicesInto(test, random, array, test.inputs[0]->Sizes[axis]);
}

// Tuples of any indices into the input's dimensions after the batches.
template <class Desc>
void fillTuples(const TestCase& test, Random& random, Array& array, UINT batches) {
  const DML_BUFFER_TENSOR_DESC& in = *test.inputs[0];
  const UINT* sizes = in.Sizes + (in.DimensionCount - test.as<Desc>().InputDimensionCount) + batches;
  const size_t tuple = array.sizes.back();
  for (size_t i = 0; i < array.whole.size(); ++i) {
    const int64_t size = sizes[i % tuple];
    array.whole[i] = encodeIndex(random, array.type, random.range(0, size - 1), size);
    if (test.wildIndices && random.chance(0.05)) array.whole[i] = wildIndex(random, array.type, size);
  }
}

// Indices that differ in each line along the axis.
void fillScatterElementsIndices(const TestCase& test, Random& random, Array& array) {
  const UINT axis = test.as<DML_SCATTER_ELEMENTS_OPERATOR_DESC>().Axis;
  const int64_t size = test.inputs[0]->Sizes[axis];
  const size_t given = array.sizes[axis];
  size_t step = 1;
  for (size_t d = axis + 1; d < array.sizes.size(); ++d) step *= array.sizes[d];
  std::vector<int64_t> targets(static_cast<size_t>(size));
  for (size_t line = 0; line < array.whole.size() / given; ++line) {
    std::iota(targets.begin(), targets.end(), int64_t{0});
    random.shuffle(std::span(targets));
    for (size_t i = 0; i < given; ++i) {
      int64_t& index = array.whole[(line / step * given + i) * step + line % step];
      index = encodeIndex(random, array.type, targets[i], size);
      if (test.wildIndices && random.chance(0.2)) index = wildIndex(random, array.type, size);
    }
  }
}

// Lengths of 0 to the size of the axis; wild ones exceed it.
void fillLengths(const TestCase& test, Random& random, Array& array) {
  const int64_t size = test.inputs[0]->Sizes[test.as<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC>().Axis];
  for (int64_t& length : array.whole) {
    length = random.range(0, size);
    if (test.wildIndices && random.chance(0.2)) length = random.chance(0.5) ? size + 1 : highest(array.type);
  }
}

// Tuples that differ, as long as there are places enough.
void fillScatterIndices(const TestCase& test, Random& random, Array& array) {
  const auto& desc = test.as<DML_SCATTER_ND_OPERATOR_DESC>();
  const DML_BUFFER_TENSOR_DESC& in = *test.inputs[0];
  const size_t tuple = array.sizes.back();
  const size_t tuples = array.whole.size() / tuple;
  const uint32_t* sizes = in.Sizes + (in.DimensionCount - desc.InputDimensionCount);
  uint64_t places = 1;
  for (size_t d = 0; d < tuple; ++d) places *= sizes[d];
  std::vector<uint64_t> targets(places);
  for (uint64_t i = 0; i < places; ++i) targets[i] = i;
  random.shuffle(std::span(targets));
  for (size_t n = 0; n < tuples; ++n) {
    uint64_t rest = targets[n % places];
    for (size_t d = tuple; d-- > 0;) {
      const auto size = static_cast<int64_t>(sizes[d]);
      const auto index = static_cast<int64_t>(rest % static_cast<uint64_t>(size));
      rest /= static_cast<uint64_t>(size);
      array.whole[n * tuple + d] = encodeIndex(random, array.type, index, size);
    }
    if (test.wildIndices && random.chance(0.2)) {
      const size_t d = random.below(tuple);
      array.whole[n * tuple + d] = wildIndex(random, array.type, sizes[d]);
    }
  }
}

// Places in the output that differ.
void fillPlaces(const TestCase& test, Random& random, Array& array) {
  const DML_BUFFER_TENSOR_DESC& out = *test.outputs[0];
  int64_t size = 1;
  for (UINT d = 0; d < out.DimensionCount; ++d) size *= out.Sizes[d];
  std::vector<int64_t> places(static_cast<size_t>(size));
  std::iota(places.begin(), places.end(), int64_t{0});
  random.shuffle(std::span(places));
  for (size_t i = 0; i < array.whole.size(); ++i) {
    array.whole[i] = places[i % places.size()];
    if (test.wildIndices && random.chance(0.2)) array.whole[i] = wildIndex(random, array.type, size);
  }
}

bool fillIndices(const TestCase& test, size_t input, Random& random, Array& array) {
  if (test.type() == DML_OPERATOR_ONE_HOT && input == 0) {
    fillIndicesInto(test, random, array, test.outputs[0]->Sizes[test.as<DML_ONE_HOT_OPERATOR_DESC>().Axis]);
    return true;
  }
  if (input != 1) return false;
  switch (test.type()) {
    case DML_OPERATOR_GATHER:
      fillGatherIndices(test, random, array);
      return true;
    case DML_OPERATOR_GATHER_ELEMENTS:
      fillIndicesInto(test, random, array, test.inputs[0]->Sizes[test.as<DML_GATHER_ELEMENTS_OPERATOR_DESC>().Axis]);
      return true;
    case DML_OPERATOR_GATHER_ND:
      fillTuples<DML_GATHER_ND_OPERATOR_DESC>(test, random, array, 0);
      return true;
    case DML_OPERATOR_GATHER_ND1:
      fillTuples<DML_GATHER_ND1_OPERATOR_DESC>(test, random, array,
                                               test.as<DML_GATHER_ND1_OPERATOR_DESC>().BatchDimensionCount);
      return true;
    case DML_OPERATOR_SCATTER_ND:
      fillScatterIndices(test, random, array);
      return true;
    case DML_OPERATOR_MAX_UNPOOLING:
      fillPlaces(test, random, array);
      return true;
    case DML_OPERATOR_SCATTER_ELEMENTS:
      fillScatterElementsIndices(test, random, array);
      return true;
    case DML_OPERATOR_REVERSE_SUBSEQUENCES:
      fillLengths(test, random, array);
      return true;
    default:
      return false;
  }
}

// ---- values
// ----------------------------------------------------------------------------------------------------------

void fillValues(const TestCase& test, size_t input, Random& random, Array& array) {
  const Domain domain = domainOf(test, input);
  const size_t count = array.count();
  const auto each = [&](auto& elements, auto draw) {
    for (size_t i = 0; i < count; ++i) elements[i] = draw(i);
  };
  const auto small = [&]() -> int64_t {
    if (domain.density < 1 && !random.chance(domain.density)) return domain.resting;
    const int64_t value = random.range(domain.smallest, domain.largest);
    return domain.odd && value == 0 ? 1 : value;
  };
  const bool special = test.fill == FillKind::Special;
  const auto isSpecial = [&] {
    return special && (domain.specialDensity >= 1 || random.chance(domain.specialDensity));
  };
  if (oracle::isReal(array.type)) {
    const std::vector<double> specials = special ? specialReals(array.type, test) : std::vector<double>{};
    each(array.real, [&](size_t i) {
      if (isSpecial())
        return oracle::roundTo(array.type, specials[specialAt(random, i, count, specials.size(), input)]);
      if (test.fill != FillKind::Float) return static_cast<double>(small());
      const bool rests = domain.floatDensity < 1 && !random.chance(domain.floatDensity);
      return rests ? static_cast<double>(domain.resting) : randomReal(random, array.type, domain);
    });
  } else {
    const std::vector<int64_t> specials = special ? specialWholes(array.type, test) : std::vector<int64_t>{};
    each(array.whole, [&](size_t i) {
      if (isSpecial()) return specials[specialAt(random, i, count, specials.size(), input)];
      const bool isSmall = test.fill != FillKind::Float || (domain.smallShare > 0 && random.chance(domain.smallShare));
      return isSmall ? small() : randomWhole(random, array.type, domain);
    });
  }
}

}  // namespace

Result<Array> parseElements(std::string_view text, DML_TENSOR_DATA_TYPE type, std::vector<uint32_t> sizes) {
  const auto invalid = [&](std::string_view part) {
    return Error{ErrorCode::InvalidArgument, cat("\"", part, "\" is no list of elements such as [1,2].")};
  };
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return invalid(text);
  std::string_view rest = text.substr(1, text.size() - 2);
  const UINT one = 1;
  Array given;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const auto element = parseElement(type, part);
    if (!element) return invalid(text);
    const DML_BUFFER_TENSOR_DESC single{type, DML_TENSOR_FLAG_NONE, 1, &one, nullptr, sizeof *element, 0};
    const Array value = oracle::read(single, std::as_bytes(std::span(&*element, 1)));
    given.real.insert(given.real.end(), value.real.begin(), value.real.end());
    given.whole.insert(given.whole.end(), value.whole.begin(), value.whole.end());
  }
  Array array = oracle::makeArray(type, sizes);
  for (size_t i = 0; i < array.real.size(); ++i) array.real[i] = given.real[i % given.real.size()];
  for (size_t i = 0; i < array.whole.size(); ++i) array.whole[i] = given.whole[i % given.whole.size()];
  return array;
}

Result<Array> fillInput(const TestCase& test, size_t input) {
  const DML_BUFFER_TENSOR_DESC& tensor = *test.inputs[input];
  if (const auto given = test.givenInputs.find(input); given != test.givenInputs.end())
    return parseElements(given->second, tensor.DataType, sizesOf(tensor));
  Array array = oracle::makeArray(tensor.DataType, sizesOf(tensor));
  Random random(hashOf(test.desc.schema().name, test.seed * 16 + input));
  if (fillIndices(test, input, random, array) || fillStructured(test, input, random, array)) return array;
  if (test.type() == DML_OPERATOR_ELEMENT_WISE_IF && input == 0) {
    constexpr int64_t kConditions[] = {0, 0, 0, 0, 1, 1, 2, 128, 255};
    for (int64_t& condition : array.whole) condition = random.pick(kConditions);
    return array;
  }
  fillValues(test, input, random, array);
  return array;
}

bool readsOutput(const TestCase& test, size_t output) {
  // The present keys and values, where new ones follow them.
  return test.type() == DML_OPERATOR_MULTIHEAD_ATTENTION1 && output > 0 && test.inputs.back() != nullptr;
}

Array fillOutput(const TestCase& test, size_t output) {
  const DML_BUFFER_TENSOR_DESC& tensor = *test.outputs[output];
  Array array = oracle::makeArray(tensor.DataType, sizesOf(tensor));
  Random random(hashOf(test.desc.schema().name, test.seed * 16 + 15 - output));
  const auto present = std::find_if(test.inputs.begin(), test.inputs.end(), [](const auto* each) { return each; });
  fillValues(test, static_cast<size_t>(present - test.inputs.begin()), random, array);
  return array;
}

bool mustBeExact(const TestCase& test) {
  if (test.fill != FillKind::Int || !test.givenInputs.empty()) return false;
  switch (test.type()) {
    case DML_OPERATOR_ELEMENT_WISE_ADD:
    case DML_OPERATOR_ELEMENT_WISE_SUBTRACT:
    case DML_OPERATOR_ELEMENT_WISE_MULTIPLY:
    case DML_OPERATOR_CUMULATIVE_SUMMATION:
    case DML_OPERATOR_CUMULATIVE_PRODUCT:
    case DML_OPERATOR_FOLD:
    case DML_OPERATOR_MAX_POOLING_GRAD:
      return true;
    case DML_OPERATOR_GEMM:
    case DML_OPERATOR_CONVOLUTION:
      return isExactProduct(test);
    case DML_OPERATOR_ELEMENT_WISE_ADD1:
      return test.as<DML_ELEMENT_WISE_ADD1_OPERATOR_DESC>().FusedActivation == nullptr;
    case DML_OPERATOR_REDUCE: {
      const auto function = test.as<DML_REDUCE_OPERATOR_DESC>().Function;
      return function == DML_REDUCE_FUNCTION_SUM || function == DML_REDUCE_FUNCTION_L1 ||
             function == DML_REDUCE_FUNCTION_SUM_SQUARE || function == DML_REDUCE_FUNCTION_MULTIPLY;
    }
    default:
      return false;
  }
}

}  // namespace dimple::testing
