#include "core/nearest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace headsplit {
namespace {

constexpr std::size_t kLettersMax = 64;

std::string folded(std::string_view word) {
  std::string text(word.substr(0, kLettersMax));
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool begins_other(const std::string& left, const std::string& right) {
  const std::size_t shared = std::min(left.size(), right.size());
  return shared >= 2 && left.compare(0, shared, right, 0, shared) == 0;
}

}  // namespace

int edit_distance(std::string_view left, std::string_view right) {
  const std::string a = folded(left);
  const std::string b = folded(right);
  // Rows of the optimal-string-alignment table: i - 2, i - 1 and i.
  std::array<std::array<int, kLettersMax + 1>, 3> table{};
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = table[i % 3];
    const auto& above = table[(i + 2) % 3];
    const auto& above_twice = table[(i + 1) % 3];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], above_twice[j - 2] + 1);
    }
  }
  return table[a.size() % 3][b.size()];
}

std::vector<std::string> nearest_names(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       std::size_t count_max) {
  std::vector<std::pair<int, std::string>> near;
  for (const auto& candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    const std::size_t longer = std::max(word.size(), candidate.size());
    const int letters = static_cast<int>(std::min(longer, kLettersMax));
    const bool close = distance <= std::max(1, letters / 3);
    if (close || begins_other(folded(word), folded(candidate)))
      near.emplace_back(distance, candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > count_max) near.resize(count_max);
  std::vector<std::string> names;
  for (auto& [distance, name] : near) names.push_back(std::move(name));
  return names;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = nearest_names(word, candidates);
  std::string tail;
  if (!near.empty()) tail = "; did you mean '" + joined(near, "' or '") + "'?";
  return tail + (tail.empty() ? "; legal: " : " Legal: ") + joined(candidates);
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

}  // namespace headsplit
