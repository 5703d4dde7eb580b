#include "tp/advice.h"

#include <algorithm>
#include <cmath>

#include "tp/break_even.h"
#include "tp/flips.h"

namespace headsplit::tp {
namespace {

Result<void> check(const AdviceRequest& request) {
  constexpr int kGpusMax = 1024;
  if (request.gpus < 1 || request.gpus > kGpusMax) {
    return fail(ErrorKind::config, "gpus ", request.gpus, ": must be 1 to ", kGpusMax);
  }
  if (request.reserve_gb < 0 || request.reserve_gb >= request.device.memory_gb) {
    return fail(ErrorKind::config, "reserve of ", request.reserve_gb, " GB: ", request.device.title,
                " has ", request.device.memory_gb);
  }
  if (request.point.context < request.point.query_tokens) {
    return fail(ErrorKind::config, "context ", request.point.context, ": holds the ",
                request.point.query_tokens,
                " query tokens of the request too, so it cannot be shorter");
  }
  return {};
}

Choice latency_choice(const Candidate& c) {
  return {c.layout, c.kernel, c.step_time_us, c.query_tokens_per_s};
}

std::optional<Choice> measured_kernel_choice(const std::vector<Candidate>& ranking) {
  const auto best = std::find_if(ranking.begin(), ranking.end(), [](const Candidate& c) {
    return c.fits && c.attention_corrected;
  });
  if (best == ranking.begin() || best == ranking.end()) return std::nullopt;
  return latency_choice(*best);
}

std::optional<Choice> throughput_choice(const std::vector<Candidate>& ranking, int query_tokens) {
  constexpr double kMicro = 1e6;
  const auto best =
      std::max_element(ranking.begin(), ranking.end(), [](const Candidate& a, const Candidate& b) {
        return a.query_tokens_per_s_at_batch_max < b.query_tokens_per_s_at_batch_max;
      });
  if (best == ranking.end() || best->query_tokens_per_s_at_batch_max == 0) return std::nullopt;
  const double tokens = static_cast<double>(best->batch_max) * query_tokens;
  const double rate = best->query_tokens_per_s_at_batch_max;
  return Choice{best->layout, best->kernel, tokens / rate * kMicro, rate};
}

void fill_break_evens(const AdviceRequest& request, const TimeModel& times,
                      const CollectiveModel& collectives, Advice& advice) {
  const Point& point = request.point;
  if (!request.model.is_mla()) return;
  advice.dp_break_even_tokens =
      dp_break_even_tokens(request.model, request.weights, point.kv_dtype);
  if (request.gpus == 1) return;
  advice.dp_break_even_tokens_on_device =
      dp_break_even_tokens(request.model, request.weights, point.kv_dtype, request.gpus,
                           point.query_tokens, times.rates());
  if (request.model.heads % request.gpus != 0) return;
  advice.cp_break_even_batch = cp_break_even_batch(
      request.model, point, request.gpus, request.device, collectives, QueryProjection::gathered);
}

void fill_notes(const AdviceRequest& request, const TimeModel& times,
                const CollectiveModel& collectives, Advice& advice) {
  advice.notes.push_back(
      "a step is the attention layers alone: experts, sampling and launch gaps are left out");
  advice.notes.push_back(times.row_count() > 0
                             ? str("attention corrected by ", times.row_count(),
                                   " measured points; projections by the roofline")
                             : std::string("attention and projections by the roofline"));
  advice.notes.push_back("collectives: " + collectives.source);
  advice.notes.push_back(str("memory counts the KV cache, attention weights (",
                             enum_name(request.weights), ") and a reserve of ", request.reserve_gb,
                             " GB for all else"));
  if (!advice.best_latency) {
    const auto least = std::min_element(
        advice.ranking.begin(), advice.ranking.end(),
        [](const Candidate& a, const Candidate& b) { return a.memory_gb < b.memory_gb; });
    advice.notes.push_back(str("nothing fits: the least is ", least->memory_gb, " GB a GPU (",
                               least->layout, " with ", least->kernel, ") of ",
                               request.device.memory_gb, " GB"));
  }
  if (request.model.index_topk > 0) {
    advice.notes.push_back(
        "this model is trained with sparse attention: mla_dense attends to more "
        "than it learned to");
  }
  if (request.model.output_gate) {
    advice.notes.push_back("weights of the output gate are not counted");
  }
}

/// The second would be the fastest if a step of the first took as long.
std::optional<Flip> flip_of_times(const std::vector<Candidate>& ranking) {
  if (ranking.size() < 2 || !ranking[1].fits) return std::nullopt;
  return Flip{"step_time_us", str(std::llround(ranking[0].step_time_us)),
              str(std::llround(ranking[1].step_time_us)), ranking[1].layout, ranking[1].kernel};
}

}  // namespace

Result<Advice> advise(const AdviceRequest& request, const TimeModel& times,
                      const CollectiveModel& collectives) {
  TRY(check(request));
  const Point& point = request.point;
  Advice advice{.model = request.model.name,
                .device = request.device.name,
                .device_source = request.device.provenance,
                .gpus = request.gpus,
                .batch = point.batch,
                .query_tokens = point.query_tokens,
                .context = point.context,
                .kv_dtype = point.kv_dtype};
  advice.batch_x_context_tokens =
      static_cast<double>(point.batch) * static_cast<double>(point.context);
  advice.ranking = ranked(request, times, collectives);
  if (advice.ranking.empty()) {
    return fail(ErrorKind::config, "no layout of ", request.gpus, " GPUs can serve batch ",
                point.batch, " with the ", request.model.heads, " heads of ", request.model.name,
                "; legal tp: ", legal_tp_text(request.model));
  }
  if (advice.ranking.front().fits) advice.best_latency = latency_choice(advice.ranking.front());
  advice.best_measured_kernel = measured_kernel_choice(advice.ranking);
  advice.best_throughput = throughput_choice(advice.ranking, point.query_tokens);
  fill_break_evens(request, times, collectives, advice);
  advice.sureness = sureness_of(advice.ranking);
  advice.flips = flips(request, times, collectives);
  if (const auto slower = flip_of_times(advice.ranking)) advice.flips.push_back(*slower);
  fill_notes(request, times, collectives, advice);
  return advice;
}

}  // namespace headsplit::tp
