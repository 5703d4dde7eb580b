#pragma once

#include <string>
#include <vector>

#include "coordinator/sweep.h"
#include "coordinator/yaml_value.h"

/// Readers of the blocks of a sweep file, one each; sweep_from_yaml puts them together.
/// All fail: config, with file, line, column and field.
namespace headsplit::coordinator {

/// `model`: a name, a path, or a map.  document: the whole file; the default is deepseek-v3.
Result<tp::Model> read_sweep_model(const YamlValue& document, const std::string& filename);
Result<std::vector<std::string>> read_kernels(const YamlValue& value);
/// `layouts` and the shorthand `tp` of a document; tp1 when neither is there.  Entries are names
/// (tp4xdp2) or maps whose parts may be lists; each layout once.
Result<std::vector<Layout>> read_layouts(const YamlValue& document, const tp::Model& model);
/// Layouts of one entry of a list: a name, or a map whose parts may be lists.
Result<std::vector<Layout>> read_layout_entry(const YamlValue& value);
Result<std::vector<Ranks>> read_ranks(const YamlValue& value);
Result<GangOptions> read_gang(const YamlValue& value);
/// Collectives need real ranks and a message size, and go with nothing else.
Result<void> check_collectives(const YamlValue& document, const Sweep& sweep);
Result<Axes> read_axes(const YamlValue& value);
/// Axes that `measure` may give in place of `axes`.
Result<std::vector<L2>> read_l2(const YamlValue& value);
Result<std::vector<int>> read_fixed_splits(const YamlValue& value);
Result<std::vector<Exclusion>> read_exclusions(const YamlValue& value);
Result<MeasureSettings> read_measure(const YamlValue& value);
Result<Limits> read_limits(const YamlValue& value);

}  // namespace headsplit::coordinator
