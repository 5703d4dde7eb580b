#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tp/confidence.h"

namespace headsplit::tp {

/// The nearest change of one quantity after which another layout or kernel is the fastest; or how
/// much longer than estimated a step of the fastest would have to take.
struct Flip {
  std::string what;  ///< "batch", "context", "query_tokens", "kv_dtype", "step_time_us"
  std::string from;
  std::string to;
  std::string layout;  ///< that is fastest then
  std::string kernel;

  bool operator==(const Flip&) const = default;
};
BOOST_DESCRIBE_STRUCT(Flip, (), (what, from, to, layout, kernel))

/// A layout and kernel by name.
struct Choice {
  std::string layout;
  std::string kernel;
  double step_time_us = 0;
  double query_tokens_per_s = 0;

  bool operator==(const Choice&) const = default;
};
BOOST_DESCRIBE_STRUCT(Choice, (), (layout, kernel, step_time_us, query_tokens_per_s))

/// The answer of `headsplit advise`.
struct Advice {
  std::string model;
  std::string device;
  Provenance device_source = Provenance::model;  ///< data sheet, or measured ceilings
  int gpus = 1;
  std::int64_t batch = 0;
  int query_tokens = 0;
  std::int64_t context = 0;
  KvDtype kv_dtype = KvDtype::bf16;
  std::optional<Choice> best_latency;  ///< of those that fit; absent when none does
  /// The fastest whose kernel has measured rows; absent when best_latency is that, or no row is.
  std::optional<Choice> best_measured_kernel;
  std::optional<Choice> best_throughput;  ///< each at the largest batch that fits it
  double batch_x_context_tokens = 0;
  /// B x L from which data parallelism beats head parallelism; null for per-head attention.
  std::optional<double> dp_break_even_tokens;
  std::optional<double> dp_break_even_tokens_on_device;
  /// Batch from which context parallelism beats head parallelism at this context.
  std::optional<int> cp_break_even_batch;
  Sureness sureness;  ///< of best_latency
  std::vector<Flip> flips;
  std::vector<Candidate> ranking;  ///< those that fit by step time, then the others
  std::vector<std::string> notes;

  bool operator==(const Advice&) const = default;
};
BOOST_DESCRIBE_STRUCT(Advice, (),
                      (model, device, device_source, gpus, batch, query_tokens, context, kv_dtype,
                       best_latency, best_measured_kernel, best_throughput, batch_x_context_tokens,
                       dp_break_even_tokens, dp_break_even_tokens_on_device, cp_break_even_batch,
                       sureness, flips, ranking, notes))

/// Ranks every layout of the GPUs with every kernel of the model, and says what would change the
/// answer.  Fails: config (sizes below 1, no layout possible).
Result<Advice> advise(const AdviceRequest& request, const TimeModel& times,
                      const CollectiveModel& collectives);

}  // namespace headsplit::tp
