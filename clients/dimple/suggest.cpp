#include "clients/dimple/suggest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/text.h"

namespace dimple::tool {
namespace {

constexpr size_t kMostListed = 24;
constexpr size_t kLongestName = 80;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Insertions, deletions and replacements of characters that lead from one to the other.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// The candidate that `name` is a misspelling or a part of; empty: none.
std::string_view nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > kLongestName) return {};
  const std::string wanted = lower(name);
  std::string_view best;
  // Names of one letter are nobody's misspelling.
  size_t least = std::min(std::max<size_t>(2, name.size() / 3) + 1, std::max<size_t>(1, name.size()));
  for (const std::string& candidate : candidates)
    if (const size_t distance = editDistance(wanted, lower(candidate)); distance < least) {
      least = distance;
      best = candidate;
    }
  if (!best.empty() || wanted.size() < 3) return best;
  // ADD for ELEMENT_WISE_ADD: the shortest that ends so.
  for (const std::string& candidate : candidates)
    if (lower(candidate).ends_with(wanted) && (best.empty() || candidate.size() < best.size())) best = candidate;
  return best;
}

}  // namespace

std::string candidatesText(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string_view best = nearest(name, candidates);
  std::string text = best.empty() ? "." : cat("; did you mean ", best, "?");
  if (candidates.empty() || candidates.size() > kMostListed) return text;
  std::string list;
  for (const std::string& candidate : candidates) list += cat(list.empty() ? "" : ", ", candidate);
  return cat(text, candidates.size() == 1 ? " There is " : " There are ", list, ".");
}

}  // namespace dimple::tool
