#include "tp/yaml_fields.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>

#include "core/nearest.h"

namespace headsplit::tp {

YamlFields::YamlFields(const YAML::Node& map, std::string file, std::string path)
    : map_(map), file_(std::move(file)), path_(std::move(path)) {}

Error YamlFields::complaint(const YAML::Node& at, const std::string& what) const {
  const YAML::Mark mark = at.Mark();
  return fail(ErrorKind::config, file_, ":", mark.line + 1, ":", mark.column + 1, ": ", path_,
              what);
}

Result<void> YamlFields::only(const std::vector<std::string>& legal) const {
  if (!map_.IsMap()) return complaint(map_, ": expected a mapping of fields");
  for (const auto& entry : map_) {
    const std::string key = entry.first.Scalar();
    if (std::find(legal.begin(), legal.end(), key) != legal.end()) continue;
    return complaint(entry.first, ": unknown field '" + key + "'" + did_you_mean(key, legal));
  }
  return {};
}

Result<std::optional<double>> YamlFields::optional_number(const std::string& key,
                                                          double low) const {
  const YAML::Node node = map_[key];
  if (!node) return std::optional<double>{};
  double value = 0;
  const bool number = node.IsScalar() && YAML::convert<double>::decode(node, value);
  if (!number || !std::isfinite(value) || value < low) {
    return complaint(node, str(".", key, ": expected a number of at least ", low));
  }
  return std::optional(value);
}

Result<double> YamlFields::number(const std::string& key, double low) const {
  const auto value = TRY(optional_number(key, low));
  if (!value) return complaint(map_, ": no " + key);
  return *value;
}

Result<std::string> YamlFields::text(const std::string& key) const {
  const YAML::Node node = map_[key];
  if (!node) return complaint(map_, ": no " + key);
  if (!node.IsScalar()) return complaint(node, "." + key + ": expected a text");
  return node.Scalar();
}

Result<std::vector<std::string>> YamlFields::texts(const std::string& key) const {
  const YAML::Node node = map_[key];
  if (!node) return complaint(map_, ": no " + key);
  if (!node.IsSequence()) return complaint(node, "." + key + ": expected a list of texts");
  std::vector<std::string> texts;
  for (const auto& item : node) {
    if (!item.IsScalar()) return complaint(item, "." + key + ": expected a text");
    texts.push_back(item.Scalar());
  }
  return texts;
}

}  // namespace headsplit::tp
