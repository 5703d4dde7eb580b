#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace headsplit::cli {

/// "8192", "8K", "1M" (K = 1024, M = 1024 K): a whole number from 1 to `high`.
/// Fails: config, with the option's name.
Result<std::int64_t> count_from_text(const std::string& option, const std::string& text,
                                     std::int64_t high);

}  // namespace headsplit::cli
