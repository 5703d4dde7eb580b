#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/lease.h"
#include "core/point.h"
#include "tp/model.h"

namespace headsplit::coordinator {

/// The axes of a sweep: the plan is their product with kernels and layouts.  Every list is in the
/// order of the file, has at least one entry and none twice.
struct Axes {
  std::vector<int> batch{1};
  std::vector<int> query_tokens{1};
  std::vector<std::int64_t> context{4096};
  std::vector<KvDtype> kv_dtype{KvDtype::bf16};
  std::vector<Lengths> lengths{Lengths::equal};
  std::vector<L2> l2{L2::cold};
  std::vector<std::int64_t> message_bytes{0};  ///< of collective kernels; 0 for all others
  std::vector<int> fixed_splits{0};            ///< of each request; 0: the kernel chooses
  std::vector<int> top_k{0};                   ///< of sparse kernels; 0: the model's index_topk

  bool operator==(const Axes&) const = default;
};
BOOST_DESCRIBE_STRUCT(Axes, (),
                      (batch, query_tokens, context, kv_dtype, lengths, l2, message_bytes,
                       fixed_splits, top_k))

/// One entry of `exclude`: a point is left out when each list that is not empty holds its value.
struct Exclusion {
  std::vector<std::string> kernel;
  std::vector<Layout> layout;
  std::vector<int> tp;
  std::vector<int> dp;
  std::vector<int> cp;
  std::vector<int> batch;
  std::vector<int> query_tokens;
  std::vector<std::int64_t> context;
  std::vector<KvDtype> kv_dtype;
  std::vector<Lengths> lengths;
  std::vector<L2> l2;

  bool excludes(const Point& point) const;
  bool operator==(const Exclusion&) const = default;
};
BOOST_DESCRIBE_STRUCT(Exclusion, (),
                      (kernel, layout, tp, dp, cp, batch, query_tokens, context, kv_dtype, lengths,
                       l2))

/// How long and how often a point may be tried.
struct Limits {
  int attempts = 3;             ///< attempts that may crash, hang or lose their agent
  double point_timeout_s = 60;  ///< of one attempt, enforced from outside the process

  bool operator==(const Limits&) const = default;
};
BOOST_DESCRIBE_STRUCT(Limits, (), (attempts, point_timeout_s))

/// A sweep file, read and checked (design.md section 5).
struct Sweep {
  std::string name;
  tp::Model model;  ///< as read; `name` as the file has it, and without title, source and notes
  std::vector<std::string> kernels{"mla_dense"};
  std::vector<Layout> layouts{Layout{}};
  std::vector<Ranks> ranks{Ranks::emulated};
  GangOptions gang;
  Axes axes;
  std::vector<Exclusion> exclude;
  MeasureSettings measure;
  Limits limits;
  std::uint64_t seed = 1;

  bool operator==(const Sweep&) const = default;
};
BOOST_DESCRIBE_STRUCT(Sweep, (),
                      (name, model, kernels, layouts, ranks, gang, axes, exclude, measure, limits,
                       seed))

/// Most points a sweep may expand to.
constexpr std::int64_t kPointsMax = 1'000'000;

/// A kernel that moves messages among the ranks of a gang, and computes no attention.
bool is_collective(const std::string& kernel);

/// Kernels that a sweep may name.
const std::vector<std::string>& sweep_kernels();

/// The sweep of a YAML text; JSON is YAML too.  filename: for messages, and where a relative model
/// path begins (then the current folder).  `model` may also be a map: a model as sweep_content
/// writes it.
/// Fails: config, one line `file:line:column: field: what; legal values` (malformed YAML, unknown
/// keys with the nearest legal one, sizes out of bounds, duplicates, tp that does not divide the
/// heads, more than kPointsMax points).
Result<Sweep> sweep_from_yaml(const std::string& text, const std::string& filename);

/// The sweep of a file.  Fails: config (cannot be read), and as sweep_from_yaml.
Result<Sweep> read_sweep(const std::string& path);

/// The sweep as one line of JSON, canonical and whole: the model and all defaults are in it.  This
/// is what travels to a coordinator; sweep_from_yaml gives the equal sweep back.
std::string sweep_content(const Sweep& sweep);

/// Points of the product before exclusions, repeats included; kPointsMax + 1 when there are more.
std::int64_t product_size(const Sweep& sweep);

}  // namespace headsplit::coordinator
