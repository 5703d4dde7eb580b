#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gang.h"
#include "core/json.h"
#include "core/lease.h"
#include "core/point.h"

namespace headsplit {

enum class Status { ok, failed, skipped, cancelled };
BOOST_DESCRIBE_ENUM(Status, ok, failed, skipped, cancelled)

/// What holds a kernel back, by counters or by the roofline.
enum class Limiter { unknown, memory, tensor, dequantisation, overhead };
BOOST_DESCRIBE_ENUM(Limiter, unknown, memory, tensor, dequantisation, overhead)

/// Where a figure comes from.
enum class Provenance { measured, model };
BOOST_DESCRIBE_ENUM(Provenance, measured, model)

/// Which experiment, run by whom, with what.
struct RowIdentity {
  std::string point_id;
  std::int64_t epoch = 0;
  std::string sweep;
  std::string agent;
  std::string node;
  std::string backend;  ///< cpu | cuda
  std::string device;   ///< model name of the CPU or GPU
  std::string gpu_uuid;
  std::string driver;
  std::string cuda;
  std::string build;  ///< revision of the project
  std::uint64_t seed = 0;
  double started_unix_s = 0;

  bool operator==(const RowIdentity&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowIdentity, (),
                      (point_id, epoch, sweep, agent, node, backend, device, gpu_uuid, driver, cuda,
                       build, seed, started_unix_s))

/// How the attempt ended.
struct RowOutcome {
  Status status = Status::failed;
  std::string reason;
  bool resumed = false;    ///< taken over from an earlier run of the same sweep
  bool retryable = false;  ///< failed, and another attempt may go better: a crash or a timeout

  bool operator==(const RowOutcome&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowOutcome, (), (status, reason, resumed, retryable))

/// The point, and rank 0's share of it.
struct RowPoint {
  std::string model;
  std::string kernel;
  std::string layout;
  int tp = 1;
  int dp = 1;
  int cp = 1;
  Ranks ranks = Ranks::emulated;
  int local_heads = 0;
  int batch = 0;
  int query_tokens = 0;
  std::int64_t context = 0;
  int rank_batch = 0;
  std::int64_t rank_context = 0;
  KvDtype kv_dtype = KvDtype::bf16;
  Lengths lengths = Lengths::equal;
  L2 l2 = L2::cold;
  int repeat = 0;
  std::int64_t message_bytes = 0;  ///< of a collective kernel
  int fixed_splits = 0;            ///< of each request, when the sweep says so; 0: the kernel chose
  int top_k = 0;                   ///< of sparse kernels, when the sweep says so; 0: the model's

  bool operator==(const RowPoint&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowPoint, (),
                      (model, kernel, layout, tp, dp, cp, ranks, local_heads, batch, query_tokens,
                       context, rank_batch, rank_context, kv_dtype, lengths, l2, repeat,
                       message_bytes, fixed_splits, top_k))

/// Time of one launch.
struct RowTiming {
  std::optional<double> time_us;  ///< median
  std::optional<double> time_p10_us;
  std::optional<double> time_p90_us;
  std::optional<double> time_noise;      ///< relative standard error of the median
  std::optional<double> time_ci_low_us;  ///< 95 % confidence interval of the median
  std::optional<double> time_ci_high_us;
  std::optional<double> time_warm_us;  ///< the same with the last-level cache left warm
  std::optional<double> split_us;
  std::optional<double> combine_us;
  std::vector<double> samples_us;  ///< every sample, in launch order
  std::string stop_reason;
  MeasureMode measure_mode = MeasureMode::burst;

  bool operator==(const RowTiming&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowTiming, (),
                      (time_us, time_p10_us, time_p90_us, time_noise, time_ci_low_us,
                       time_ci_high_us, time_warm_us, split_us, combine_us, samples_us, stop_reason,
                       measure_mode))

/// `counters_reason` of a row whose sweep wants no counters.
constexpr const char* kCountersNotAskedFor = "not asked for";

/// Work of one launch: the formula, and what the hardware counted.
struct RowWork {
  std::optional<double> flops;
  std::optional<double> hbm_bytes_model;
  std::optional<double> kv_bytes_model;
  std::optional<double> qo_bytes_model;
  std::optional<double> dram_bytes_read;
  std::optional<double> dram_bytes_written;
  std::optional<double> tensor_ops;
  std::optional<double> l2_bytes;
  json::object counters;        ///< every counter of the pass, by the vendor's name
  std::string counters_reason;  ///< why counters are absent
  /// Point whose launch was counted: this one, or an earlier one of the same worker with the same
  /// kernel, rank problem and seed, which need not be counted again.
  std::string counted_point;

  bool operator==(const RowWork&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowWork, (),
                      (flops, hbm_bytes_model, kv_bytes_model, qo_bytes_model, dram_bytes_read,
                       dram_bytes_written, tensor_ops, l2_bytes, counters, counters_reason,
                       counted_point))

/// Figures computed from time and work.
struct RowDerived {
  std::optional<double> intensity_model;     ///< flops / hbm_bytes_model
  std::optional<double> intensity_measured;  ///< flops / DRAM bytes counted
  Provenance intensity_source = Provenance::model;
  std::optional<double> tflops;
  std::optional<double> gbps;                   ///< hbm_bytes_model over time
  std::optional<double> read_ceiling_gbps;      ///< this very device's streaming read
  std::optional<double> matmul_ceiling_tflops;  ///< its dense matmul (GPU: bf16 or fp8; CPU: sgemm)
  std::optional<double> roofline_fraction;  ///< least time on those ceilings over the time taken
  Limiter limiter = Limiter::unknown;

  bool operator==(const RowDerived&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowDerived, (),
                      (intensity_model, intensity_measured, intensity_source, tflops, gbps,
                       read_ceiling_gbps, matmul_ceiling_tflops, roofline_fraction, limiter))

/// How the kernel ran.
struct RowConfig {
  int num_splits = 0;
  int padded_rows = 0;  ///< MMA rows computed beyond the useful ones
  std::string config;   ///< tiles and splits, and why they were chosen
  std::optional<double> active_ctas;
  std::optional<double> occupancy;
  std::optional<double> tensor_active_ratio;
  std::optional<double> issue_active_ratio;  ///< instructions issued over issue slots
  std::optional<double> l2_hit_ratio;
  std::optional<double> error_vs_reference;  ///< largest error over tolerance; at most 1 when ok

  bool operator==(const RowConfig&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowConfig, (),
                      (num_splits, padded_rows, config, active_ctas, occupancy, tensor_active_ratio,
                       issue_active_ratio, l2_hit_ratio, error_vs_reference))

/// The machine while it ran.
struct RowMachine {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> energy_j;
  std::optional<double> temperature_c;
  std::optional<bool> throttled;
  std::string throttle_reason;

  bool operator==(const RowMachine&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowMachine, (),
                      (sm_clock_mhz, memory_clock_mhz, power_w, energy_j, temperature_c, throttled,
                       throttle_reason))

/// Where the time of the attempt went.
struct RowOverhead {
  double wall_s = 0;      ///< lease received to row sent
  double sampling_s = 0;  ///< taking the samples: launches and evictions between them
  double gpu_s = 0;       ///< of that, what the device itself worked: launches and evictions
  double kernel_s = 0;    ///< inside launches of the kernel
  double count_s = 0;     ///< counting a launch, programming the counters included
  double prepare_s = 0;   ///< making inputs
  double verify_s = 0;    ///< checking against the reference

  bool operator==(const RowOverhead&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowOverhead, (),
                      (wall_s, sampling_s, gpu_s, kernel_s, count_s, prepare_s, verify_s))

/// What one rank of a gang measured.
struct RankPart {
  int rank = 0;
  std::string agent;
  std::string node;
  std::string gpu_uuid;
  int local_heads = 0;
  int rank_batch = 0;
  std::int64_t rank_context = 0;
  std::optional<double> time_us;        ///< attention, then its collectives: its own median
  std::optional<double> attention_us;   ///< attention alone
  std::optional<double> collective_us;  ///< the collectives alone
  std::optional<double> overlapped_us;  ///< both at once, as two half batches would
  std::optional<double> error_vs_reference;

  bool operator==(const RankPart&) const = default;
};
BOOST_DESCRIBE_STRUCT(RankPart, (),
                      (rank, agent, node, gpu_uuid, local_heads, rank_batch, rank_context, time_us,
                       attention_us, collective_us, overlapped_us, error_vs_reference))

/// A point that a whole gang ran.  `time_us` and `samples_us` are then of the slowest rank of each
/// launch: attention and its collectives, in sequence.
struct RowGang {
  int rank = 0;           ///< whose part this is, until the parts are one row
  std::string transport;  ///< sockets | nccl; empty without a gang
  PageOrder pages = PageOrder::interleaved;
  Merge merge = Merge::all_to_all;
  std::optional<double> attention_us;   ///< attention alone, on the slowest rank
  std::optional<double> collective_us;  ///< the collectives alone, on the slowest rank
  std::optional<double> overlapped_us;  ///< both at once, on the slowest rank
  std::optional<double> exposed_us;     ///< what the collectives add: time_us - attention_us
  std::optional<double> skew_us;  ///< between the first rank to reach the collectives and the last
  std::optional<double> imbalance;      ///< slowest rank's attention over the ranks' mean
  std::optional<double> gang_start_us;  ///< from the lease to the go
  std::optional<double> algbw_gbps;     ///< collective kernels: message_bytes over time
  std::optional<double> busbw_gbps;     ///< what each rank's link carried for it
  std::vector<RankPart> parts;          ///< by rank

  bool operator==(const RowGang&) const = default;
};
BOOST_DESCRIBE_STRUCT(RowGang, (),
                      (rank, transport, pages, merge, attention_us, collective_us, overlapped_us,
                       exposed_us, skew_us, imbalance, gang_start_us, algbw_gbps, busbw_gbps,
                       parts))

/// One result: an append-only fact about one attempt at a point.  Absent figures are null with a
/// reason beside them, never 0.  Per rank, attention core, one layer.  The parts are bases, not
/// members, so that a row is flat wherever it is written: JSON, CSV, SQL.
struct Row : RowIdentity,
             RowOutcome,
             RowPoint,
             RowTiming,
             RowWork,
             RowDerived,
             RowConfig,
             RowMachine,
             RowOverhead,
             RowGang {
  bool operator==(const Row&) const = default;
};
BOOST_DESCRIBE_STRUCT(Row,
                      (RowIdentity, RowOutcome, RowPoint, RowTiming, RowWork, RowDerived, RowConfig,
                       RowMachine, RowOverhead, RowGang),
                      ())
HEADSPLIT_JSON_ELSEWHERE(Row)

/// DRAM bytes counted, read and written; absent where either is.
std::optional<double> counted_dram_bytes(const RowWork& row);

/// A row that says which experiment it belongs to and nothing yet of how it went.
Row row_of(const Point& point);

}  // namespace headsplit
