#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "kernels/problem.h"

namespace headsplit::kernels::split {

/// What a plan cuts into items: sequences of tokens, each met by the same number of packed rows
/// (work_item.h).
struct Sequences {
  int packed_rows = 1;                ///< of a sequence
  std::vector<std::int32_t> lengths;  ///< tokens of each sequence
  double token_bytes = 0;             ///< of the cache, of one token of one sequence
  int output_width = 0;               ///< values of an output row
  /// Tokens that some packed rows of a sequence attend to between them; null: all that there are.
  std::function<std::int32_t(int sequence, int row_begin, int row_count)> attended;
};

/// The sequences of a problem of attention, by its family.  Good while the problem lives.
Sequences sequences_of(const Problem& problem);

/// [batch, query_tokens], tokens that each query token attends to.
std::vector<std::int32_t> attended_tokens(const Problem& problem);

/// Fails: config (pages of 16, 32, 64 or 128 tokens only).  who: the sentence's begin, "x takes".
Result<void> check_page_tokens(std::string_view who, int page_tokens);

/// For each page, how many of its slots a request uses.
std::vector<std::int32_t> used_slots(const Problem& problem);

}  // namespace headsplit::kernels::split
