#include "cli/crossover_answer.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/model_options.h"
#include "coordinator/answers/row_file.h"
#include "core/nearest.h"
#include "tp/correction.h"
#include "tp/crossover.h"
#include "tp/shard.h"

namespace headsplit::cli {
namespace {

using coordinator::MeasuredCrossover;

constexpr const char* kHowToMeasure =
    "; rows from: headsplit run configs/sweeps/crossover.yaml --db FILE";

/// The roofs of a device: what its rows measured, else its data sheet.
tp::Device roofs_of(const std::string& name, const std::vector<Row>& rows) {
  const auto known = tp::read_device(name);
  tp::Device device = known ? *known : tp::Device{.name = name};
  const Ceilings ceilings = tp::ceilings_of_rows(rows, device);
  return tp::with_ceilings(std::move(device), ceilings);
}

ComparedCrossover on_paper(const MeasuredCrossover& measured, const tp::Model& model,
                           const tp::Device& device) {
  ComparedCrossover line{measured};
  line.anew_flops_query_tokens = tp::flops_switch_query_tokens(model, measured.context);
  if (!(device.hbm_gbps > 0) || !(device.bf16_tflops > 0)) return line;
  line.read_gbps = device.hbm_gbps;
  line.bf16_tflops = device.bf16_tflops;
  line.roofs_from = device.provenance;
  const auto point = tp::switch_point(model, measured.context, tp::rates_of(device), measured.tp);
  line.kept_roofline_query_tokens = point.expanded_resident_from_query_tokens;
  line.anew_roofline_query_tokens = point.expanded_each_step_from_query_tokens;
  return line;
}

auto group_key(const MeasuredCrossover& line) {
  return std::tie(line.model, line.device, line.gpu_uuid, line.build, line.ranks, line.lengths,
                  line.l2, line.batch);
}

bool is_wanted(const MeasuredCrossover& line, const MeasuredRequest& request) {
  const auto& sizes = request.tp_sizes;
  return (request.model.empty() || line.model == request.model) &&
         (!request.context || line.context == *request.context) &&
         (sizes.empty() || std::find(sizes.begin(), sizes.end(), line.tp) != sizes.end());
}

/// "mla_dense 12, mla_expanded 3": ok rows of the kernels that there are.
std::string kernels_text(const std::vector<Row>& rows) {
  std::map<std::string, int> counts;
  for (const Row& row : rows) counts[row.kernel] += row.status == Status::ok ? 1 : 0;
  std::vector<std::string> texts;
  for (const auto& [kernel, count] : counts) texts.push_back(str(kernel, " ", count));
  return texts.empty() ? "none" : joined(texts);
}

Error nothing_measured(const MeasuredRequest& request, const std::vector<Row>& rows,
                       const std::vector<MeasuredCrossover>& lines) {
  const std::string files = "--db " + joined(request.files);
  if (lines.empty()) {
    return fail(ErrorKind::config, files, ": no ok row of ", coordinator::kAbsorbedKernel, " or ",
                coordinator::kKeptKernel,
                " in bf16 that was asked for (ok rows: ", kernels_text(rows), ")", kHowToMeasure);
  }
  const MeasuredCrossover& line = lines.front();
  return fail(ErrorKind::config, files, ": no two forms along query_tokens: ", line.model, " tp ",
              line.tp, ", batch ", line.batch, ", context ", line.context, ": ", line.lacking,
              kHowToMeasure);
}

}  // namespace

Result<std::vector<CrossoverGroup>> compare_crossovers(const MeasuredRequest& request) {
  const auto rows = coordinator::read_row_files(request.files);
  if (!rows) return within_context("--db", rows.error());
  auto lines = coordinator::measured_crossovers(*rows);
  std::erase_if(lines, [&](const auto& line) { return !is_wanted(line, request); });
  if (std::none_of(lines.begin(), lines.end(),
                   [](const auto& line) { return line.kept || line.anew; })) {
    return nothing_measured(request, *rows, lines);
  }
  std::map<std::string, tp::Model> models;
  std::map<std::string, tp::Device> devices;
  std::vector<CrossoverGroup> groups;
  for (const MeasuredCrossover& line : lines) {
    if (!models.contains(line.model)) models[line.model] = TRY(tp::read_model(line.model));
    if (!devices.contains(line.device)) devices[line.device] = roofs_of(line.device, *rows);
    const bool is_next =
        !groups.empty() && group_key(groups.back().lines.front()) == group_key(line);
    if (!is_next) groups.emplace_back();
    groups.back().lines.push_back(on_paper(line, models[line.model], devices[line.device]));
  }
  for (CrossoverGroup& group : groups) group.statements = crossover_statements(group.lines);
  return groups;
}

std::vector<std::string> lacking_notes(const std::vector<CrossoverGroup>& groups) {
  std::vector<std::string> notes;
  for (const CrossoverGroup& group : groups) {
    for (const ComparedCrossover& line : group.lines) {
      if (line.lacking.empty()) continue;
      notes.push_back(str(line.model, " tp", line.tp, " B=", line.batch, " L=", line.context, ": ",
                          line.lacking));
    }
  }
  return notes;
}

namespace {

/// The members of a switch as columns of their own: kept_turns, kept_query_tokens, ...
void add_columns(json::object& flat, const std::string& name,
                 const std::optional<coordinator::FormSwitch>& form) {
  const json::value parts = to_json(form.value_or(coordinator::FormSwitch{}));
  for (const auto& part : parts.get_object()) {
    flat[str(name, "_", std::string_view(part.key()))] = form ? part.value() : json::value(nullptr);
  }
}

}  // namespace

std::string measured_csv(const std::vector<CrossoverGroup>& groups) {
  json::array lines;
  for (const CrossoverGroup& group : groups) {
    for (const ComparedCrossover& line : group.lines) {
      json::object flat;
      const json::value members = to_json(line);
      for (const auto& member : members.get_object()) {
        const std::string name(member.key());
        if (name == "kept") {
          add_columns(flat, name, line.kept);
        } else if (name == "anew") {
          add_columns(flat, name, line.anew);
        } else if (name != "times") {
          flat[name] = member.value();
        }
      }
      lines.push_back(std::move(flat));
    }
  }
  return csv_text(lines);
}

}  // namespace headsplit::cli
