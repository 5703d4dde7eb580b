#pragma once

#include <cstdint>

#include "agent/device.h"
#include "core/ceilings.h"

namespace headsplit::agent {

/// How much work a measurement of ceilings does.  0 chooses by the device: enough bytes to be far
/// beyond the last-level cache, and a matmul that fills the chip.
struct CeilingSizes {
  std::int64_t read_bytes = 0;
  int matmul_size = 0;  ///< M = N = K
  int launches = 0;
};

/// What this device reaches at best, measured now on random data: streaming read, copy, and matmul
/// (GPU: bf16 and FP8 through cuBLASLt; CPU: sgemm through OpenBLAS, both loaded at run time).
/// Under a second, plus loading the library.  Clocks and power are read while the matmul runs.  A
/// ceiling that cannot be measured is absent, with the reason.
/// Fails: cuda (the device itself fails), config (a CUDA device in a build without CUDA).
Result<Ceilings> measure_ceilings(Device& device, CeilingSizes sizes = {});

/// Environment variable with the ceilings (JSON) that an earlier worker of the agent has measured.
constexpr const char* kKnownCeilingsVariable = "HEADSPLIT_KNOWN_CEILINGS";

/// Those ceilings, if they are of this very device, complete and less than ten minutes old: a
/// worker that replaces another one need not measure them again.  text: JSON, or empty.
std::optional<Ceilings> still_good(const std::string& text, const DeviceInfo& device,
                                   double now_unix_s);

/// The parts of one backend; `ceilings` arrives with its identity filled in.
Result<void> measure_cpu_ceilings(Device& device, CeilingSizes sizes, Ceilings& ceilings);
Result<void> measure_cuda_ceilings(Device& device, CeilingSizes sizes, Ceilings& ceilings);

/// Note the state of the device in the middle of a matmul.
void note_state(const DeviceState& state, Ceilings& ceilings);

/// Add one more reason for something absent.
void add_reason(Ceilings& ceilings, const std::string& reason);

}  // namespace headsplit::agent
