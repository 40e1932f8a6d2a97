// Steps of what element-wise operators do to an element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/data_type.h"

namespace dimple {

// What a step makes of the current value and an operand. The numbers are those of chain_functions.glsl.
enum class StepKind : uint8_t {
  Load = 0,        // the operand
  Scale = 1,       // value * a + b
  Unary = 2,       // the operator's function of the value, with attributes a and b
  Binary = 3,      // ... of the value and the operand
  Predicate = 4,   // 1 or 0, or what BIT_COUNT counts; a is a mode
  Power = 5,       // value ^ operand
  Cast = 6,        // the value in another type
  Condition = 7,   // remembers where the value is not 0
  Select = 8,      // the value where that was so, else the operand
  Difference = 9,  // value - operand of integers, as FLOAT32
  Quantize = 10,   // round(value) + operand, in the range of the type
  Quotient = 11,   // value / operand, as near as Quantize needs it
};

// Groups of functions, as bits; those of chain_functions.glsl, whose lists say what is in which.
enum class StepFunctions : uint8_t {
  None = 0,  // of a few instructions
  Floats = 1,
  Powers = 2,
  Integers = 4,  // with all casts and quantization
  Trigonometric = 8,
  Exponentials = 16,  // and hyperbolic functions, and activations
};

struct ElementStep {
  StepKind kind = StepKind::Load;
  DML_OPERATOR_TYPE op = DML_OPERATOR_INVALID;
  DataType from = DML_TENSOR_DATA_TYPE_FLOAT32;  // of the values that it computes with
  DataType to = DML_TENSOR_DATA_TYPE_FLOAT32;    // to which the result is rounded, or whose bits are kept of it
  std::optional<size_t> input{};                 // of the operator: the operand
  std::optional<uint32_t> number{};              // or a number, as a value of the kernel
  uint32_t a = 0;
  uint32_t b = 0;
};

// Whether the chain kernel's applyShort() has its function.
bool isShort(const ElementStep& step);

// The group whose functions a step needs.
StepFunctions functionsOf(const ElementStep& step);

// Whether a step's function computes fewer digits than of FLOAT32.
bool hasFewDigits(const ElementStep& step);

// Steps whose function takes many instructions. Those of FLOAT16 compute fewer digits.
struct CostlyFunctions {
  uint32_t floats = 0;
  uint32_t halves = 0;
};

// Whether it has one: a power, or a numeric function, most of which are exponentials, logarithms and the like.
bool isCostly(const ElementStep& step);
// Where it is counted.
uint32_t& countOf(CostlyFunctions& costly, const ElementStep& step);
CostlyFunctions costlyFunctions(std::span<const ElementStep> steps);

}  // namespace dimple
