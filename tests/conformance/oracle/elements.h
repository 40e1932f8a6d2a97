// Single elements of Arrays, whatever their type.
#pragma once

#include <array>
#include <limits>

#include "tests/conformance/oracle/fields.h"
#include "tests/conformance/oracle/walk.h"

namespace oracle {

inline Result exactResult(const DML_TENSOR_DESC* tensor) {
  const DML_BUFFER_TENSOR_DESC& output = bufferOf(tensor);
  return {makeArray(output.DataType, sizesOf(output)), exact()};
}

inline void copyElement(const Array& from, int64_t source, Array& to, int64_t target) {
  const auto s = static_cast<size_t>(source);
  const auto t = static_cast<size_t>(target);
  if (to.real.empty()) {
    to.whole.at(t) = from.whole.at(s);
  } else {
    to.real.at(t) = from.real.at(s);
  }
}

// Any value is right at this element.
inline void makeFree(Result& result, int64_t at) {
  result.slack.resize(result.value.count());
  result.slack[static_cast<size_t>(at)] = std::numeric_limits<double>::infinity();
}

inline double constantOf(DML_TENSOR_DATA_TYPE type, const DML_SCALAR_UNION& value) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      return doubleFromHalf(value.UInt16);
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      return static_cast<double>(value.Float32);
    default:
      return value.Float64;
  }
}

inline int64_t wholeConstantOf(DML_TENSOR_DATA_TYPE type, const DML_SCALAR_UNION& value) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_INT8:
      return value.Int8;
    case DML_TENSOR_DATA_TYPE_UINT8:
      return value.UInt8;
    case DML_TENSOR_DATA_TYPE_INT16:
      return value.Int16;
    case DML_TENSOR_DATA_TYPE_UINT16:
      return value.UInt16;
    case DML_TENSOR_DATA_TYPE_INT32:
      return value.Int32;
    case DML_TENSOR_DATA_TYPE_UINT32:
      return value.UInt32;
    default:
      return value.Int64;
  }
}

// Negative indices of signed types count from the end.
inline int64_t fromEnd(int64_t index, DML_TENSOR_DATA_TYPE type, int64_t size) {
  return isSigned(type) && index < 0 ? index + size : index;
}

using Coordinates = std::array<int64_t, kMaxRank>;

// Calls visit(coordinates, row-major index) for each element.
template <class Visit>
void eachElement(std::span<const uint32_t> sizes, Visit visit) {
  Coordinates at{};
  const auto count = static_cast<int64_t>(countOf(sizes));
  for (int64_t i = 0; i < count; ++i) {
    visit(static_cast<const Coordinates&>(at), i);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

// The row-major index of an element.
inline int64_t indexOf(std::span<const uint32_t> sizes, const Coordinates& at) {
  int64_t index = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (at[d] < 0 || at[d] >= sizes[d]) throw std::invalid_argument("An element lies outside of its tensor.");
    index = index * sizes[d] + at[d];
  }
  return index;
}

// Makes an element a constant that a description holds.
inline void setConstant(Array& array, int64_t index, const DML_SCALAR_UNION& value) {
  const auto i = static_cast<size_t>(index);
  if (isReal(array.type)) {
    array.real.at(i) = constantOf(array.type, value);
  } else {
    array.whole.at(i) = wholeConstantOf(array.type, value);
  }
}

// A FLOAT attribute as an element: integers are truncated and saturated.
inline void setConstant(Array& array, int64_t index, float value) {
  const auto i = static_cast<size_t>(index);
  const auto wide = static_cast<double>(value);
  if (isReal(array.type)) {
    array.real.at(i) = roundTo(array.type, wide);
  } else {
    array.whole.at(i) = truncateTo(array.type, wide);
  }
}

}  // namespace oracle
