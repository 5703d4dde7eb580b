#include "coordinator/answers/selection.h"

#include <cmath>
#include <cstdio>

#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

bool matches_word(const Selection::Words& condition, const Row& row) {
  const std::string value = condition.word->of(row);
  const bool by_part = std::string_view(condition.word->name) == "device";
  return std::any_of(condition.any_of.begin(), condition.any_of.end(), [&](const auto& wanted) {
    return by_part ? value.find(wanted) != std::string::npos : value == wanted;
  });
}

bool matches_number(const Selection::Numbers& condition, const Row& row) {
  const std::optional<double> value = condition.figure->of(row);
  return value && std::any_of(condition.any_of.begin(), condition.any_of.end(),
                              [&](const Range& range) { return range.holds(*value); });
}

Result<Selection::Words> read_words(const YamlValue& value, const Word& word) {
  Selection::Words condition{&word, {}};
  condition.any_of = TRY(value.list_of<std::string>(
      [](const YamlValue& entry) -> Result<std::string> { return entry.word(); }));
  return condition;
}

Result<Selection::Numbers> read_numbers(const YamlValue& value, const Figure& figure) {
  Selection::Numbers condition{&figure, {}};
  if (!value.is_map()) {
    for (const YamlValue& entry : value.entries()) {
      const double number = TRY(read_number(entry));
      condition.any_of.push_back({number, number});
    }
    if (condition.any_of.empty()) return value.error("the list is empty; give at least one value");
    return condition;
  }
  TRY(value.check_keys({"min", "max"}));
  Range range;
  if (const auto low = value.find("min")) range.low = TRY(read_number(*low));
  if (const auto high = value.find("max")) range.high = TRY(read_number(*high));
  if (!(range.low <= range.high)) return value.error("min is above max");
  condition.any_of.push_back(range);
  return condition;
}

}  // namespace

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "never" : "always";
  char text[64];
  std::snprintf(text, sizeof text, std::fabs(value) >= 1e4 ? "%.0f" : "%.4g", value);
  return text;
}

std::string range_text(const Range& range) {
  if (range.low == range.high) return number_text(range.low);
  if (std::isinf(range.high)) return number_text(range.low) + " and more";
  if (std::isinf(range.low)) return "at most " + number_text(range.high);
  return number_text(range.low) + " to " + number_text(range.high);
}

Result<double> read_number(const YamlValue& value) {
  if (auto whole = value.integer(0, std::int64_t{1} << 53)) {
    return static_cast<double>(whole.value());
  }
  return value.real(-1e300, 1e300);
}

bool Selection::matches(const Row& row) const {
  return std::all_of(words.begin(), words.end(),
                     [&](const Words& condition) { return matches_word(condition, row); }) &&
         std::all_of(numbers.begin(), numbers.end(),
                     [&](const Numbers& condition) { return matches_number(condition, row); });
}

std::string Selection::text() const {
  std::vector<std::string> parts;
  for (const Words& condition : words) {
    parts.push_back(str(condition.word->name, " ", joined(condition.any_of, " or ")));
  }
  for (const Numbers& condition : numbers) {
    std::vector<std::string> ranges;
    for (const Range& range : condition.any_of) ranges.push_back(range_text(range));
    parts.push_back(str(condition.figure->name, " ", joined(ranges, " or ")));
  }
  return joined(parts);
}

Result<Selection> read_selection(const YamlValue& value) {
  std::vector<std::string> legal;
  for (const Word& word : coordinator::words()) legal.emplace_back(word.name);
  for (const Figure& figure : figures()) legal.emplace_back(figure.name);
  TRY(value.check_keys(legal));
  Selection selection;
  for (const Word& word : coordinator::words()) {
    if (const auto found = value.find(word.name)) {
      selection.words.push_back(TRY(read_words(*found, word)));
    }
  }
  for (const Figure& figure : figures()) {
    if (const auto found = value.find(figure.name)) {
      selection.numbers.push_back(TRY(read_numbers(*found, figure)));
    }
  }
  return selection;
}

}  // namespace headsplit::coordinator
