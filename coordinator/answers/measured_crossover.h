#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/answers/reexpanded.h"
#include "coordinator/answers/turn.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// Times of the forms at one number of query tokens; absent without a row.  Anew: as
/// reexpanded_rows has them.
struct FormTimes {
  int query_tokens = 1;
  std::optional<double> absorbed_us;
  std::optional<double> kept_us;
  std::optional<double> anew_us;
  std::optional<double> absorbed_roofline_fraction;
  std::optional<double> kept_roofline_fraction;

  bool operator==(const FormTimes&) const = default;
};
BOOST_DESCRIBE_STRUCT(FormTimes, (),
                      (query_tokens, absorbed_us, kept_us, anew_us, absorbed_roofline_fraction,
                       kept_roofline_fraction))

/// From how many query tokens on a form is faster than the absorbed one.
struct FormSwitch {
  Turns turns = Turns::never;
  std::optional<double> query_tokens;  ///< turns at: between low and high, on logarithmic scales
  int low = 1;   ///< at: the last measured where absorbed is faster; else the least measured
  int high = 1;  ///< at: the first measured where it is not; else the largest measured
  std::optional<int> slower_again;  ///< measured beyond `high`, where absorbed is faster again

  bool operator==(const FormSwitch&) const = default;
};
BOOST_DESCRIBE_STRUCT(FormSwitch, (), (turns, query_tokens, low, high, slower_again))

/// One head-parallel size at one batch and context of one GPU and build.
struct MeasuredCrossover {
  std::string model;
  std::string device;
  std::string gpu_uuid;
  std::string build;
  Ranks ranks = Ranks::emulated;
  Lengths lengths = Lengths::equal;
  L2 l2 = L2::cold;
  int tp = 1;
  int local_heads = 0;
  int batch = 1;
  std::int64_t context = 1;
  std::optional<FormSwitch> kept;  ///< absent: fewer than two query tokens that both forms have
  std::optional<FormSwitch> anew;
  std::string lacking;           ///< which rows are missing, and why where a row says so
  std::vector<FormTimes> times;  ///< by query tokens

  bool operator==(const MeasuredCrossover&) const = default;
};
BOOST_DESCRIBE_STRUCT(MeasuredCrossover, (),
                      (model, device, gpu_uuid, build, ranks, lengths, l2, tp, local_heads, batch,
                       context, kept, anew, lacking, times))

/// One of each problem that has rows of absorbed and of another form (bf16, dp 1, cp 1, splits as
/// the kernel chooses), ordered by model, device, build, batch, context and tp.  rows: not only the
/// ok ones, so that `lacking` can say why.
std::vector<MeasuredCrossover> measured_crossovers(std::span<const Row> rows);

}  // namespace headsplit::coordinator
