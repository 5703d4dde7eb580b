#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/row.h"

namespace headsplit {

/// The rows of one real `headsplit run` on this machine's CPU, in a folder of its own that goes
/// afterwards.  sweep: the text of a sweep file.  Fails: io (what became of the run).
Result<std::vector<Row>> swept_rows(const std::string& sweep,
                                    const std::vector<std::string>& options = {});

}  // namespace headsplit
