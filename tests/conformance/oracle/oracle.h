// The oracle: what every DirectML operator ought to answer, by naive loops over logical coordinates, in double for
// floating-point types and exactly for integers. It is written from the documentation and knows nothing of the library:
// it includes DirectML.h and the standard library only.
#pragma once

#include "tests/conformance/oracle/directml.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace oracle {

// A tensor without its memory layout: elements in row-major order of `sizes`. FLOAT16, FLOAT32 and FLOAT64 live in
// `real`, integers in `whole` (UINT64 as its bit pattern); the other vector is empty. The elements of an evaluated
// floating-point Array are not yet rounded to `type`. A default-constructed Array stands for an absent optional tensor.
struct Array {
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_UNKNOWN;
  std::vector<uint32_t> sizes;
  std::vector<double> real;
  std::vector<int64_t> whole;

  size_t count() const { return real.size() + whole.size(); }
  bool absent() const { return type == DML_TENSOR_DATA_TYPE_UNKNOWN; }
};

// Thirteen types are known; others make these functions throw std::invalid_argument, and elementBytes those of 4 bits.
size_t elementBits(DML_TENSOR_DATA_TYPE type);
size_t elementBytes(DML_TENSOR_DATA_TYPE type);
bool isReal(DML_TENSOR_DATA_TYPE type);
bool isSigned(DML_TENSOR_DATA_TYPE type);

Array makeArray(DML_TENSOR_DATA_TYPE type, std::vector<uint32_t> sizes);

// Gathers a tensor's elements from its memory, which begins at the base offset of its binding.
Array read(const DML_BUFFER_TENSOR_DESC& desc, std::span<const std::byte> memory);

// Scatters elements, rounded to the type, and touches no byte between them.
void write(const DML_BUFFER_TENSOR_DESC& desc, const Array& array, std::span<std::byte> memory);

// Nearest value of a floating-point type, ties to even; overflow gives infinity.
double roundTo(DML_TENSOR_DATA_TYPE type, double value);
// The low bits of a value as the integer type reads them.
int64_t wrapTo(DML_TENSOR_DATA_TYPE type, int64_t value);
// Towards zero, then to the nearer end of the integer type's range; NaN gives 0.
int64_t truncateTo(DML_TENSOR_DATA_TYPE type, double value);
uint16_t halfFromDouble(double value);
double doubleFromHalf(uint16_t half);
// Distance between neighbours at a value's magnitude; at zero that of the denormals.
double spacing(DML_TENSOR_DATA_TYPE type, double value);
// The smallest positive normal value.
double smallestNormal(DML_TENSOR_DATA_TYPE type);

struct Tolerance {
  enum class Kind {
    Exact,  // the same bits, denormals included; NaN payloads are free
    Ulp,    // either bound suffices: `ulp` units in the last place of the output type, or `abs`
    Sum,    // 2 K eps magnitude always, 4 sqrt(K) eps magnitude for 99.9 % of the elements, eps of FLOAT32
  };
  Kind kind = Kind::Exact;
  double ulp32 = 0;  // also serves FLOAT64, in its own units
  double ulp16 = 0;
  double abs32 = 0;
  double abs16 = 0;
  double argumentUlp = 0;  // the result may be that of an argument wrong by so many FLOAT32 units in the last place
  bool anyZero = false;    // Kind::Exact: -0 equals +0
  // Of a function that turns back within the error of its argument: its largest slope.
  double slope = 0;
};

constexpr Tolerance exact() { return {}; }
constexpr Tolerance exactButZeroSign() { return {Tolerance::Kind::Exact, 0, 0, 0, 0, 0, true}; }
constexpr Tolerance ulp(double ulp32, double ulp16) { return {Tolerance::Kind::Ulp, ulp32, ulp16, 0, 0, 0, true}; }
constexpr Tolerance ulpOrAbs(double ulp32, double abs32, double ulp16, double abs16) {
  return {Tolerance::Kind::Ulp, ulp32, ulp16, abs32, abs16, 0, true};
}
// For functions that round between their steps, such as a product that a sum then cancels.
constexpr Tolerance withArgument(Tolerance tolerance, double argumentUlp) {
  tolerance.argumentUlp = argumentUlp;
  return tolerance;
}

struct Result {
  Array value;
  Tolerance tolerance;
  std::vector<double> magnitude = {};  // Kind::Sum: sum of |a| |b| per element
  uint64_t terms = 0;                  // Kind::Sum: how many terms K each sum has
  // Error allowed per element beside the tolerance, for what conditioning, intermediate range and flushed denormals do
  // to it: empty for none, infinity where any answer is as good as another.
  std::vector<double> slack = {};
};

bool knows(DML_OPERATOR_TYPE type);

// Inputs in DirectML's binding order, absent optional ones default-constructed; one Result per output tensor. Throws
// std::invalid_argument for an operator it does not know and for inputs that do not fit the description.
std::vector<Result> evaluate(const DML_OPERATOR_DESC& desc, std::span<const Array> inputs);

struct Comparison {
  bool ok = true;
  std::string message = {};  // the first bad element; empty when ok
  // The largest errors among finite elements that were not flushed, good ones included. Elements that an absolute bound
  // alone accepts have none in ULP.
  double maxUlp = 0;
  double maxAbs = 0;
  double maxShare = 0;  // the largest error as a share of its bound
  size_t worst = 0;     // row-major index of that element
};

// NaN matches NaN, infinities match by sign. Outside Kind::Exact -0 equals +0 and a denormal may have been flushed.
Comparison compare(const Result& expected, const Array& actual);

}  // namespace oracle
