#include <algorithm>
#include <array>
#include <filesystem>

#include "coordinator/sweep_fields.h"
#include "core/nearest.h"

/// `model`, `kernels` and `layouts` of a sweep file.
namespace headsplit::coordinator {
namespace {

constexpr int kRanksMax = 1 << 16;
constexpr int kWidthMax = 1 << 20;  // of a model's heads, layers and widths
/// What stands before the file of a kernel plug-in (docs/plugins.md).
constexpr std::string_view kPluginPrefix = "plugin:";

/// A model that came as a map has been through no reader: its sizes are checked here.
Result<void> check_model(const YamlValue& value, const tp::Model& model) {
  const auto in_range = [](int size, int low) { return size >= low && size <= kWidthMax; };
  const bool sizes_fit =
      in_range(model.heads, 1) && in_range(model.kv_heads, 1) && in_range(model.layers, 1) &&
      in_range(model.hidden, 1) && in_range(model.d_latent, model.is_mla() ? 1 : 0) &&
      in_range(model.d_rope, 0) && in_range(model.d_nope, 0) && in_range(model.d_v, 1);
  if (model.name.empty()) return value.error("name is missing");
  if (!sizes_fit) {
    return value.error(str("heads, kv_heads, layers, hidden and d_v must be 1 to ", kWidthMax,
                           ", the other widths 0 to ", kWidthMax));
  }
  return {};
}

Result<tp::Model> model_from_map(const YamlValue& value) {
  const json::value content = TRY(value.as_json());
  auto model = from_json<tp::Model>(content);
  if (!model) return value.error(model.error().message);
  TRY(check_model(value, *model));
  return model;
}

/// What read_model is asked for: the path beside the sweep file where one is there.
std::string model_place(const std::string& name, const std::string& filename) {
  const std::filesystem::path path(name);
  if (path.is_absolute()) return name;
  const auto beside = std::filesystem::path(filename).parent_path() / path;
  std::error_code ignored;
  const bool is_path = name.find('/') != std::string::npos || path.has_extension();
  return is_path && std::filesystem::exists(beside, ignored) ? beside.string() : name;
}

/// Layouts of a map {tp, dp, cp} whose parts may be lists: their product.
Result<std::vector<Layout>> layouts_of_map(const YamlValue& value) {
  TRY(value.check_keys({"tp", "dp", "cp"}));
  const auto sizes = [&](const std::string& key) -> Result<std::vector<int>> {
    const auto part = value.find(key);
    if (!part) return std::vector<int>{1};
    return part->list_of<int>([](const YamlValue& entry) -> Result<int> {
      return static_cast<int>(TRY(entry.integer(1, kRanksMax)));
    });
  };
  const auto tp_sizes = TRY(sizes("tp"));
  const auto dp_sizes = TRY(sizes("dp"));
  const auto cp_sizes = TRY(sizes("cp"));
  std::vector<Layout> layouts;
  for (const int dp : dp_sizes) {
    for (const int cp : cp_sizes) {
      for (const int tp : tp_sizes) layouts.push_back({.tp = tp, .dp = dp, .cp = cp});
    }
  }
  return layouts;
}

/// Adds an entry's layouts.  Refuses what is there already, and what the model cannot be split by.
Result<void> add_layouts(std::vector<Layout>& layouts, const std::vector<Layout>& added,
                         const YamlValue& entry, const tp::Model& model) {
  const std::vector<int> legal = tp::legal_tp_sizes(model);
  for (const Layout& layout : added) {
    if (std::find(layouts.begin(), layouts.end(), layout) != layouts.end()) {
      return entry.error("layout " + layout_name(layout) + " is given twice");
    }
    if (std::find(legal.begin(), legal.end(), layout.tp) == legal.end()) {
      return entry.error(str("tp ", layout.tp, " does not divide the ", model.heads, " heads of ",
                             model.name, "; legal: ", tp::legal_tp_text(model)));
    }
    if (std::int64_t{1} * layout.tp * layout.dp > kRanksMax / layout.cp) {
      return entry.error(
          str("layout ", layout_name(layout), " has more than ", kRanksMax, " ranks"));
    }
    layouts.push_back(layout);
  }
  return {};
}

}  // namespace

const std::vector<std::string>& sweep_kernels() {
  static const std::vector<std::string> names = {
      "mla_dense",  "mla_dense_fp8_mma", "mla_sparse",   "dsa_indexer", "mha_decode",
      "gqa_decode", "mqa_decode",        "mla_expanded", "kv_expand",   "all_reduce",
      "all_gather", "reduce_scatter",    "all_to_all"};
  return names;
}

bool is_collective(const std::string& kernel) {
  constexpr std::array kCollectives = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
  return std::find(kCollectives.begin(), kCollectives.end(), kernel) != kCollectives.end();
}

Result<tp::Model> read_sweep_model(const YamlValue& document, const std::string& filename) {
  const auto value = document.find("model");
  if (value && value->is_map()) return model_from_map(*value);
  const std::string name = value ? TRY(value->word()) : "deepseek-v3";
  auto model = tp::read_model(model_place(name, filename));
  if (!model) return value.value_or(document).error(model.error().message);
  model->name = name;
  model->title.clear();
  model->source.clear();
  model->notes.clear();
  return model;
}

Result<std::vector<std::string>> read_kernels(const YamlValue& value) {
  return value.list_of<std::string>([](const YamlValue& entry) -> Result<std::string> {
    const std::string name = TRY(entry.word());
    const auto& legal = sweep_kernels();
    // A plug-in's file is looked for by the agents that run it.
    if (name.starts_with(kPluginPrefix) && name.size() > kPluginPrefix.size()) return name;
    if (std::find(legal.begin(), legal.end(), name) != legal.end()) return name;
    return entry.error("unknown kernel '" + name + "'" + did_you_mean(name, legal) +
                       ", plugin:FILE");
  });
}

Result<std::vector<Layout>> read_layout_entry(const YamlValue& value) {
  if (value.is_map()) return layouts_of_map(value);
  auto layout = layout_from_name(TRY(value.word()));
  if (!layout) return value.error(layout.error().message);
  return std::vector<Layout>{*layout};
}

Result<std::vector<Layout>> read_layouts(const YamlValue& document, const tp::Model& model) {
  std::vector<Layout> layouts;
  if (const auto value = document.find("tp")) {
    for (const YamlValue& entry : value->entries()) {
      const int size = static_cast<int>(TRY(entry.integer(1, kRanksMax)));
      TRY(add_layouts(layouts, {Layout{.tp = size}}, entry, model));
    }
  }
  if (const auto value = document.find("layouts")) {
    for (const YamlValue& entry : value->entries()) {
      const auto added = TRY(read_layout_entry(entry));
      TRY(add_layouts(layouts, added, entry, model));
    }
  }
  const auto given = document.find("layouts") ? document.find("layouts") : document.find("tp");
  if (given && layouts.empty()) return given->error("the list is empty; give at least one layout");
  if (layouts.empty()) layouts.push_back(Layout{});
  return layouts;
}

}  // namespace headsplit::coordinator
