#include "cli/advise_report.h"

#include <algorithm>

#include "cli/measured_rows.h"
#include "cli/model_options.h"
#include "cli/table.h"

namespace headsplit::cli {
namespace {

using Cells = std::vector<std::vector<std::string>>;

std::string gb(double value) { return figure(value, 3) + " GB"; }

std::string choice_text(const std::optional<tp::Choice>& choice) {
  if (!choice) return "none fits the memory";
  return str(choice->layout, " with ", choice->kernel, ": ", figure(choice->step_time_us, 4),
             " us a step, ", figure(choice->query_tokens_per_s, 4), " query tokens/s");
}

std::string percent(double fraction) { return figure(100 * fraction, 2) + " %"; }

/// A row of the very problem, the model corrected by others, or the model alone.
std::string source_text(const tp::Candidate& c) {
  if (c.attention_source == Provenance::measured) return "measured";
  return c.attention_corrected ? "corrected" : "model";
}

std::string collective_source_text(const tp::Candidate& c) {
  if (c.collective_us == 0) return "-";
  return c.collective_source == Provenance::measured ? "measured" : "published";
}

Cells ranking_cells(const tp::Advice& advice, std::size_t lines) {
  Cells cells = {{"layout", "kernel", "step us", "core us", "within", "source", "projections us",
                  "collectives us", "from", "limiter", "efficiency", "free T", "KV copies",
                  "memory", "batch max", "tokens/s there"}};
  for (std::size_t i = 0; i < lines; ++i) {
    const tp::Candidate& c = advice.ranking[i];
    cells.push_back({c.layout, c.kernel, figure(c.step_time_us), figure(c.attention_us),
                     percent(c.attention_error), source_text(c), figure(c.projection_us, 3),
                     figure(c.collective_us, 3), collective_source_text(c), enum_name(c.limiter),
                     figure(100 * c.tp_efficiency, 3) + " %",
                     c.free_query_tokens > 0 ? figure(c.free_query_tokens, 2) : "-",
                     figure(c.kv_duplication, 3), gb(c.memory_gb) + (c.fits ? "" : " too much"),
                     str(c.batch_max), figure(c.query_tokens_per_s_at_batch_max, 3)});
  }
  return cells;
}

std::string break_even_text(const tp::Advice& advice) {
  std::string text;
  if (advice.dp_break_even_tokens) {
    text += str("DP beats TP from batch x context ", figure(*advice.dp_break_even_tokens / 1e3, 3),
                "k tokens (both memory-bound)");
    if (advice.dp_break_even_tokens_on_device) {
      text +=
          str(", ", figure(*advice.dp_break_even_tokens_on_device / 1e3, 3), "k on this device");
    } else if (advice.gpus > 1) {
      text += ", never on this device at these query tokens: whole heads are compute-bound";
    }
    text += str("; here ", figure(advice.batch_x_context_tokens / 1e3, 4), "k.\n");
  }
  if (advice.cp_break_even_batch) {
    text += str("CP", advice.gpus, " beats TP", advice.gpus, " at this context from batch ",
                *advice.cp_break_even_batch, ".\n");
  }
  return text;
}

std::string sureness_text(const tp::Advice& advice) {
  if (!advice.best_latency) return "";
  const tp::Candidate& best = advice.ranking.front();
  std::string text = str("Confidence: ", enum_name(advice.sureness.confidence), ".  A ",
                         advice.sureness.reason, ".\nIts core: ", best.attention_basis, ".\n");
  if (const auto& measured = advice.best_measured_kernel) {
    text += str("Fastest with a kernel that has rows: ", choice_text(measured), ".\n");
  }
  return text;
}

std::string flips_text(const tp::Advice& advice) {
  std::string text = "What would flip the answer:\n";
  for (const auto& flip : advice.flips) {
    text += str("  ", flip.what, " ", flip.from, " -> ", flip.to, ": ", flip.layout, " with ",
                flip.kernel, "\n");
  }
  if (advice.flips.empty()) text += "  nothing within the ranges looked at\n";
  return text;
}

}  // namespace

Result<tp::Advice> make_advice(const AdviseRequest& request) {
  tp::AdviceRequest full{
      .gpus = request.gpus, .point = request.point, .reserve_gb = request.reserve_gb};
  full.model = TRY(tp::read_model(request.point.model));
  full.device = TRY(device_of(request.device, request.rows));
  const auto weights = enum_from_name<tp::WeightDtype>(request.weights);
  if (!weights) return within_context("--weights", weights.error());
  full.weights = weights.value();
  const tp::TimeModel times =
      TRY(time_model(full.device, full.model, request.rows, request.databases));
  const tp::CollectiveModel collectives = tp::with_rows(
      TRY(tp::read_collective_model()), tp::rows_of_device(request.rows, full.device));
  return tp::advise(full, times, collectives);
}

std::string advice_text(const tp::Advice& advice, std::size_t shown) {
  const std::size_t all = advice.ranking.size();
  const std::size_t lines = shown == 0 ? all : std::min(shown, all);
  std::string text =
      str(advice.model, " on ", advice.gpus, " x ", advice.device, ": batch ", advice.batch,
          ", query tokens ", advice.query_tokens, ", context ", advice.context, ", KV ",
          enum_name(advice.kv_dtype), "\n\nLowest latency:     ", choice_text(advice.best_latency),
          "\nHighest throughput: ", choice_text(advice.best_throughput),
          " (at the largest batch that fits)\n\n", table_text(ranking_cells(advice, lines)));
  if (lines < all) text += str("... ", all - lines, " more (--top 0)\n");
  text += "\n" + sureness_text(advice) + break_even_text(advice) + flips_text(advice);
  for (const auto& note : advice.notes) text += "Note: " + note + ".\n";
  return text;
}

}  // namespace headsplit::cli
