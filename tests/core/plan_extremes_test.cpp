// Plans of every operator with the largest sizes, strides and attributes that descriptions can have.
#include <doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/text.h"
#include "tests/core/descriptions.h"
#include "tests/core/extremes.h"
#include "tests/core/least_work.h"
#include "tests/core/planned.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// What was found wrong, each kind of an operator once, with the first line and how many there are.
class Findings {
 public:
  void add(const std::string& line, std::string_view what, const std::string& values = {}) {
    Finding& finding = all_[cat(line.substr(0, line.find(' ')), ": ", what)];
    if (finding.count++ == 0) finding.first = cat(values, "\n  ", line);
  }
  void report() const {
    for (const auto& [what, finding] : all_) FAIL_CHECK(what, " (", finding.count, " lines) ", finding.first);
  }

 private:
  struct Finding {
    size_t count = 0;
    std::string first;
  };
  std::map<std::string, Finding> all_;
};

struct Totals {
  double work = 0;
  double groups = 0;
  std::string kernels;        // and their specializations
  std::set<uint32_t> blocks;  // of parameters
};

uint64_t bytesOf(const Operation& op, const Plan& plan, const BufferRange& range, bool initialization) {
  switch (range.kind) {
    case SlotKind::Input:
      return op.input(range.index).spannedBytes();
    case SlotKind::Output:
      return op.output(range.index).spannedBytes();
    case SlotKind::Temporary:
      return initialization ? plan.initializationBytes : plan.temporaryBytes;
    case SlotKind::Persistent:
      return plan.persistentBytes;
  }
  return 0;
}

class Checker {
 public:
  Checker(const Target& target, Findings& findings) : target_(target), findings_(findings) {}

  // No value if the description or its plan is refused.
  std::optional<Totals> check(const std::string& line) {
    auto parsed = parseCase(line);
    if (!parsed) return fail(line, "is no description", parsed.error());
    const auto op = Operation::parse(parsed->desc.desc());
    if (!op) return fail(line, "is no valid description", op.error());
    const auto plan = planOperator(*op, target_);
    if (!plan) return refused(line, plan.error(), ErrorCode::Unsupported);
    Totals totals;
    for (const auto* dispatches : {&plan->initialization, &plan->execution})
      for (const Dispatch& dispatch : *dispatches)
        checkDispatch(line, *op, *plan, dispatch, dispatches == &plan->initialization, totals);
    if (const double least = leastWork(*op); totals.work < least)
      findings_.add(line, "the work is less than its page says", cat(totals.work, " < ", least));
    double elements = 0;
    for (const auto tensors : {op->inputs(), op->outputs()})
      for (const Tensor& tensor : tensors) elements = std::max(elements, static_cast<double>(tensor.elements));
    mostElements_[std::string(op->schema().name)] = std::max(mostElements_[std::string(op->schema().name)], elements);
    ++planned_;
    return totals;
  }

  double mostElements(std::string_view op) const {
    const auto found = mostElements_.find(std::string(op));
    return found == mostElements_.end() ? 0 : found->second;
  }
  size_t planned() const { return planned_; }

 private:
  std::optional<Totals> fail(const std::string& line, std::string_view what, const Error& error) {
    findings_.add(line, what, error.text);
    return {};
  }
  std::optional<Totals> refused(const std::string& line, const Error& error, ErrorCode expected) {
    if (error.code != expected || !error.text.ends_with('.')) return fail(line, "is refused wrongly", error);
    return {};
  }

  void checkDispatch(const std::string& line, const Operation& op, const Plan& plan, const Dispatch& dispatch,
                     bool initialization, Totals& totals) {
    const auto expect = [&](bool holds, std::string_view what, uint64_t value) {
      if (!holds) findings_.add(line, what, cat(kernelName(dispatch.kernel), " ", value));
    };
    uint64_t folded = 1;
    for (size_t i = 0; i < 3; ++i) {
      expect(dispatch.groups[i] <= target_.caps.maxGroups[i], "more groups than a dimension has", dispatch.groups[i]);
      folded *= dispatch.groups[i];
    }
    const uint64_t first = dispatch.push[3], end = dispatch.push[2];
    expect(end >= first && folded >= end - first, "folded groups are too few", folded);
    expect(first + folded <= uint64_t{UINT32_MAX} + 1, "numbers of groups wrap", folded);
    const auto groups = static_cast<double>(end - first);
    expect((dispatch.work > 0) == (groups > 0), "a dispatch says no work", end - first);
    expect(dispatch.work <= static_cast<double>(target_.workLimit()) || groups == 1, "more work than the limit", end);
    expect(dispatch.work <= kMaxGroupWork.multiplyAdds() * groups, "a group does too much", end - first);
    for (const BufferRange& range : dispatch.buffers) {
      const uint64_t bytes = bytesOf(op, plan, range, initialization);
      expect(range.offset <= bytes && range.bytes <= bytes - range.offset, "a range ends behind its tensor",
             range.offset + range.bytes);
      expect(range.bytes <= target_.caps.maxBufferRange, "a range is too large", range.bytes);
    }
    expect(dispatch.parameterOffset <= plan.parameters.size() * 4, "parameters are missing", dispatch.parameterOffset);
    totals.work += dispatch.work;
    totals.groups += groups;
    totals.blocks.insert(dispatch.parameterOffset);
    std::string kernel = cat(" ", kernelName(dispatch.kernel));
    for (const Specialization& constant : dispatch.specialization) kernel += cat(" ", constant.value);
    if (!dispatch.continues || !totals.kernels.ends_with(kernel)) totals.kernels += kernel;
  }

  const Target& target_;
  Findings& findings_;
  std::map<std::string, double> mostElements_;
  size_t planned_ = 0;
};

Target limitedTo(uint64_t work) {
  Caps caps;
  caps.workLimit = work;
  return caps;
}

// A device whose subgroups multiply matrices, and a caller who allows half precision.
Target withMatrices() {
  Caps caps;
  caps.workLimit = kDiscreteWorkLimit;
  caps.features = ~0u;
  caps.subgroupSize = 32;
  caps.matrices = {16, 16, 16};
  caps.integerMatrices = {16, 16, 32};
  caps.matrixHalves = true;
  return {caps, {}, true};
}

TEST_CASE("plans of extreme descriptions keep within limits and count what they do") {
  Findings findings;
  const Target discrete = limitedTo(kDiscreteWorkLimit);
  Checker written(discrete, findings);
  const Target matrices = withMatrices();
  Checker writtenWithMatrices(matrices, findings);
  for (const std::string& line : writtenExtremes()) {
    written.check(line);
    writtenWithMatrices.check(line);
  }
  CHECK(written.planned() >= 30);

  // A limit that leaves most plans few parts, which take the time here.
  const Target generous = limitedTo(uint64_t{1} << 44);
  Checker checker(generous, findings);
  size_t refusals = 0;
  for (const std::string& valid : writtenDescriptions())
    for (const auto& [line, half] : extremesOf(valid)) {
      const auto whole = checker.check(line);
      if (!whole) ++refusals;
      // What is compared with a half is no matter of memory.
      if (!whole || half.empty() || isRun(Run::Sanitized)) continue;
      const auto lesser = checker.check(half);
      // A backward convolution that is large enough becomes forward ones, which multiply no zeros; the places of each
      // are filled up to tiles.
      if (lesser && line.starts_with("CONVOLUTION ") && whole->blocks.size() > 1) continue;
      if (lesser && whole->work < lesser->work)
        findings.add(line, "twice the size is less work", cat(whole->work, " < ", lesser->work));
      if (lesser && whole->kernels == lesser->kernels && whole->groups < lesser->groups)
        findings.add(line, "twice the size is fewer groups", cat(whole->groups, " < ", lesser->groups));
    }
  findings.report();
  constexpr double kLarge = 1 << 24;
  for (const OpSchema* schema : allSchemas())
    CHECK_MESSAGE(checker.mostElements(schema->name) >= kLarge, schema->name,
                  " has no plan of large tensors: ", checker.mostElements(schema->name));
  CHECK(checker.planned() >= (isRun(Run::Sanitized) ? 5000 : 10000));
  CHECK(refusals >= 1000);
}

}  // namespace
}  // namespace dimple::testing
