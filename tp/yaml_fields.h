#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace YAML {
class Node;
}

namespace headsplit::tp {

/// Fields of one YAML mapping, read with complaints that name file, line, column and field.
class YamlFields {
 public:
  YamlFields(const YAML::Node& map, std::string file, std::string path);

  /// Fails: config, with the nearest legal key, when the mapping has a key not in `legal`.
  Result<void> only(const std::vector<std::string>& legal) const;
  /// A number of at least `low`.  Fails: config (absent, not a number, too small).
  Result<double> number(const std::string& key, double low) const;
  /// The same; absent is nothing.
  Result<std::optional<double>> optional_number(const std::string& key, double low) const;
  Result<std::string> text(const std::string& key) const;
  Result<std::vector<std::string>> texts(const std::string& key) const;

 private:
  Error complaint(const YAML::Node& at, const std::string& what) const;

  const YAML::Node& map_;
  std::string file_;
  std::string path_;
};

}  // namespace headsplit::tp
