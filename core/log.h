#pragma once

#include <string>
#include <string_view>

namespace headsplit {

enum class LogLevel { debug, info, warn, error };

/// One line on stderr: `time level where event key=value ...`.  stdout is for results only.
/// spdlog stays behind this header: it does not compile in `.cu` files, and costs seconds a file.
void log_line(LogLevel level, std::string_view where, std::string_view event,
              std::string_view details = {});

/// Lines below this level are dropped.  Default: info, or $HEADSPLIT_LOG (debug|info|warn|error).
void set_log_level(LogLevel level);

/// " key=value" with quotes where the value has spaces; to be joined into `details`.
std::string log_field(std::string_view key, std::string_view value);

}  // namespace headsplit
