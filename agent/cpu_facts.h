#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headsplit::agent {

/// The text of a file under /proc or /sys; absent where it cannot be read.
std::optional<std::string> system_text(const std::string& path);

/// "model name" of /proc/cpuinfo, or "unknown CPU" (not every architecture has one).
std::string cpu_name(std::string_view cpuinfo);

/// Mean of the "cpu MHz" lines of /proc/cpuinfo; absent where there are none.
std::optional<double> cpu_clock_mhz(std::string_view cpuinfo);

/// "MemAvailable" of /proc/meminfo in bytes.
std::optional<std::int64_t> available_memory_bytes(std::string_view meminfo);

/// A size as sysfs writes it: "49152K", "32M", "512".
std::optional<std::int64_t> size_bytes(std::string_view text);

}  // namespace headsplit::agent
