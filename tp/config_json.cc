#include "tp/config_json.h"

#include <algorithm>

namespace headsplit::tp {
namespace {

std::string kind_of(const json::value& value) {
  if (value.is_string()) return "a text";
  if (value.is_bool()) return "true or false";
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  if (value.is_double()) return "a number with a fraction or too large";
  return "an integer";
}

std::optional<int> integer_in(const json::value& value, int low, int high) {
  if (value.is_int64() && value.get_int64() >= low && value.get_int64() <= high) {
    return static_cast<int>(value.get_int64());
  }
  return std::nullopt;
}

std::string wanted_integer(const json::value& value, int low, int high) {
  const bool shown = value.is_int64() || value.is_uint64();
  return str("expected an integer from ", low, " to ", high, ", not ",
             shown ? json::serialize(value) : kind_of(value));
}

std::string line_and_column(const std::string& text, std::size_t at) {
  at = std::min(at, text.size());
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
  const auto line = 1 + std::count(text.begin(), end, '\n');
  const std::size_t start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return str(line, ":", start == std::string::npos ? at + 1 : at - start);
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t kLettersMax = 40;
  std::string line = "'";
  for (const char c : text.substr(0, kLettersMax)) {
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return line + (text.size() > kLettersMax ? "...'" : "'");
}

Result<ConfigJson> ConfigJson::parse(std::string text, std::string file) {
  json::parse_options options;
  options.max_depth = 64;
  boost::system::error_code error;
  json::stream_parser parser({}, options);
  const std::size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (!error) parser.finish(error);
  if (error) {
    return fail(ErrorKind::config, file, ":", line_and_column(text, used),
                ": not JSON: ", error.message());
  }
  json::value value = parser.release();
  if (!value.is_object()) {
    return fail(ErrorKind::config, file, ": expected an object, as a config.json is, not ",
                kind_of(value));
  }
  ConfigJson config;
  config.file_ = std::move(file);
  config.text_ = std::move(text);
  config.values_ = std::move(value.get_object());
  return config;
}

const json::value* ConfigJson::find(std::string_view name) const {
  const json::value* value = values_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<ConfigJson> ConfigJson::child(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  ConfigJson inner;
  inner.file_ = file_;
  inner.text_ = text_;
  inner.section_ = section_.empty() ? std::string(name) : str(section_, ".", name);
  inner.values_ = value->get_object();
  return inner;
}

bool ConfigJson::has_any(const FieldNames& field) const {
  return std::any_of(field.names.begin(), field.names.end(),
                     [&](std::string_view name) { return has(name); });
}

Result<std::optional<int>> ConfigJson::integer(const FieldNames& field, int low, int high) const {
  std::optional<int> chosen;
  std::string_view chosen_name;
  for (const auto name : field.names) {
    const json::value* value = find(name);
    if (value == nullptr) continue;
    const auto number = integer_in(*value, low, high);
    if (!number) return complaint(name, wanted_integer(*value, low, high));
    if (chosen && *chosen != *number) {
      return complaint(name, str(*number, " contradicts ", chosen_name, " ", *chosen));
    }
    chosen = number;
    chosen_name = name;
  }
  return chosen;
}

Result<int> ConfigJson::required(const FieldNames& field, int low, int high,
                                 std::string_view meaning) const {
  const auto number = TRY(integer(field, low, high));
  if (number) return *number;
  return complaint(str("no ", field.names.front(), " (", meaning, ")"));
}

Result<std::optional<std::vector<int>>> ConfigJson::integers(std::string_view name, int low,
                                                             int high) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::optional<std::vector<int>>{};
  if (!value->is_array()) return complaint(name, "expected a list, not " + kind_of(*value));
  std::vector<int> numbers;
  for (const auto& item : value->get_array()) {
    const auto number = integer_in(item, low, high);
    if (!number) {
      return complaint(str(name, "[", numbers.size(), "]"), wanted_integer(item, low, high));
    }
    numbers.push_back(*number);
  }
  return std::optional(std::move(numbers));
}

Result<std::optional<std::vector<std::string>>> ConfigJson::words(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::optional<std::vector<std::string>>{};
  if (!value->is_array()) return complaint(name, "expected a list, not " + kind_of(*value));
  std::vector<std::string> words;
  for (const auto& item : value->get_array()) {
    if (!item.is_string()) {
      return complaint(str(name, "[", words.size(), "]"), "expected a text, not " + kind_of(item));
    }
    words.emplace_back(item.get_string());
  }
  return std::optional(std::move(words));
}

Result<bool> ConfigJson::flag(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return false;
  if (!value->is_bool()) return complaint(name, "expected true or false, not " + kind_of(*value));
  return value->get_bool();
}

Result<std::string> ConfigJson::word(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return complaint(name, "expected a text, not " + kind_of(*value));
  return std::string(value->get_string());
}

Result<std::optional<std::size_t>> ConfigJson::list_size(std::string_view name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::optional<std::size_t>{};
  if (!value->is_array()) return complaint(name, "expected a list, not " + kind_of(*value));
  return std::optional(value->get_array().size());
}

int ConfigJson::line_of(std::string_view name) const {
  // A field of a section is looked for after the section's own name.
  std::size_t from = 0;
  if (!section_.empty()) from = text_.find(str('"', section_, '"'));
  const std::string_view bare = name.substr(0, name.find('['));
  const std::size_t at = text_.find(str('"', bare, '"'), from == std::string::npos ? 0 : from);
  if (at == std::string::npos) return 0;
  return 1 + static_cast<int>(
                 std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

Error ConfigJson::complaint(std::string_view name, const std::string& what) const {
  const int line = line_of(name);
  const std::string place = line > 0 ? str(file_, ":", line) : file_;
  const std::string path = section_.empty() ? std::string(name) : str(section_, ".", name);
  return fail(ErrorKind::config, place, ": ", path, ": ", what);
}

Error ConfigJson::complaint(const std::string& what) const {
  const std::string place = section_.empty() ? file_ : str(file_, ": ", section_);
  return fail(ErrorKind::config, place, ": ", what);
}

}  // namespace headsplit::tp
