#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "coordinator/sweep.h"
#include "coordinator/sweep_fields.h"
#include "coordinator/yaml_value.h"
#include "core/nearest.h"
#include "tp/shard.h"

namespace headsplit::coordinator {
namespace {

const std::vector<std::string> kSweepKeys = {"name",    "model",   "kernels", "layouts",
                                             "tp",      "ranks",   "gang",    "axes",
                                             "exclude", "measure", "limits",  "seed"};
constexpr std::size_t kNameMax = 64;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

/// The name of a sweep is used in file names and labels.
bool is_sweep_name(const std::string& name) {
  return !name.empty() && name.size() <= kNameMax && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

Result<std::string> read_name(const YamlValue& document, const std::string& filename) {
  const auto value = document.find("name");
  const std::string legal = "; legal: 1 to 64 letters, digits, '-', '_' and '.'";
  if (!value) {
    const std::string stem = std::filesystem::path(filename).stem().string();
    if (!is_sweep_name(stem)) return document.error("key 'name' is missing" + legal);
    return stem;
  }
  const std::string name = TRY(value->word());
  if (!is_sweep_name(name)) return value->error("'" + name.substr(0, kNameMax) + "'" + legal);
  return name;
}

/// Fails: config (a sparse kernel for a model without an indexer, a top_k without such a kernel).
Result<void> check_sparse(const YamlValue& document, const Sweep& sweep) {
  const auto sparse = std::find_if(sweep.kernels.begin(), sweep.kernels.end(), tp::needs_indexer);
  if (sparse == sweep.kernels.end()) {
    if (sweep.axes.top_k == Axes{}.top_k) return {};
    const auto axes = document.find("axes").value_or(document);
    return axes.find("top_k").value_or(axes).error("is of mla_sparse and dsa_indexer only");
  }
  if (sweep.model.index_topk > 0) return {};
  return document.find("kernels").value_or(document).error(
      tp::no_indexer(sweep.model, *sparse).message);
}

/// Reports a sweep that is right part by part, and wrong as a whole.
Result<void> check_whole(const YamlValue& document, const Sweep& sweep) {
  const auto& axes = sweep.axes;
  const auto tokens = *std::max_element(axes.query_tokens.begin(), axes.query_tokens.end());
  const auto context = *std::min_element(axes.context.begin(), axes.context.end());
  if (tokens > context) {
    const auto block = document.find("axes").value_or(document);
    return block.find("query_tokens")
        .value_or(block)
        .error(str("query_tokens ", tokens, " is more than context ", context,
                   ", which counts them; legal: at most the smallest context"));
  }
  TRY(check_collectives(document, sweep));
  TRY(check_sparse(document, sweep));
  if (product_size(sweep) > kPointsMax) {
    return document.error(str("kernels x layouts x axes x repeats is more than ", kPointsMax,
                              " points; split the sweep"));
  }
  return {};
}

/// Axes that stand in `measure`.
Result<void> read_axes_of_measure(const YamlValue& document, const YamlValue& measure, Axes& axes) {
  const auto block = document.find("axes");
  const auto once = [&](const std::string& key) -> Result<std::optional<YamlValue>> {
    const auto value = measure.find(key);
    if (!value || !block || !block->find(key)) return value;
    return value->error(key + " is given in axes already; write it once");
  };
  if (const auto l2 = TRY(once("l2"))) axes.l2 = TRY(read_l2(*l2));
  if (const auto splits = TRY(once("fixed_splits"))) {
    axes.fixed_splits = TRY(read_fixed_splits(*splits));
  }
  return {};
}

/// Fails: config (counters that the ranks of a gang cannot collect).
Result<void> check_counters(const YamlValue& measure, const Sweep& sweep) {
  const bool real =
      std::find(sweep.ranks.begin(), sweep.ranks.end(), Ranks::real) != sweep.ranks.end();
  if (!sweep.measure.counters_detail || !real) return {};
  return measure.error(
      "counters: detail launches the kernel once more for each pass, which collectives do not "
      "allow; legal with ranks: real: true, false");
}

}  // namespace

Result<Sweep> sweep_from_yaml(const std::string& text, const std::string& filename) {
  const YamlValue document = TRY(YamlValue::document(text, filename));
  TRY(document.check_keys(kSweepKeys));
  Sweep sweep;
  sweep.name = TRY(read_name(document, filename));
  sweep.model = TRY(read_sweep_model(document, filename));
  if (const auto value = document.find("kernels")) sweep.kernels = TRY(read_kernels(*value));
  sweep.layouts = TRY(read_layouts(document, sweep.model));
  if (const auto value = document.find("ranks")) sweep.ranks = TRY(read_ranks(*value));
  if (const auto value = document.find("gang")) sweep.gang = TRY(read_gang(*value));
  if (const auto value = document.find("axes")) sweep.axes = TRY(read_axes(*value));
  if (const auto value = document.find("exclude")) sweep.exclude = TRY(read_exclusions(*value));
  if (const auto value = document.find("measure")) {
    sweep.measure = TRY(read_measure(*value));
    TRY(check_counters(*value, sweep));
    TRY(read_axes_of_measure(document, *value, sweep.axes));
  }
  if (const auto value = document.find("limits")) sweep.limits = TRY(read_limits(*value));
  if (const auto value = document.find("seed")) sweep.seed = TRY(value->unsigned_integer());
  TRY(check_whole(document, sweep));
  return sweep;
}

Result<Sweep> read_sweep(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    return fail(ErrorKind::config, path, ": cannot be read; expected a sweep file (YAML)");
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return sweep_from_yaml(text, path);
}

}  // namespace headsplit::coordinator
