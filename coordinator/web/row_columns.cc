#include "coordinator/web/row_columns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>

namespace headsplit::coordinator {
namespace {

constexpr int kDigits = 7;

/// The nearest number of 7 significant digits: what a plot can show, and short to write.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int scale = kDigits - 1 - static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (std::abs(scale) > 300) return value;
  const double power = std::pow(10.0, std::abs(scale));
  return scale >= 0 ? std::round(value * power) / power : std::round(value / power) * power;
}

json::value compact(json::value value) {
  if (value.is_double()) return rounded(value.get_double());
  return value;
}

std::string text_of(const std::string& text) { return text; }

template <DescribedEnum E>
std::string text_of(E value) {
  return enum_name(value);
}

template <class T>
concept Word = std::is_same_v<T, std::string> || DescribedEnum<T>;

/// Texts as places in a list of the different ones.  value_of(row): a Word.
template <class ValueOf>
json::object words_of(const std::vector<Row>& rows, const ValueOf& value_of) {
  std::map<std::decay_t<decltype(value_of(rows.front()))>, std::size_t> places;
  json::array words;
  json::array index;
  index.reserve(rows.size());
  for (const Row& row : rows) {
    const auto [place, is_new] = places.emplace(value_of(row), words.size());
    if (is_new) words.emplace_back(text_of(place->first));
    index.emplace_back(place->second);
  }
  return {{"words", std::move(words)}, {"index", std::move(index)}};
}

template <class ValueOf>
json::object column_of(const std::vector<Row>& rows, const ValueOf& value_of) {
  using Value = std::decay_t<decltype(value_of(rows.front()))>;
  const bool same = std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    return value_of(row) == value_of(rows.front());
  });
  if (same && !rows.empty()) return {{"all", compact(to_json(value_of(rows.front())))}};
  if constexpr (Word<Value>) {
    return words_of(rows, value_of);
  } else {
    json::array values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(compact(to_json(value_of(row))));
    return {{"values", std::move(values)}};
  }
}

bool is_left_out(std::string_view name) { return name == "samples_us" || name == "counters"; }

}  // namespace

json::object columns_of(const std::vector<Row>& rows,
                        const std::vector<std::optional<double>>& times_us_model) {
  json::object columns;
  using Members = describe::describe_members<Row, describe::mod_public | describe::mod_inherited>;
  boost::mp11::mp_for_each<Members>([&](auto member) {
    if (is_left_out(member.name)) return;
    const auto value_of = [&](const Row& row) -> const auto& { return row.*member.pointer; };
    columns[member.name] = column_of(rows, value_of);
  });
  const auto modelled = [&](const Row& row) -> const std::optional<double>& {
    return times_us_model[static_cast<std::size_t>(&row - rows.data())];
  };
  columns["time_us_model"] = column_of(rows, modelled);
  return {{"count", rows.size()}, {"columns", std::move(columns)}};
}

}  // namespace headsplit::coordinator
