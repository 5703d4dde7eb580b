#include "coordinator/web/row_columns.h"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace headsplit::coordinator {
namespace {

constexpr int kDigits = 7;

/// The nearest number of 7 significant digits: what a plot can show and short to write.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", kDigits, value);
  return std::strtod(text, nullptr);
}

json::value compact(json::value value) {
  if (value.is_double()) return rounded(value.get_double());
  return value;
}

/// Texts as places in a list of the different ones.
json::object words_of(const json::array& values) {
  std::map<std::string_view, std::size_t> places;
  json::array words;
  json::array index;
  for (const json::value& value : values) {
    const std::string_view text = value.get_string();
    const auto [place, is_new] = places.emplace(text, words.size());
    if (is_new) words.emplace_back(value);
    index.emplace_back(place->second);
  }
  return {{"words", std::move(words)}, {"index", std::move(index)}};
}

json::object column_of(json::array values) {
  bool same = true;
  for (const json::value& value : values) same = same && value == values.front();
  if (same && !values.empty()) return {{"all", values.front()}};
  if (values.empty() || !values.front().is_string()) return {{"values", std::move(values)}};
  return words_of(values);
}

bool is_left_out(std::string_view name) { return name == "samples_us" || name == "counters"; }

}  // namespace

json::object columns_of(const std::vector<Row>& rows,
                        const std::vector<std::optional<double>>& times_us_model) {
  json::object columns;
  using Members = describe::describe_members<Row, describe::mod_public | describe::mod_inherited>;
  boost::mp11::mp_for_each<Members>([&](auto member) {
    if (is_left_out(member.name)) return;
    json::array values;
    values.reserve(rows.size());
    for (const Row& row : rows) values.push_back(compact(to_json(row.*member.pointer)));
    columns[member.name] = column_of(std::move(values));
  });
  json::array modelled;
  for (const auto& time_us : times_us_model) modelled.push_back(compact(to_json(time_us)));
  columns["time_us_model"] = column_of(std::move(modelled));
  return {{"count", rows.size()}, {"columns", std::move(columns)}};
}

}  // namespace headsplit::coordinator
