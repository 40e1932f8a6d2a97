#include "core/options.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/graph/pass.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr std::string_view kPassReason = "To see what a pass gains, or whether a fault is its.";

constexpr OptionRow kRows[] = {
    {"estimates", "1", "Chains come only where they are expected to be faster than their nodes.",
     "0 makes every chain that is possible, for tests.", &Options::estimates},
    {"unroll", "1", "Loops in kernels may be unrolled by the driver (Vulkan).",
     "0 halves the time that llvmpipe takes to compile.", &Options::unroll},
    {"native-storage", "1", "Kernels use 8- and 16-bit storage where the device has it.",
     "0 tests what devices without it execute.", &Options::nativeStorage},
    {"rounded-halves", "1", "The device converts to FLOAT16 where it can be told to round to nearest even (Vulkan).",
     "0 tests what other devices execute.", &Options::roundedHalves},
    {"update-after-bind", "1", "Descriptors may change after recording where the device allows it.",
     "0 tests what devices without it do.", &Options::updateAfterBind},
    {"work", "0", "Multiply-adds of a dispatch, from 1; beyond them it comes in parts. 0: the device's limit.",
     "A few thousand test dispatches in parts.", &Options::work},
    {"matrices", "",
     "Rows, columns and depth of the FLOAT16 matrices that subgroups multiply, such as 16x8x16, one of the shapes that "
     "the device offers (Vulkan). None: of those with sums in FLOAT16, or else of all, the one with the most "
     "multiplications.",
     "Another shape may be faster, or test what other devices execute.", &Options::matrices},
    {"integer-matrices", "", "The same of matrices of 8-bit integers, such as 16x8x32 (Vulkan).",
     "Another shape may be faster, or test what other devices execute.", &Options::integerMatrices},
#ifdef DIMPLE_DEVELOPER
    {"kernels", "", "A folder of NAME.spv that replace embedded kernels (Vulkan). Only in builds for developers.",
     "To try a kernel without a build, or a mutant of it.", &Options::kernels},
#endif
};

std::vector<OptionRow> collect() {
  std::vector<OptionRow> rows{
      {"passes", "1", "Graphs are rewritten at all.", kPassReason, OptionRow::Passes{~uint32_t{0}}}};
  for (size_t i = 0; i < allPasses().size(); ++i)
    rows.push_back(
        {allPasses()[i].name, "1", allPasses()[i].sentence, kPassReason, OptionRow::Passes{uint32_t{1} << i}});
  rows.insert(rows.end(), std::begin(kRows), std::end(kRows));
  return rows;
}

Error wrongValue(const OptionRow& row, std::string_view value, std::string_view expected) {
  return invalid(cat("Option ", row.name, " has value (", value, "), expected ", expected, "."));
}

// Sets an option of a kind; each overload refuses what its kind is not.
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
