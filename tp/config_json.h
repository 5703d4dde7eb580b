#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace headsplit::tp {

/// A field of a config.json: its usual name first, then what others call it.
struct FieldNames {
  std::vector<std::string_view> names;
};

/// A text of the file as it may stand in an error: quoted, one line, not endless.
std::string shown(std::string_view text);

/// One object of a config.json that knows where it was read, so that every complaint names file,
/// line and field.  Absent and null are the same here.
class ConfigJson {
 public:
  /// Fails: config (not JSON, with line and column, or not an object).
  static Result<ConfigJson> parse(std::string text, std::string file);

  /// The object under `name`, when there is one.
  std::optional<ConfigJson> child(std::string_view name) const;

  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool has_any(const FieldNames& field) const;

  /// An integer in low..high.  Fails: config (wrong type or range; two of the names contradict).
  Result<std::optional<int>> integer(const FieldNames& field, int low, int high) const;
  /// The same; absent is an error that says what the field means.
  Result<int> required(const FieldNames& field, int low, int high, std::string_view meaning) const;
  /// A list of integers in low..high.
  Result<std::optional<std::vector<int>>> integers(std::string_view name, int low, int high) const;
  /// A list of words.
  Result<std::optional<std::vector<std::string>>> words(std::string_view name) const;
  /// true or false; absent is false.
  Result<bool> flag(std::string_view name) const;
  /// A word; absent is empty.
  Result<std::string> word(std::string_view name) const;
  /// Entries of a list; absent is none.  Fails: config (not a list).
  Result<std::optional<std::size_t>> list_size(std::string_view name) const;

  /// "config.json:12: text_config.kv_lora_rank: ..." (without a line when the field is not there).
  Error complaint(std::string_view name, const std::string& what) const;
  /// The same about the object as a whole.
  Error complaint(const std::string& what) const;

  const std::string& section() const { return section_; }

 private:
  ConfigJson() = default;
  const json::value* find(std::string_view name) const;
  int line_of(std::string_view name) const;

  std::string file_;
  std::string text_;
  std::string section_;  ///< "" at the top, else "text_config"
  json::object values_;
};

}  // namespace headsplit::tp
