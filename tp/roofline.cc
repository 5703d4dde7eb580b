#include "tp/roofline.h"

namespace headsplit::tp {

Rates rates_of(const Device& device) {
  constexpr double kPerTera = 1e6;  // 1 TFLOP/s in FLOP/us
  constexpr double kPerGiga = 1e3;  // 1 GB/s in byte/us
  Rates rates;
  rates.bf16_flop_per_us = device.bf16_tflops * kPerTera;
  rates.fp8_flop_per_us = device.fp8_tflops.value_or(device.bf16_tflops) * kPerTera;
  rates.byte_per_us = device.hbm_gbps * kPerGiga;
  rates.floor_us = device.kernel_floor_us;
  if (device.fp8_dequant_cycles_per_token) {
    // The published figure is for a token of 512 FP8 values on one SM.
    constexpr double kValuesPerToken = 512;
    const double cycles_per_us = device.sm_count * device.clock_mhz;
    rates.dequant_value_per_us =
        kValuesPerToken * cycles_per_us / *device.fp8_dequant_cycles_per_token;
  }
  return rates;
}

Roofline roofline(const Work& work, const Rates& rates) {
  Roofline line;
  line.memory_us = work.hbm_bytes() / rates.byte_per_us;
  line.tensor_us = (work.flops - work.fp8_flops) / rates.bf16_flop_per_us +
                   work.fp8_flops / rates.fp8_flop_per_us;
  if (rates.dequant_value_per_us) {
    line.dequant_us = work.dequant_values / *rates.dequant_value_per_us;
  }
  line.overhead_us = rates.floor_us;
  line.time_us = line.memory_us;
  line.limiter = Limiter::memory;
  const auto raise = [&](double time_us, Limiter limiter) {
    if (time_us <= line.time_us) return;
    line.time_us = time_us;
    line.limiter = limiter;
  };
  raise(line.tensor_us, Limiter::tensor);
  raise(line.dequant_us, Limiter::dequantisation);
  raise(line.overhead_us, Limiter::overhead);
  return line;
}

}  // namespace headsplit::tp
