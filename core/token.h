#pragma once

#include <string>

#include "core/result.h"

namespace headsplit {

/// The secret that clients of a coordinator share: first line of `file`; without a file
/// $HEADSPLIT_TOKEN; without that empty, which means none.  Fails: config (names the file).
Result<std::string> token_from(const std::string& file);

/// Whether two secrets are equal, in a time that does not depend on where they differ.
bool same_token(const std::string& a, const std::string& b);

}  // namespace headsplit
