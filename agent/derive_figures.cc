#include "agent/derive_figures.h"

#include <algorithm>

#include "core/stats.h"

namespace headsplit::agent {
namespace {

using kernels::Arithmetic;

/// Below this share of each resource a kernel is held back by none.
constexpr double kLimiterShareMin = 0.5;

/// Of the issue slots, where a cache is converted and they were counted.
double dequantisation_share(Arithmetic arithmetic, const Row& row) {
  const bool converts = row.kv_dtype != KvDtype::bf16 && arithmetic == Arithmetic::stored;
  return converts ? row.issue_active_ratio.value_or(0) : 0;
}

std::optional<double> matmul_ceiling(Arithmetic arithmetic, const Ceilings& ceilings) {
  if (arithmetic == Arithmetic::e4m3) return ceilings.fp8_tflops;
  return ceilings.bf16_tflops ? ceilings.bf16_tflops : ceilings.fp32_tflops;
}

Limiter limiter_of(double memory, double tensor, double dequantisation) {
  const double most = std::max({memory, tensor, dequantisation});
  if (most < kLimiterShareMin) return Limiter::overhead;
  if (most == memory) return Limiter::memory;
  return most == tensor ? Limiter::tensor : Limiter::dequantisation;
}

void derive_intensity(const kernels::Work& work, Row& row) {
  if (work.hbm_bytes() > 0) row.intensity_model = work.flops / work.hbm_bytes();
  const auto bytes = counted_dram_bytes(row);
  if (bytes && *bytes > 0) {
    row.intensity_measured = work.flops / *bytes;
    row.intensity_source = Provenance::measured;
  }
}

void derive_roofline(const kernels::Work& work, const Ceilings& ceilings, Arithmetic arithmetic,
                     double seconds, Row& row) {
  row.read_ceiling_gbps = ceilings.read_gbps;
  row.matmul_ceiling_tflops = matmul_ceiling(arithmetic, ceilings);
  if (!row.read_ceiling_gbps || !row.matmul_ceiling_tflops) return;
  const double memory_rate = *row.read_ceiling_gbps * 1e9 * seconds;
  const double tensor_rate = *row.matmul_ceiling_tflops * 1e12 * seconds;
  row.roofline_fraction = std::max(work.hbm_bytes() / memory_rate, work.flops / tensor_rate);
  const double memory_share = counted_dram_bytes(row).value_or(work.hbm_bytes()) / memory_rate;
  const double tensor_share = row.tensor_ops.value_or(work.flops) / tensor_rate;
  row.limiter = limiter_of(memory_share, tensor_share, dequantisation_share(arithmetic, row));
}

}  // namespace

void summarise_samples(Row& row) {
  const Summary summary = summarise(row.samples_us);
  row.time_us = summary.median;
  row.time_p10_us = summary.p10;
  row.time_p90_us = summary.p90;
  row.time_noise = summary.noise;
  row.time_ci_low_us = summary.ci_low;
  row.time_ci_high_us = summary.ci_high;
}

void derive_figures(const kernels::Work& work, const Ceilings& ceilings, Arithmetic arithmetic,
                    Row& row) {
  row.flops = work.flops;
  row.kv_bytes_model = work.kv_bytes;
  row.qo_bytes_model = work.qo_bytes;
  row.hbm_bytes_model = work.hbm_bytes();
  derive_intensity(work, row);
  const double seconds = row.time_us.value_or(0) * 1e-6;
  if (seconds <= 0) return;
  row.tflops = work.flops / seconds * 1e-12;
  row.gbps = work.hbm_bytes() / seconds * 1e-9;
  derive_roofline(work, ceilings, arithmetic, seconds, row);
}

}  // namespace headsplit::agent
