#pragma once

#include <string>

#include "core/result.h"

/// What docs/reliability.md promises in figures.  Each part prints what it measured and tells
/// whether its limits were kept.
namespace headsplit::bench {

/// Prints a line; gives `reached`.
bool tell(bool reached, const std::string& what);

/// Simulated schedules, HEADSPLIT_SCHEDULES of them (10,000), from seed HEADSPLIT_SEED (1) on.
Result<bool> schedules();
/// A thousand agents that together send 5,000 rows a second for a minute.
Result<bool> thousand_agents();
/// From kill -9 with a million rows to serving.
Result<bool> recovery();
/// What a scan with wrong tokens gets.
Result<bool> scan();

}  // namespace headsplit::bench
