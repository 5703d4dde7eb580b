#pragma once

#include "core/log.h"

namespace headsplit {

/// Whether lines of that level are written at all: details that take time to word can be left out.
bool log_wanted(LogLevel level);

}  // namespace headsplit
