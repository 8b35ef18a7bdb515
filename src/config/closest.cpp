#include "config/closest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace servecast::config {

namespace {

constexpr std::size_t longest_word = 128;  // longer input is not a misspelt name, and the table below is quadratic
constexpr std::size_t listed_names = 30;

}  // namespace

// Three rows of the dynamic-programming table: swaps look back two rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() > longest_word) return std::nullopt;
  std::size_t limit = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::optional<std::string_view> best;
  for (const std::string_view name : names) {
    const std::size_t gap = name.size() > word.size() ? name.size() - word.size() : word.size() - name.size();
    if (gap >= limit) continue;
    const std::size_t distance = edit_distance(word, name);
    if (distance >= limit) continue;
    limit = distance;
    best = name;
  }
  return best;
}

std::string hint(std::string_view word, std::span<const std::string_view> names) {
  if (const std::optional<std::string_view> near = closest(word, names)) {
    return fmt::format("; did you mean \"{}\"?", *near);
  }
  if (names.empty()) return "";
  const std::span<const std::string_view> shown = names.first(std::min(names.size(), listed_names));
  return fmt::format("; known: {}{}", fmt::join(shown, ", "), shown.size() < names.size() ? ", ..." : "");
}

std::string hint(std::string_view word, const std::vector<std::string>& names) {
  return hint(word, std::vector<std::string_view>(names.begin(), names.end()));
}

}  // namespace servecast::config
