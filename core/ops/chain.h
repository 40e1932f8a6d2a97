// Chains of element-wise operators in one dispatch: what each does to an element, step by step, as a program that a
// kernel executes (kernels/elementwise/chain.comp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/operation.h"
#include "core/ops/element_step.h"

namespace dimple {

class PlanBuilder;
struct BufferRange;
struct Target;
struct Walk;

// What the kernel holds.
constexpr uint32_t kMaxChainInputs = 6;
constexpr uint32_t kMaxChainOutputs = 2;
constexpr uint32_t kMaxChainSteps = 32;

// What an operator does to each element, beginning with that of its input 0. Empty if it is not element-wise, or not of
// types and functions that the kernel has.
std::vector<ElementStep> elementSteps(const Operation& op);

// The same of a family's operators; empty for others.
std::vector<ElementStep> elementwiseSteps(const Operation& op);
std::vector<ElementStep> castSteps(const Operation& op);
std::vector<ElementStep> quantizationSteps(const Operation& op);

// A number of a type of at most 32 bits as the kernel holds it: FLOAT16 as FLOAT32, integers extended.
uint32_t chainNumber(DataType type, const std::byte* bytes);

// A tensor without its dimensions of size 1, broadcast to `sizes`.
Tensor squeezed(const Tensor& tensor, std::span<const uint32_t> sizes);

// What an operator of a chain takes.
struct ChainValue {
  enum class Kind : uint8_t { Input, Number, Operator };
  Kind kind = Kind::Input;
  uint32_t value = 0;  // index of the chain's input, the number, or index of an earlier operator
};

struct ChainOperator {
  std::vector<ElementStep> steps;
  std::vector<ChainValue> inputs;
  std::optional<uint32_t> output;  // of the chain
};

// A step as the kernel reads it: what it is, and a, b and the number that it takes.
struct ChainStep {
  uint32_t control = 0;
  std::array<uint32_t, 3> numbers{};
};

struct Chain {
  std::vector<ChainStep> steps;
  std::vector<uint32_t> loads;  // the inputs that steps load, one per step
  uint32_t groups = 0;          // bits of StepFunctions
  bool hasFewDigits = false;    // some function computes the digits of FLOAT16 alone
  uint32_t functions = 0;       // steps whose function takes one element after another
  CostlyFunctions costly;       // ... and many instructions
  uint32_t narrowed = 0;        // steps whose result is rounded to a type of less than 32 bits
  // By input, the dimensions of its squeezed tensor, as bits, that are walked from their end.
  std::array<uint32_t, kMaxChainInputs> reversed{};
};

// The program of operators, each of which comes after those that it takes. No value if it takes more steps, or more
// values at a time, than the kernel has.
std::optional<Chain> makeChain(std::span<const ChainOperator> operators);

// Whether the kernel has a module for a chain whose results are those of its nodes. Modules that interpret chains have
// a group of functions each, since drivers take long to compile more, and none of FLOAT16, which compute fewer digits.
bool hasModule(const Chain& chain, const Target& target);

// The chain as an operation: its inputs and outputs are squeezed tensors of the same sizes.
Operation chainOperation(Chain chain, std::vector<Tensor> inputs, std::vector<Tensor> outputs, TensorNames names);

// An element-wise operator as a chain of itself alone, for parts of walks through its inputs and its output: a row of
// what addElements() chooses from.
class SingleChain {
 public:
  // None where chains are interpreted (Caps::fixesParameters), or elements are few.
  static std::optional<SingleChain> of(const Operation& op, const Target& target);
  // Of steps that take operands of these types, whatever they are for.
  static std::optional<SingleChain> of(std::vector<ElementStep> steps, std::vector<DataType> inputs, DataType output);
  static bool isWorthwhile(const Tensor& output, const Target& target);

  // Why it is not for these elements: a sentence. Null: it is.
  const char* refuses(const Walk& walk, size_t operands, const Target& target) const;
  Status add(PlanBuilder& builder, const Walk& walk, const std::vector<BufferRange>& ranges) const;

 private:
  std::vector<DataType> typesFor(size_t operands) const;

  Chain chain_;
  std::vector<DataType> types_;  // of the inputs
  DataType output_ = DML_TENSOR_DATA_TYPE_UNKNOWN;
};

bool isChain(const Operation& op);
// Whether two operations are chains that do the same with each element, wherever it lies.
bool isSameChain(const Operation& a, const Operation& b);

// Loads and stores of a chain for which each element's place is computed.
uint32_t indexedAccesses(const Operation& chain, const Target& target);

// Whether an element-wise operator on squeezed tensors reads across what it writes in a row.
bool readsAcross(std::span<const Tensor> inputs, const Tensor& output);

}  // namespace dimple
