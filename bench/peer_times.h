#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace headsplit::bench {

/// One shape of mla_dense with a time that somebody else's kernel took.
struct PeerTime {
  int batch = 0;
  int query_tokens = 0;
  int local_heads = 0;
  std::int64_t context = 0;
  double time_us = 0;
};

/// Rows of a table of configs/reference: lines that begin with # are comments, then the columns
/// batch, query_tokens, local_heads, context, time_us.  Fails: io, config (names the line).
Result<std::vector<PeerTime>> read_peer_times(const std::string& path);

}  // namespace headsplit::bench
