#pragma once

#include <string>

#include "core/result.h"

namespace headsplit::cli {

/// A verb's results to a file, or to stdout where the path is empty or "-".
/// Fails: io (names what cannot be written).
Result<void> write_out(const std::string& path, const std::string& text);

}  // namespace headsplit::cli
