#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/gang.h"
#include "core/point.h"
#include "core/row.h"
#include "tp/model.h"
#include "tp/projection_cost.h"

namespace headsplit::tp {

enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, all_to_all };
BOOST_DESCRIBE_ENUM(CollectiveKind, all_reduce, all_gather, reduce_scatter, all_to_all)

/// One collective of a layer, as each of its ranks takes part in it.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 1;
  double bytes = 0;     ///< reduced buffer, everything gathered, or a rank's whole input
  std::string purpose;  ///< "sum of the output projection"

  bool operator==(const Collective&) const = default;
};
BOOST_DESCRIBE_STRUCT(Collective, (), (kind, ranks, bytes, purpose))

using headsplit::Merge;

/// Collectives inside the attention of one decode layer, B = batch / dp, H = heads / tp:
///   tp x cp > 1: all-reduce of B T hidden 2 after the output projection
///   cp > 1: all-gather of the queries, B T H D 2, unless the query projection is replicated;
///           merge by all-to-all of B T H (2 d_out + 4), or all-gather of the LSE B T H 4 x cp and
///           reduce-scatter of B T H d_out 2
///   dp: none
/// Source: docs/model.md, "Layouts".
std::vector<Collective> layout_collectives(const Model& model, const Point& point,
                                           QueryProjection query, Merge merge);

/// Latency and bandwidth of one kind among some ranks.
struct CollectiveRate {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 2;
  double latency_us = 0;
  double gbps = 0;
};

/// Times of one kind among some ranks, as rows have them.
struct CollectiveTimes {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 2;
  std::map<double, double> time_us_by_bytes;
};

/// Times of collectives: measured ones where there are any, else by latency and bandwidth.
struct CollectiveModel {
  std::string source;
  double link_gbps = 0;  ///< of the machine the rates were measured on, one direction
  std::vector<CollectiveRate> rates;
  std::vector<CollectiveTimes> measured;

  /// Measured sizes of the same kind among as many ranks; null: none.
  const CollectiveTimes* times_of(const Collective& collective) const;

  /// Between measured sizes on logarithmic scales; below the smallest its time, above the largest
  /// its bandwidth.  Without any: rates of the next larger group; beyond the largest its own, with
  /// a latency that grows by the logarithm of the ranks.  Bandwidth scales with `device_link_gbps`.
  double time_us(const Collective& collective, double device_link_gbps) const;
};

/// The same with the times of collectives that a device's rows have (kernels all_reduce,
/// all_gather, reduce_scatter, all_to_all; repeats by their median).  rows: of that device, ok.
CollectiveModel with_rows(CollectiveModel model, const std::vector<Row>& rows);

/// configs/collectives.yaml.  Fails: config (a fault in it, with its line), io.
Result<CollectiveModel> read_collective_model();

/// The model of such a text.  `file` is only named in errors.
Result<CollectiveModel> collective_model_from_yaml(const std::string& text,
                                                   const std::string& file);

}  // namespace headsplit::tp
