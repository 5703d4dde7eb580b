#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// A published time of one rank's attention.
struct ReferenceTime {
  int local_heads = 0;
  int batch = 0;
  int query_tokens = 1;
  std::int64_t context = 0;
  KvDtype kv_dtype = KvDtype::bf16;
  int top_k = 0;  ///< of a sparse kernel
  double time_us = 0;

  bool operator==(const ReferenceTime&) const = default;
};

struct ReferenceTable {
  std::string name;  ///< file name, for people
  std::vector<ReferenceTime> times;
};

/// A CSV file: lines of `#` are its source, then a heading with at least local_heads, batch,
/// context and time_us; query_tokens (else 1), kv_dtype (else bf16) and top_k (else 0) if they are
/// there; other columns are ignored, except that lines whose `kernel` is not a dense MLA kernel's
/// (`dense...` or `mla_dense`) are left out.  Fails: config (names file, line and column).
Result<ReferenceTable> read_reference_table(const std::filesystem::path& path);

}  // namespace headsplit::coordinator
