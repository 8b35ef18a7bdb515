// Did you mean: the known name nearest to a misspelt one, for messages about keys, policies and file names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace servecast::config {

// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of the nearest names within max(2, length / 3) edits; none if no name is that close.
std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> names);

// Ends a message about an unknown word: `; did you mean "fcfs"?`, or `; known: a, b, c` when nothing is close.
std::string hint(std::string_view word, std::span<const std::string_view> names);
std::string hint(std::string_view word, const std::vector<std::string>& names);

}  // namespace servecast::config
