#pragma once

#include "agent/device.h"
#include "core/result.h"

namespace headsplit::bench {

/// Writing bf16 tokens as rows of the FP8 cache: a line a number of tokens, with the bytes that it
/// reads and writes a second.  Fails: cuda.
Result<void> measure_kv_write(agent::Device& device);

}  // namespace headsplit::bench
