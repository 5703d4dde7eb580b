#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headsplit {

/// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other, upper
/// and lower case alike.  Only the first 64 characters of each count.
int edit_distance(std::string_view left, std::string_view right);

/// The candidates a mistyped word may have meant, nearest first, at most `count_max`; empty when
/// none is near.  Near: at most a third of the letters edited, or one word begins the other.
std::vector<std::string> nearest_names(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       std::size_t count_max = 3);

/// Tail of an error message about an unknown name: "; did you mean 'batch'? Legal: batch, context".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace headsplit
