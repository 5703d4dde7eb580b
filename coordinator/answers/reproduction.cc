#include "coordinator/answers/reproduction.h"

#include <algorithm>
#include <ctime>
#include <set>

#include "coordinator/plan.h"
#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

constexpr std::size_t kIdsShownMost = 5;

std::string utc_text(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

/// How to get the build; a revision that ends in `+` had changes that no revision has.
std::string build_text(const std::string& build) {
  if (build.empty()) return build;
  const bool changed = build.back() == '+';
  const std::string revision = changed ? build.substr(0, build.size() - 1) : build;
  return str(build, ": git checkout ", revision, " && ./dev build",
             changed ? " (and the changes that were not committed)" : "");
}

std::vector<std::string> facts_of(const Row& row, bool has_original) {
  std::vector<std::string> facts;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.push_back(str(name, " ", value));
  };
  add("row", row.point_id + " of sweep " + row.sweep);
  add("device", row.device);
  add("GPU", row.gpu_uuid);
  add("driver", row.driver);
  add("CUDA", row.cuda);
  add("node", row.node);
  if (row.started_unix_s > 0) add("started", utc_text(row.started_unix_s));
  add("build", build_text(row.build));
  add("config", row.config);
  if (row.time_us) add("time", str(*row.time_us, " us"));
  if (row.status != Status::ok) add("status", str(enum_name(row.status), ": ", row.reason));
  if (!has_original) facts.emplace_back("measuring settings: the defaults; the row does not say");
  return facts;
}

/// The sweep with this row's point alone, and the repeats before it.
Sweep narrowed(Sweep sweep, const Row& row) {
  sweep.name = "reproduce-" + row.point_id;
  sweep.kernels = {row.kernel};
  sweep.layouts = {Layout{row.tp, row.dp, row.cp}};
  sweep.ranks = {row.ranks};
  sweep.axes.batch = {row.batch};
  sweep.axes.query_tokens = {row.query_tokens};
  sweep.axes.context = {row.context};
  sweep.axes.kv_dtype = {row.kv_dtype};
  sweep.axes.lengths = {row.lengths};
  sweep.axes.l2 = {row.l2};
  sweep.axes.message_bytes = {row.message_bytes};
  sweep.axes.fixed_splits = {row.fixed_splits};
  sweep.axes.top_k = {row.top_k};
  sweep.exclude.clear();
  sweep.measure.repeats = row.repeat + 1;
  sweep.seed = row.seed;
  return sweep;
}

/// One key a line, values as JSON, which YAML contains.  The model by its name where this name
/// means the very model here.
Result<std::string> yaml_of(const Sweep& sweep) {
  const json::value content = TRY(parse_json(sweep_content(sweep)));
  const auto by_name = sweep_from_yaml(
      "name: a\nmodel: " + json::serialize(json::value(sweep.model.name)) + "\n", "reproduce.yaml");
  const bool known = by_name && by_name.value().model == sweep.model;
  std::string yaml;
  for (const auto& [key, value] : content.get_object()) {
    if (key == "exclude") continue;
    const bool is_name = key == "model" && known;
    const json::value shown = is_name ? json::value(sweep.model.name) : value;
    yaml += str(std::string_view(key), ": ", json::serialize(shown), "\n");
  }
  return yaml;
}

Result<Sweep> sweep_of(const Row& row) {
  Sweep sweep = TRY(sweep_from_yaml(
      "name: a\nmodel: " + json::serialize(json::value(row.model)) + "\n", "row " + row.point_id));
  sweep.measure.counters = row.counters_reason != kCountersNotAskedFor;
  sweep.gang.pages = row.pages;
  sweep.gang.merge = row.merge;
  return sweep;
}

}  // namespace

Result<Reproduction> reproduce(const Row& row, const std::optional<Sweep>& original) {
  const Sweep sweep = narrowed(original ? *original : TRY(sweep_of(row)), row);
  Reproduction reproduction{row.point_id, facts_of(row, original.has_value()), sweep.name + ".yaml",
                            TRY(yaml_of(sweep)), ""};
  const Sweep read_back = TRY(sweep_from_yaml(reproduction.yaml, reproduction.file));
  const Plan plan = TRY(make_plan(read_back, std::nullopt));
  const bool planned =
      std::any_of(plan.points.begin(), plan.points.end(),
                  [&](const PlannedPoint& point) { return point.id == row.point_id; });
  if (!planned) {
    return fail(ErrorKind::config, "row ", row.point_id,
                ": this version plans no such point; use build ", row.build);
  }
  // Rows come from anywhere and this line goes to a shell: only what is known goes into it.
  const bool known_backend = row.backend == "cpu" || row.backend == "cuda";
  reproduction.command = str("headsplit run ", reproduction.file, " --db ", sweep.name,
                             ".db --backend ", known_backend ? row.backend : "auto");
  if (row.ranks == Ranks::real) {
    reproduction.command += str(" --agents ", row.tp * row.dp * row.cp);
  }
  return reproduction;
}

std::string reproduction_text(const Reproduction& reproduction) {
  std::string text;
  for (const std::string& fact : reproduction.facts) {
    std::string line = fact;
    std::replace_if(
        line.begin(), line.end(), [](unsigned char byte) { return byte < 0x20; }, ' ');
    text += "# " + line + "\n";
  }
  return str(text, "cat > ", reproduction.file, " <<'END'\n", reproduction.yaml, "END\n",
             reproduction.command, "\n");
}

Result<Row> find_row(const std::vector<Row>& rows, const std::string& id) {
  const Row* newest = nullptr;
  std::set<std::string> ids;
  for (const Row& row : rows) {
    if (!row.point_id.starts_with(id)) continue;
    ids.insert(row.point_id);
    if (newest == nullptr || row.started_unix_s >= newest->started_unix_s) newest = &row;
  }
  if (newest == nullptr) return fail(ErrorKind::config, "no row of point '", id, "'");
  if (ids.size() == 1) return *newest;
  std::vector<std::string> shown(ids.begin(), ids.end());
  const std::string more =
      shown.size() > kIdsShownMost ? str(" and ", shown.size() - kIdsShownMost, " more") : "";
  shown.resize(std::min(shown.size(), kIdsShownMost));
  return fail(ErrorKind::config, "'", id, "' begins several points: ", joined(shown), more);
}

}  // namespace headsplit::coordinator
