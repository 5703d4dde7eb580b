#include "bench/mla_dense_claims.h"

#include <cmath>
#include <cstdio>
#include <optional>

namespace headsplit::bench {
namespace {

/// Prints a line a claim.  An empty selection claims nothing.
class Claims {
 public:
  void at_most(const char* what, const std::optional<double>& reached, double limit) {
    say(what, reached, limit, "at most", reached && *reached <= limit);
  }
  void at_least(const char* what, const std::optional<double>& reached, double limit) {
    say(what, reached, limit, "at least", reached && *reached >= limit);
  }
  bool all_reached() const { return missed_ == 0; }

 private:
  void say(const char* what, const std::optional<double>& reached, double limit, const char* which,
           bool good) {
    if (!reached) return;
    std::printf("# %-58s %8.3f, %s %8.3f: %s\n", what, *reached, which, limit,
                good ? "reached" : "MISSED");
    missed_ += good ? 0 : 1;
  }
  int missed_ = 0;
};

const MlaDenseCase& shape_of(const Compared& row) { return row.result.shape; }
const MlaDenseCase& shape_of(const OnBothCaches& row) { return row.fp8.shape; }

template <class Row, class Select, class Value>
std::optional<double> worst(const std::vector<Row>& rows, Select select, Value value,
                            bool largest) {
  std::optional<double> found;
  for (const Row& row : rows) {
    if (!select(shape_of(row))) continue;
    const double v = value(row);
    if (!found || (largest ? v > *found : v < *found)) found = v;
  }
  return found;
}

}  // namespace

bool judge_mla_dense(const std::vector<Compared>& rows) {
  double log_sum = 0;
  for (const Compared& row : rows) log_sum += std::log(row.ratio());
  const auto time_us = [](const Compared& row) { return row.result.time_us; };
  const auto tbps = [](const Compared& row) { return row.result.gbps * 1e-3; };
  const auto tflops = [](const Compared& row) { return row.result.tflops; };
  using Shape = MlaDenseCase;
  const auto long_batch = [](const Shape& s) { return s.batch == 64 && s.context == 65536; };
  Claims claims;
  claims.at_most("time / peer's time, geometric mean", std::exp(log_sum / double(rows.size())),
                 0.70);
  claims.at_most("time / peer's time, worst row",
                 worst(
                     rows, [](const Shape&) { return true; },
                     [](const Compared& row) { return row.ratio(); }, true),
                 1.02);
  claims.at_most(
      "us, batch 1, context 4096",
      worst(
          rows,
          [](const Shape& s) { return s.batch == 1 && s.context == 4096 && s.query_tokens == 1; },
          time_us, true),
      12);
  claims.at_most(
      "us, batch 1, context 65536",
      worst(
          rows,
          [](const Shape& s) { return s.batch == 1 && s.context == 65536 && s.query_tokens == 1; },
          time_us, true),
      32);
  claims.at_least("TB/s, batch 64, context 65536, 8 to 32 heads",
                  worst(
                      rows,
                      [&](const Shape& s) {
                        return long_batch(s) && s.query_tokens == 1 && s.local_heads <= 32;
                      },
                      tbps, false),
                  4.4);
  claims.at_least("TB/s, batch 64, context 65536, 64 heads",
                  worst(
                      rows,
                      [&](const Shape& s) {
                        return long_batch(s) && s.query_tokens == 1 && s.local_heads == 64;
                      },
                      tbps, false),
                  4.3);
  claims.at_least("TB/s, batch 128, context 4096, 16 heads",
                  worst(
                      rows,
                      [](const Shape& s) {
                        return s.batch == 128 && s.context == 4096 && s.query_tokens == 1 &&
                               s.local_heads == 16;
                      },
                      tbps, false),
                  4.1);
  claims.at_least("TFLOP/s, batch 64, context 65536, 128 heads, T = 1, 2",
                  worst(
                      rows,
                      [&](const Shape& s) {
                        return long_batch(s) && s.query_tokens <= 2 && s.local_heads == 128;
                      },
                      tflops, false),
                  690);
  return claims.all_reached();
}

bool judge_mla_dense_fp8(const std::vector<OnBothCaches>& rows) {
  using Shape = MlaDenseCase;
  const auto speedup = [](const OnBothCaches& row) { return row.speedup(); };
  const auto longest = [](const Shape& s, int heads) {
    return s.batch == 64 && s.context == 65536 && s.local_heads == heads;
  };
  Claims claims;
  claims.at_least(
      "time on bf16 / time on FP8, batch 16 and context 4096 up",
      worst(
          rows, [](const Shape& s) { return s.batch >= 16 && s.context >= 4096; }, speedup, false),
      1);
  claims.at_least("the same, batch 64, context 65536, 16 heads",
                  worst(
                      rows, [&](const Shape& s) { return longest(s, 16); }, speedup, false),
                  1.6);
  claims.at_least("TFLOP/s, batch 64, context 65536, 128 heads",
                  worst(
                      rows, [&](const Shape& s) { return longest(s, 128); },
                      [](const OnBothCaches& row) { return row.fp8.tflops; }, false),
                  520);
  return claims.all_reached();
}

}  // namespace headsplit::bench
