#include "core/log_wanted.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <boost/json.hpp>

#include <cstdlib>

namespace headsplit {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warn: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto created = std::make_shared<spdlog::logger>(
        "headsplit", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    const char* wanted = std::getenv("HEADSPLIT_LOG");
    created->set_level(wanted == nullptr ? spdlog::level::info : spdlog::level::from_str(wanted));
    return created;
  }();
  return *instance;
}

}  // namespace

void log_line(LogLevel level, std::string_view where, std::string_view event,
              std::string_view details) {
  logger().log(spdlog_level(level), "{} {}{}", where, event, details);
}

bool log_wanted(LogLevel level) { return logger().should_log(spdlog_level(level)); }

void set_log_level(LogLevel level) { logger().set_level(spdlog_level(level)); }

std::string log_field(std::string_view key, std::string_view value) {
  const bool quoted = value.empty() || value.find_first_of(" \t\n\"") != std::string_view::npos;
  const std::string text =
      quoted ? boost::json::serialize(boost::json::string(value)) : std::string(value);
  return fmt::format(" {}={}", key, text);
}

}  // namespace headsplit
