#pragma once

#include <span>
#include <string>
#include <string_view>

/// What reads bytes of strangers.  A target takes any bytes, and ends the process when the code
/// under test breaks a rule of its own (CHECK, sanitizer, an exception that nobody expects).
namespace headsplit::fuzz {

struct Target {
  const char* name;  ///< also the folder of its corpus: tests/fuzz/corpus/NAME
  void (*run)(std::string_view bytes);
};

/// sweep_yaml, config_json, wire, http, database.
std::span<const Target> targets();
/// Null when there is none of that name.
const Target* find_target(std::string_view name);

/// A connection's bytes, to the real server side: HTTP, and WebSocket frames after an upgrade.
void run_http(std::string_view bytes);
/// The first byte picks a cell of a stored sweep; the rest replaces it, and is read back.
void run_database(std::string_view bytes);

}  // namespace headsplit::fuzz
