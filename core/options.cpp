#include "core/options.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/graph/pass.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr std::string_view kPassReason = "0 shows what it gains, or whether it causes a fault.";

constexpr OptionRow kRows[] = {
    {"estimates", "1", "Chains are made only where they are expected to be faster than their nodes.",
     "0 makes every possible chain, for tests.", &Options::estimates},
    {"unroll", "1",
     "The driver may unroll loops in kernels (Vulkan; with estimates=0 also a software driver of Direct3D 12).",
     "0 halves the time that llvmpipe takes to compile.", &Options::unroll},
    {"native-storage", "1", "Kernels use 8- and 16-bit storage if the device has it.",
     "0 tests what runs on devices without it.", &Options::nativeStorage},
    {"rounded-halves", "1", "The device converts to FLOAT16 if it rounds to nearest even.",
     "0 tests what runs on other devices.", &Options::roundedHalves},
    {"update-after-bind", "1", "Descriptors may change after recording if the device allows it.",
     "0 tests how devices without it behave.", &Options::updateAfterBind},
    {"work", "0",
     "The most multiply-adds of a dispatch, at least 1; a dispatch with more is split into parts. 0 stands for "
     "the device's limit.",
     "A few thousand, for example, test dispatches that are split.", &Options::work},
    {"warm-ups", "1", "Runs of large graphs begin with a workgroup of each pipeline where the device gains by it.",
     "0 shows what it gains, or whether it causes a fault.", &Options::warmUps},
    {"places", "1",
     "Kernels read and set elements of matrices where they find that invocations hold those that they expect.",
     "0 tests what they do where a driver places elements otherwise.", &Options::places},
    {"matrices", "",
     "Rows, columns and depth of the FLOAT16 matrices that subgroups multiply, for example 16x8x16, which must be one "
     "of the shapes that the device offers (Vulkan). If it is empty, the shape with the most multiplications is taken "
     "from those with sums in FLOAT16, or else from all.",
     "Another shape may be faster, or test what runs on other devices.", &Options::matrices},
    {"integer-matrices", "", "The same for matrices of 8-bit integers, for example 16x8x32 (Vulkan).",
     "Another shape may be faster, or test what runs on other devices.", &Options::integerMatrices},
#ifdef DIMPLE_DEVELOPER
    {"kernels", "", "A folder of NAME.spv files that replace embedded kernels (Vulkan). Only developer builds have it.",
     "A kernel, or a mutant of it, can be tried without a build.", &Options::kernels},
#endif
};

std::vector<OptionRow> collect() {
  std::vector<OptionRow> rows{{"passes", "1", "Passes rewrite graphs.", kPassReason, OptionRow::Passes{~uint32_t{0}}}};
  for (size_t i = 0; i < allPasses().size(); ++i)
    rows.push_back(
        {allPasses()[i].name, "1", allPasses()[i].sentence, kPassReason, OptionRow::Passes{uint32_t{1} << i}});
  rows.insert(rows.end(), std::begin(kRows), std::end(kRows));
  return rows;
}

Error wrongValue(const OptionRow& row, std::string_view value, std::string_view expected) {
  return invalid(cat("Option ", row.name, " has value (", value, "), expected ", expected, "."));
}

// Sets an option; each overload refuses a value of another kind.
struct Setter {
  Options& options;
  const OptionRow& row;
  std::string_view value;

  Status operator()(bool Options::*member) const {
    if (value != "0" && value != "1") return wrongValue(row, value, "0 or 1");
    options.*member = value == "1";
    return {};
  }
  Status operator()(uint64_t Options::*member) const {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.*member);
    if (error != std::errc() || end != value.data() + value.size()) return wrongValue(row, value, "a whole number");
    return {};
  }
  Status operator()(MatrixShape Options::*member) const {
    const auto shape = value.empty() ? MatrixShape{} : parseShape(value);
    if (!shape) return wrongValue(row, value, "ROWSxCOLUMNSxDEPTH");
    options.*member = *shape;
    return {};
  }
  Status operator()(std::string Options::*member) const {
    options.*member = value;
    return {};
  }
  Status operator()(OptionRow::Passes passes) const {
    if (value != "0" && value != "1") return wrongValue(row, value, "0 or 1");
    options.withoutPasses = value == "1" ? options.withoutPasses & ~passes.bits : options.withoutPasses | passes.bits;
    return {};
  }
};

Status set(Options& options, std::string_view name, std::string_view value) {
  const auto rows = optionRows();
  const auto row = std::ranges::find(rows, name, &OptionRow::name);
  if (row != rows.end()) return std::visit(Setter{options, *row, value}, row->member);
  std::string names;
  for (const OptionRow& known : rows) names += cat(names.empty() ? "" : ", ", known.name);
  return invalid(cat("\"", name, "\" is not an option of this build, expected one of ", names, "."));
}

}  // namespace

std::span<const OptionRow> optionRows() {
  static const std::vector<OptionRow> rows = collect();
  return rows;
}

Result<Options> parseOptions(std::string_view text, Options options) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t equals = part.find('=');
    if (equals == part.npos) return invalid(cat("\"", part, "\" is not an option with a value, expected NAME=VALUE."));
    TRY(set(options, part.substr(0, equals), part.substr(equals + 1)));
  }
  return options;
}

}  // namespace dimple
