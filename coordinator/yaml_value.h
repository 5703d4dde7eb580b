#pragma once

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace headsplit::coordinator {

/// A YAML value that knows where it stands, so that every complaint can name file, line, column
/// and field.  Strict: nothing is converted silently, and every range is stated in the message.
class YamlValue {
 public:
  /// The single document of a text.  Fails: config (not YAML, empty, several documents, too long).
  static Result<YamlValue> document(const std::string& text, const std::string& filename);

  /// `file:line:column: field: what`.
  Error error(const std::string& what) const;

  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  bool is_scalar() const { return node_.IsScalar(); }

  /// Checks that this is a map with no key twice and only `legal` ones (the nearest is named).
  Result<void> check_keys(const std::vector<std::string>& legal) const;
  /// The value of a key of a map; none when absent.
  std::optional<YamlValue> find(const std::string& key) const;
  /// Entries of a list; a scalar or a map is a list of itself.
  std::vector<YamlValue> entries() const;

  /// A whole number in low..high; K and M are 1024 and 1024^2.
  Result<std::int64_t> integer(std::int64_t low, std::int64_t high) const;
  Result<std::uint64_t> unsigned_integer() const;
  Result<double> real(double low, double high) const;
  Result<bool> boolean() const;
  /// Text that is not empty.
  Result<std::string> word() const;
  template <DescribedEnum E>
  Result<E> choice() const {
    auto value = enum_from_name<E>(TRY(word()));
    if (!value) return error(value.error().message);
    return value;
  }
  /// The same content as JSON, scalars typed as JSON would have them.  Fails: config (nested deeper
  /// than a map of lists).
  Result<json::value> as_json(int depth_max = 2) const;

  /// Entries through `read`, in order.  Fails: config (empty, or a value twice).
  template <class T, class Read>
  Result<std::vector<T>> list_of(const Read& read) const {
    std::vector<T> values;
    for (const YamlValue& entry : entries()) {
      T value = TRY(read(entry));
      if (std::find(values.begin(), values.end(), value) != values.end()) {
        return entry.error("is given twice");
      }
      values.push_back(std::move(value));
    }
    if (values.empty()) return error("the list is empty; give at least one value");
    return values;
  }

 private:
  YamlValue(YAML::Node node, std::string field, std::shared_ptr<const std::string> filename)
      : node_(std::move(node)), field_(std::move(field)), filename_(std::move(filename)) {}

  std::string shown() const;  ///< the value as a person wrote it, shortened

  YAML::Node node_;
  std::string field_;  ///< "axes.batch[2]"; empty for the document
  std::shared_ptr<const std::string> filename_;
};

}  // namespace headsplit::coordinator
