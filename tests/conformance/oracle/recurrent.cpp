#include "tests/conformance/oracle/recurrent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/conformance/oracle/elements.h"
#include "tests/conformance/oracle/elementwise.h"

namespace oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr double kEps = 0x1p-23;
// Beyond it partial results may overflow in single precision.
constexpr double kLarge = 1e37;

// Numbers with what each may be off by.
struct Values {
  std::vector<double> value, error;

  explicit Values(size_t count = 0) : value(count), error(count) {}
  void set(size_t i, double v, double e) {
    value[i] = v;
    error[i] = std::fabs(v) < kLarge ? e : kInfinity;
  }
};

// 0 times what may be an infinity may be NaN.
double timesError(double factor, double error) { return std::isinf(error) ? error : std::fabs(factor) * error; }

struct Product {
  double value = 0;
  double error = 0;
};
Product product(const Values& a, const Values& b, size_t i) {
  if (std::isinf(a.error[i]) || std::isinf(b.error[i])) return {a.value[i] * b.value[i], kInfinity};
  return {a.value[i] * b.value[i], timesError(a.value[i], b.error[i]) + timesError(b.value[i], a.error[i]) +
                                       kEps * std::fabs(a.value[i] * b.value[i])};
}

void activate(const DML_OPERATOR_DESC& activation, Values& values) {
  const auto count = static_cast<uint32_t>(values.value.size());
  Result result{makeArray(kFloat, {count}), exact()};
  result.value.real = values.value;
  applyActivation(activation, values.error, result);
  for (size_t i = 0; i < count; ++i) {
    const double v = result.value.real[i];
    if (!std::isfinite(v) || std::isinf(values.error[i])) {
      values.set(i, v, kInfinity);
      continue;
    }
    const double own = std::max(result.tolerance.ulp32 * spacing(kFloat, v), result.tolerance.abs32);
    values.set(i, v, own + result.slack[i] + smallestNormal(kFloat));
  }
}

// What the three networks have in common.
struct Network {
  std::span<const Array> inputs;
  size_t gates = 1;
  const DML_OPERATOR_DESC* activations = nullptr;
  size_t activationsPerDirection = 1;
  DML_RECURRENT_NETWORK_DIRECTION direction = DML_RECURRENT_NETWORK_DIRECTION_FORWARD;
  size_t lengthsInput = 5;
  size_t cellInput = 0;
  size_t peepholeInput = 0;
  bool linearBeforeReset = false;
  bool clips = false;
  double clip = 0;
  bool couples = false;

  uint32_t steps() const { return inputs[0].sizes[1]; }
  uint32_t batch() const { return inputs[0].sizes[2]; }
  uint32_t inputSize() const { return inputs[0].sizes[3]; }
  uint32_t directions() const { return inputs[2].sizes[1]; }
  uint32_t hidden() const { return inputs[2].sizes[3]; }
  bool has(size_t input) const { return input != 0 && !inputs[input].absent(); }
  bool isBackward(size_t d) const {
    return direction == DML_RECURRENT_NETWORK_DIRECTION_BACKWARD ||
           (direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL && d == 1);
  }
  const DML_OPERATOR_DESC& activation(size_t d, size_t which) const {
    return activations[d * activationsPerDirection + which];
  }

  double weight(size_t input, size_t d, size_t row, size_t k) const {
    const Array& w = inputs[input];
    return w.real[(d * w.sizes[2] + row) * w.sizes[3] + k];
  }
  // Of the weights' half, or the recurrence's.
  double bias(size_t d, size_t gate, size_t h, bool recurrent) const {
    if (!has(3)) return 0;
    const size_t rows = gates * hidden();
    return inputs[3].real[d * 2 * rows + (recurrent ? rows : 0) + gate * hidden() + h];
  }
  double peephole(size_t d, size_t gate, size_t h) const {
    return has(peepholeInput) ? inputs[peepholeInput].real[(d * 3 + gate) * hidden() + h] : 0;
  }
};

// One direction's hidden and cell states, batch by batch.
struct State {
  Values hidden, cell;
};

// X * W^T of a gate, with bias.
Product fromInput(const Network& network, size_t d, size_t gate, size_t t, size_t b, size_t h) {
  const size_t row = gate * network.hidden() + h;
  const size_t x = (t * network.batch() + b) * network.inputSize();
  Product sum{network.bias(d, gate, h, false), 0};
  double magnitude = std::fabs(sum.value);
  for (size_t i = 0; i < network.inputSize(); ++i) {
    const double term = network.inputs[0].real[x + i] * network.weight(1, d, row, i);
    sum.value += term;
    magnitude += std::fabs(term);
  }
  sum.error = kEps * (4 + std::sqrt(network.inputSize())) * magnitude;
  return sum;
}

// H * R^T of a gate, with bias.
Product fromHidden(const Network& network, const Values& hidden, size_t d, size_t gate, size_t b, size_t h) {
  const size_t row = gate * network.hidden() + h;
  Product sum{network.bias(d, gate, h, true), 0};
  double magnitude = std::fabs(sum.value);
  for (size_t k = 0; k < network.hidden(); ++k) {
    const size_t at = b * network.hidden() + k;
    const double r = network.weight(2, d, row, k);
    sum.value += r * hidden.value[at];
    sum.error += timesError(r, hidden.error[at]);
    magnitude += std::fabs(r * hidden.value[at]);
  }
  sum.error += kEps * (4 + std::sqrt(network.hidden())) * magnitude;
  return sum;
}

// The time that each sequence is at in this step; none of sequences that have ended.
using Times = std::vector<int64_t>;

// Calls each(i, b, h, t) for the elements of running sequences.
template <class Each>
void forRunning(const Network& network, const Times& times, Each each) {
  for (size_t b = 0; b < network.batch(); ++b)
    for (size_t h = 0; h < network.hidden(); ++h)
      if (times[b] >= 0) each(b * network.hidden() + h, b, h, static_cast<size_t>(times[b]));
}

// X * W^T + H * R^T + bias.
Values gateSums(const Network& network, const State& state, const Times& times, size_t d, size_t gate) {
  Values sums(state.hidden.value.size());
  forRunning(network, times, [&](size_t i, size_t b, size_t h, size_t t) {
    const Product x = fromInput(network, d, gate, t, b, h);
    const Product r = fromHidden(network, state.hidden, d, gate, b, h);
    sums.set(i, x.value + r.value, x.error + r.error + kEps * (std::fabs(x.value) + std::fabs(r.value)));
  });
  return sums;
}

void clip(const Network& network, Values& values) {
  if (!network.clips) return;
  for (double& v : values.value) v = v > network.clip ? network.clip : v < -network.clip ? -network.clip : v;
}

void stepRnn(const Network& network, const Times& times, size_t d, State& state) {
  Values next = gateSums(network, state, times, d, 0);
  activate(network.activation(d, 0), next);
  forRunning(network, times,
             [&](size_t i, size_t, size_t, size_t) { state.hidden.set(i, next.value[i], next.error[i]); });
}

// Gates z, r, h.
void stepGru(const Network& network, const Times& times, size_t d, State& state) {
  Values update = gateSums(network, state, times, d, 0);
  Values reset = gateSums(network, state, times, d, 1);
  activate(network.activation(d, 0), update);
  activate(network.activation(d, 0), reset);
  Values kept(state.hidden.value.size());
  for (size_t i = 0; i < kept.value.size(); ++i) {
    const Product p = product(reset, state.hidden, i);
    kept.set(i, p.value, p.error);
  }
  Values candidate(kept.value.size());
  Values linear(kept.value.size());
  forRunning(network, times, [&](size_t i, size_t b, size_t h, size_t t) {
    const Product x = fromInput(network, d, 2, t, b, h);
    Product r;
    if (network.linearBeforeReset) {
      r = fromHidden(network, state.hidden, d, 2, b, h);
      linear.set(i, r.value, r.error);
      r = product(reset, linear, i);
    } else {
      r = fromHidden(network, kept, d, 2, b, h);
    }
    candidate.set(i, x.value + r.value, x.error + r.error + kEps * (std::fabs(x.value) + std::fabs(r.value)));
  });
  activate(network.activation(d, 1), candidate);
  forRunning(network, times, [&](size_t i, size_t, size_t, size_t) {
    Values rest(1), old(1), fresh(1), share(1);
    rest.set(0, 1 - update.value[i], update.error[i] + kEps * (1 + std::fabs(update.value[i])));
    share.set(0, update.value[i], update.error[i]);
    fresh.set(0, candidate.value[i], candidate.error[i]);
    old.set(0, state.hidden.value[i], state.hidden.error[i]);
    const Product a = product(rest, fresh, 0);
    const Product b = product(share, old, 0);
    state.hidden.set(i, a.value + b.value, a.error + b.error + kEps * (std::fabs(a.value) + std::fabs(b.value)));
  });
}

// Gates i, o, f, c. The page gives the output gate the cell before the step; the original gives it the one after it, as
// ONNX does. The page's h(c_t) can only mean the new cell C_t.
void stepLstm(const Network& network, const Times& times, size_t d, State& state) {
  const auto gate = [&](size_t which, size_t peephole) {
    Values sums = gateSums(network, state, times, d, which);
    forRunning(network, times, [&](size_t i, size_t, size_t h, size_t) {
      const double p = network.peephole(d, peephole, h);
      const double term = p * state.cell.value[i];
      sums.set(
          i, sums.value[i] + term,
          sums.error[i] + timesError(p, state.cell.error[i]) + kEps * (std::fabs(term) + std::fabs(sums.value[i])));
    });
    clip(network, sums);
    activate(network.activation(d, 0), sums);
    return sums;
  };
  const Values input = gate(0, 0);
  Values forget = gate(2, 2);
  if (network.couples) {
    for (size_t i = 0; i < forget.value.size(); ++i)
      forget.set(i, 1 - input.value[i], input.error[i] + kEps * (1 + std::fabs(input.value[i])));
  }
  Values candidate = gateSums(network, state, times, d, 3);
  clip(network, candidate);
  activate(network.activation(d, 1), candidate);
  forRunning(network, times, [&](size_t i, size_t, size_t, size_t) {
    const Product a = product(forget, state.cell, i);
    const Product b = product(input, candidate, i);
    state.cell.set(i, a.value + b.value, a.error + b.error + kEps * (std::fabs(a.value) + std::fabs(b.value)));
  });
  const Values output = gate(1, 1);
  Values squashed = state.cell;
  activate(network.activation(d, 2), squashed);
  forRunning(network, times, [&](size_t i, size_t, size_t, size_t) {
    const Product p = product(output, squashed, i);
    state.hidden.set(i, p.value, p.error);
  });
}

Values initial(const Network& network, size_t input, size_t d) {
  const size_t count = size_t{network.batch()} * network.hidden();
  Values values(count);
  for (size_t i = 0; network.has(input) && i < count; ++i) values.set(i, network.inputs[input].real[d * count + i], 0);
  return values;
}

void put(Result& result, size_t at, double value, double error) {
  result.value.real[at] = value;
  result.slack[at] = error;
}

template <class Step>
std::vector<Result> evaluateNetwork(const Network& network, std::initializer_list<const DML_TENSOR_DESC*> outputs,
                                    Step step) {
  std::vector<Result> results(outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    const DML_TENSOR_DESC* tensor = outputs.begin()[k];
    if (tensor == nullptr) continue;
    results[k] = exactResult(tensor);
    results[k].tolerance = ulp(1, 1);
    results[k].slack.resize(results[k].value.count());
  }
  const size_t count = size_t{network.batch()} * network.hidden();
  for (size_t d = 0; d < network.directions(); ++d) {
    State state{initial(network, 4, d), initial(network, network.cellInput, d)};
    for (uint32_t s = 0; s < network.steps(); ++s) {
      Times times;
      for (size_t b = 0; b < network.batch(); ++b) {
        int64_t length = network.steps();
        if (network.has(network.lengthsInput)) length = std::min(length, network.inputs[network.lengthsInput].whole[b]);
        times.push_back(s >= length ? -1 : network.isBackward(d) ? length - 1 - s : s);
      }
      step(network, times, d, state);
      if (results[0].value.absent()) continue;
      forRunning(network, times, [&](size_t i, size_t, size_t, size_t t) {
        put(results[0], (t * network.directions() + d) * count + i, state.hidden.value[i], state.hidden.error[i]);
      });
    }
    // A sequence of no steps leaves the state as it was.
    for (size_t i = 0; i < count; ++i) {
      if (!results[1].value.absent()) put(results[1], d * count + i, state.hidden.value[i], state.hidden.error[i]);
      if (results.size() > 2 && !results[2].value.absent())
        put(results[2], d * count + i, state.cell.value[i], state.cell.error[i]);
    }
  }
  return results;
}

}  // namespace

std::vector<Result> evaluateRnn(const DML_RNN_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  Network network{inputs};
  network.activations = desc.ActivationDescs;
  network.direction = desc.Direction;
  return evaluateNetwork(network, {desc.OutputSequenceTensor, desc.OutputSingleTensor}, stepRnn);
}

std::vector<Result> evaluateGru(const DML_GRU_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  Network network{inputs};
  network.gates = 3;
  network.activations = desc.ActivationDescs;
  network.activationsPerDirection = 2;
  network.direction = desc.Direction;
  network.linearBeforeReset = desc.LinearBeforeReset != 0;
  return evaluateNetwork(network, {desc.OutputSequenceTensor, desc.OutputSingleTensor}, stepGru);
}

std::vector<Result> evaluateLstm(const DML_LSTM_OPERATOR_DESC& desc, std::span<const Array> inputs) {
  Network network{inputs};
  network.gates = 4;
  network.activations = desc.ActivationDescs;
  network.activationsPerDirection = 3;
  network.direction = desc.Direction;
  network.lengthsInput = 6;
  network.cellInput = 5;
  network.peepholeInput = 7;
  network.clips = desc.UseClipThreshold != 0;
  network.clip = static_cast<double>(desc.ClipThreshold);
  network.couples = desc.CoupleInputForget != 0;
  return evaluateNetwork(network, {desc.OutputSequenceTensor, desc.OutputSingleTensor, desc.OutputCellSingleTensor},
                         stepLstm);
}

}  // namespace oracle
