#include "coordinator/attention_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "tp/shard.h"

namespace headsplit::coordinator {
namespace {

struct Structure {
  const char* kernel;
  const char* title;
  double reads_a_byte;  ///< uses of a cached value: a latent is both key and value
};
constexpr std::array kStructures = {
    Structure{"mha_decode", "MHA", 1}, Structure{"gqa_decode", "GQA", 1},
    Structure{"mqa_decode", "MQA", 1}, Structure{"mla_dense", "MLA", 2}};

const Structure* structure_of(const std::string& kernel) {
  const auto found = std::find_if(kStructures.begin(), kStructures.end(),
                                  [&](const Structure& one) { return kernel == one.kernel; });
  return found == kStructures.end() ? nullptr : &*found;
}

auto problem_of(const ErosionCell& cell) {
  return std::tie(cell.sweep, cell.model, cell.kv_dtype, cell.lengths, cell.l2, cell.batch,
                  cell.query_tokens, cell.context, cell.ranks, cell.fixed_splits, cell.top_k);
}

AttentionLine line_of(const ErosionCell& cell, const ErosionLine& measured,
                      const Structure& structure, int kv_heads) {
  AttentionLine line{.model = cell.model,
                     .device = cell.device,
                     .structure = structure.title,
                     .kernel = cell.kernel,
                     .batch = cell.batch,
                     .query_tokens = cell.query_tokens,
                     .context = cell.context,
                     .tp = measured.tp,
                     .local_heads = measured.local_heads,
                     .local_kv_heads = std::max(1, kv_heads / measured.tp)};
  line.intensity_limit_flop_per_byte =
      structure.reads_a_byte * cell.query_tokens * measured.local_heads / line.local_kv_heads;
  line.intensity_model_flop_per_byte = measured.intensity_model_flop_per_byte;
  if (measured.intensity_source == Provenance::measured) {
    line.intensity_measured_flop_per_byte = measured.intensity_flop_per_byte;
    if (line.intensity_model_flop_per_byte) {
      line.measured_over_model =
          *measured.intensity_flop_per_byte / *line.intensity_model_flop_per_byte;
    }
  }
  line.reuse_retained = measured.reuse_retained;
  line.time_us = measured.time_us;
  line.gbps = measured.gbps;
  return line;
}

void add_lines(const ErosionCell& cell, const Structure& structure, const tp::Model& model,
               std::vector<AttentionLine>& lines) {
  const int kv_heads = tp::kernel_kv_heads(model, cell.kernel);
  for (const ErosionLine& measured : cell.lines) {
    if (measured.dp != 1 || measured.cp != 1 || measured.status != Status::ok) continue;
    lines.push_back(line_of(cell, measured, structure, kv_heads));
  }
}

/// Models by name; none where the name is not one of tp::read_model's.
class Models {
 public:
  const tp::Model* find(const std::string& name) {
    const auto known = models_.find(name);
    if (known != models_.end()) return known->second ? &*known->second : nullptr;
    auto model = tp::read_model(name);
    auto& kept = models_[name];
    if (model) kept = std::move(model).value();
    return kept ? &*kept : nullptr;
  }

 private:
  std::map<std::string, std::optional<tp::Model>> models_;
};

}  // namespace

std::vector<AttentionLine> attention_table(std::span<const ErosionCell> cells) {
  Models models;
  std::vector<const ErosionCell*> waiting;
  for (const ErosionCell& cell : cells) {
    if (structure_of(cell.kernel) != nullptr) waiting.push_back(&cell);
  }
  std::vector<AttentionLine> lines;
  while (!waiting.empty()) {
    const auto problem = problem_of(*waiting.front());
    const auto others = std::stable_partition(
        waiting.begin(), waiting.end(),
        [&](const ErosionCell* cell) { return problem_of(*cell) == problem; });
    const std::vector<const ErosionCell*> same(waiting.begin(), others);
    waiting.erase(waiting.begin(), others);
    const tp::Model* model = models.find(same.front()->model);
    if (same.size() < 2 || model == nullptr) continue;
    for (const Structure& structure : kStructures) {
      for (const ErosionCell* cell : same) {
        if (cell->kernel == structure.kernel) add_lines(*cell, structure, *model, lines);
      }
    }
  }
  return lines;
}

}  // namespace headsplit::coordinator
