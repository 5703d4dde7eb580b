#include "coordinator/answers/figure.h"

#include <algorithm>

namespace headsplit::coordinator {
namespace {

using Number = std::optional<double>;

Number ratio(Number above, Number below) {
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

double heads_x_tokens(const Row& row) {
  return static_cast<double>(row.local_heads) * row.query_tokens;
}

double cached_tokens(const Row& row) {
  return static_cast<double>(row.rank_batch) * static_cast<double>(row.rank_context);
}

/// Least time for the modelled bytes at the measured streaming read, in us.
Number memory_floor_us(const Row& row) {
  return ratio(row.hbm_bytes_model,
               row.read_ceiling_gbps ? Number(*row.read_ceiling_gbps * 1e3) : std::nullopt);
}

/// Of what the device can read in the time taken: DRAM bytes counted.
Number dram_share(const Row& row) {
  if (!row.read_ceiling_gbps) return std::nullopt;
  return ratio(counted_dram_bytes(row), *row.read_ceiling_gbps * 1e3 * row.time_us.value_or(0));
}

/// Least time for the useful FLOPs at the measured matrix rate, in us.
Number tensor_floor_us(const Row& row) {
  return ratio(row.flops,
               row.matmul_ceiling_tflops ? Number(*row.matmul_ceiling_tflops * 1e6) : std::nullopt);
}

/// How far the further of both floors is below the time taken.
Number time_over_lower_floor(const Row& row) {
  const Number memory = ratio(row.time_us, memory_floor_us(row));
  const Number tensor = ratio(row.time_us, tensor_floor_us(row));
  if (!memory || !tensor) return std::nullopt;
  return std::max(*memory, *tensor);
}

/// 1 or 0; none when nothing is known of the limiter.
Number is_limited_by(const Row& row, Limiter limiter) {
  if (row.limiter == Limiter::unknown) return std::nullopt;
  return row.limiter == limiter ? 1.0 : 0.0;
}

template <auto Member>
Number member(const Row& row) {
  if constexpr (std::is_convertible_v<decltype(row.*Member), double>) {
    return static_cast<double>(row.*Member);
  } else {
    return row.*Member;
  }
}

template <class Table>
auto find(const Table& table, const std::string& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const auto& entry) { return name == entry.name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = {
      {"tp", "head-parallel ranks", member<&Row::tp>},
      {"dp", "data-parallel ranks", member<&Row::dp>},
      {"cp", "context-parallel ranks", member<&Row::cp>},
      {"local_heads", "query heads of a rank", member<&Row::local_heads>},
      {"batch", "requests over the whole layout", member<&Row::batch>},
      {"query_tokens", "query tokens a request", member<&Row::query_tokens>},
      {"context", "cached tokens a request", member<&Row::context>},
      {"rank_batch", "requests of a rank", member<&Row::rank_batch>},
      {"rank_context", "cached tokens a request on a rank", member<&Row::rank_context>},
      {"heads_x_tokens", "local_heads x query_tokens",
       [](const Row& row) -> Number { return heads_x_tokens(row); }},
      {"time_us", "median time of a launch", member<&Row::time_us>},
      {"tflops", "useful TFLOP/s", member<&Row::tflops>},
      {"gbps", "modelled GB/s", member<&Row::gbps>},
      {"roofline_fraction", "least time on measured ceilings / time",
       member<&Row::roofline_fraction>},
      {"dram_bytes_read", "DRAM bytes counted", member<&Row::dram_bytes_read>},
      {"intensity_measured", "FLOP a DRAM byte counted", member<&Row::intensity_measured>},
      {"intensity_per_head", "intensity_measured / (local_heads x query_tokens)",
       [](const Row& row) { return ratio(row.intensity_measured, heads_x_tokens(row)); }},
      {"intensity_over_model", "intensity_measured / intensity_model",
       [](const Row& row) { return ratio(row.intensity_measured, row.intensity_model); }},
      {"reads_of_cache", "dram_bytes_read / kv_bytes_model",
       [](const Row& row) { return ratio(row.dram_bytes_read, row.kv_bytes_model); }},
      {"kv_bytes_per_token", "kv_bytes_model / cached tokens of the rank",
       [](const Row& row) { return ratio(row.kv_bytes_model, cached_tokens(row)); }},
      {"time_per_kv_byte", "time_us / kv_bytes_model, microseconds a cached byte",
       [](const Row& row) { return ratio(row.time_us, row.kv_bytes_model); }},
      {"read_fraction", "gbps / read_ceiling_gbps",
       [](const Row& row) { return ratio(row.gbps, row.read_ceiling_gbps); }},
      {"matmul_fraction", "tflops / matmul_ceiling_tflops",
       [](const Row& row) { return ratio(row.tflops, row.matmul_ceiling_tflops); }},
      {"time_over_lower_floor", "time_us / the lower of its memory and tensor floors",
       time_over_lower_floor},
      {"dram_share", "DRAM bytes counted / what could be read in time_us", dram_share},
      {"tensor_active_ratio", "share of the cycles in which tensor units work",
       member<&Row::tensor_active_ratio>},
      {"issue_active_ratio", "share of the issue slots used: conversion, softmax, addresses",
       member<&Row::issue_active_ratio>},
      {"memory_limited", "1 when the limiter is memory, else 0",
       [](const Row& row) { return is_limited_by(row, Limiter::memory); }},
      {"tensor_limited", "1 when the limiter is tensor, else 0",
       [](const Row& row) { return is_limited_by(row, Limiter::tensor); }},
      {"dequantisation_limited", "1 when the limiter is dequantisation, else 0",
       [](const Row& row) { return is_limited_by(row, Limiter::dequantisation); }},
  };
  return all;
}

const Figure* find_figure(const std::string& name) { return find(figures(), name); }

const std::vector<Word>& words() {
  static const std::vector<Word> all = {
      {"model", [](const Row& row) { return row.model; }},
      {"kernel", [](const Row& row) { return row.kernel; }},
      {"layout", [](const Row& row) { return row.layout; }},
      {"ranks", [](const Row& row) { return std::string(enum_name(row.ranks)); }},
      {"kv_dtype", [](const Row& row) { return std::string(enum_name(row.kv_dtype)); }},
      {"lengths", [](const Row& row) { return std::string(enum_name(row.lengths)); }},
      {"l2", [](const Row& row) { return std::string(enum_name(row.l2)); }},
      {"backend", [](const Row& row) { return row.backend; }},
      {"device", [](const Row& row) { return row.device; }},
  };
  return all;
}

const Word* find_word(const std::string& name) { return find(words(), name); }

}  // namespace headsplit::coordinator
