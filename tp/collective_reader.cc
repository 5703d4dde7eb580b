#include <yaml-cpp/yaml.h>

#include <array>

#include "tp/collective.h"
#include "tp/config_files.h"
#include "tp/yaml_fields.h"

namespace headsplit::tp {
namespace {

constexpr double kSmallest = 1e-3;
constexpr std::array kKinds = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                               CollectiveKind::reduce_scatter, CollectiveKind::all_to_all};

Result<CollectiveRate> rate_from(const YAML::Node& node, CollectiveKind kind,
                                 const std::string& file) {
  const YamlFields fields(node, file, enum_name(kind));
  TRY(fields.only({"ranks", "latency_us", "gbps"}));
  CollectiveRate rate{.kind = kind};
  rate.ranks = static_cast<int>(TRY(fields.number("ranks", 2)));
  rate.latency_us = TRY(fields.number("latency_us", 0));
  rate.gbps = TRY(fields.number("gbps", kSmallest));
  return rate;
}

}  // namespace

Result<CollectiveModel> collective_model_from_yaml(const std::string& text,
                                                   const std::string& file) {
  YAML::Node top;
  try {
    top = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return fail(ErrorKind::config, file, ":", error.mark.line + 1, ":", error.mark.column + 1,
                ": not YAML: ", error.msg);
  }
  const YamlFields fields(top, file, "collectives");
  TRY(fields.only(
      {"source", "link_gbps", "all_reduce", "all_gather", "reduce_scatter", "all_to_all"}));
  CollectiveModel model;
  model.source = TRY(fields.text("source"));
  model.link_gbps = TRY(fields.number("link_gbps", kSmallest));
  for (const CollectiveKind kind : kKinds) {
    const YAML::Node list = top[enum_name(kind)];
    if (!list || !list.IsSequence() || list.size() == 0) {
      return fail(ErrorKind::config, file, ": collectives: no list ", enum_name(kind));
    }
    for (const auto& node : list) model.rates.push_back(TRY(rate_from(node, kind, file)));
  }
  return model;
}

Result<CollectiveModel> read_collective_model() {
  const auto path = TRY(configs_folder()) / "collectives.yaml";
  const std::string text = TRY(file_text(path));
  return collective_model_from_yaml(text, path.string());
}

}  // namespace headsplit::tp
