#pragma once

#include <string>
#include <vector>

#include "tp/collective.h"
#include "tp/correction.h"
#include "tp/projection_cost.h"

namespace headsplit::tp {

/// What the advice is about.
struct AdviceRequest {
  Model model;
  Device device;
  int gpus = 8;
  Point point;  ///< batch, query tokens, context, KV type; its kernel and layout are not used
  WeightDtype weights = WeightDtype::fp8;
  double reserve_gb = 0;  ///< of each GPU for all that is not attention: experts, activations
};

/// One layout with one kernel: a decode step of all attention layers, and the memory for it.
/// Everything else of a step (experts, norms, sampling, launch gaps) is left out.
struct Candidate {
  std::string layout;
  std::string kernel;
  double step_time_us = 0;  ///< all attention layers
  double attention_us = 0;  ///< one layer: the attention core
  Provenance attention_source = Provenance::model;
  std::string attention_basis;       ///< which rows, or the data sheet
  double attention_error = 0;        ///< expected, relative
  bool attention_corrected = false;  ///< rows of this kernel had a say in it
  double projection_us = 0;          ///< one layer: the projections around it
  Provenance projection_source = Provenance::model;
  double collective_us = 0;  ///< one layer, measured or by latency and bandwidth
  Provenance collective_source = Provenance::model;
  Limiter limiter = Limiter::unknown;  ///< of the attention core
  double query_tokens_per_s = 0;       ///< at the batch asked for, all drafts counted
  double memory_gb = 0;                ///< a GPU: cache of all layers, attention weights, reserve
  bool fits = true;
  std::int64_t batch_max = 0;  ///< most requests that fit
  double query_tokens_per_s_at_batch_max = 0;
  double kv_duplication = 1;
  double tp_efficiency = 1;      ///< attention core: t(1 GPU) / (GPUs x t)
  double free_query_tokens = 0;  ///< before the core leaves the memory-bound side
  int padded_rows = 0;           ///< of a 64-row MMA tile, a request
  std::string collectives;       ///< kinds and payloads

  bool operator==(const Candidate&) const = default;
};
BOOST_DESCRIBE_STRUCT(Candidate, (),
                      (layout, kernel, step_time_us, attention_us, attention_source,
                       attention_basis, attention_error, attention_corrected, projection_us,
                       projection_source, collective_us, collective_source, limiter,
                       query_tokens_per_s, memory_gb, fits, batch_max,
                       query_tokens_per_s_at_batch_max, kv_duplication, tp_efficiency,
                       free_query_tokens, padded_rows, collectives))

/// Kernels that can serve a model's decode with that cache type.
std::vector<std::string> advised_kernels(const Model& model, KvDtype dtype);

/// Layouts of exactly `gpus` ranks that the point can have.
std::vector<Layout> possible_layouts(const Model& model, const Point& point, int gpus);

/// One layout and kernel.  Context-parallel layouts take the faster of gathered and replicated
/// queries, and of the two merges.  Fails: config (as kernel_work).
Result<Candidate> candidate(const AdviceRequest& request, const Layout& layout,
                            const std::string& kernel, const TimeModel& times,
                            const CollectiveModel& collectives);

/// Time of one decode step alone: what candidate() has in step_time_us.
Result<double> step_time_us(const AdviceRequest& request, const Layout& layout,
                            const std::string& kernel, const TimeModel& times,
                            const CollectiveModel& collectives);

}  // namespace headsplit::tp
