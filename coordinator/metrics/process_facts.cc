#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "coordinator/metrics/telemetry.h"

namespace headsplit::coordinator {
namespace {

/// Fields of /proc/self/stat from the third one, `state`, on; the second, the program's name, may
/// hold spaces and parentheses.
std::vector<double> stat_fields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return {};
  std::istringstream rest(line.substr(name_end + 4));
  std::vector<double> fields = {0};  // the state is a letter
  for (double field = 0; rest >> field;) fields.push_back(field);
  return fields;
}

std::optional<double> boot_unix_s() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    double value = 0;
    if (words >> key >> value && key == "btime") return value;
  }
  return std::nullopt;
}

}  // namespace

/// Source: proc(5), counting fields from 1: utime 14, stime 15, starttime 22, rss 24.
ProcessFacts process_facts() {
  constexpr std::size_t kFirstField = 3;
  const std::vector<double> fields = stat_fields();
  if (fields.size() <= 24 - kFirstField) return {};
  const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessFacts facts;
  facts.cpu_s = (fields[14 - kFirstField] + fields[15 - kFirstField]) / ticks_per_s;
  facts.resident_bytes = fields[24 - kFirstField] * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (const auto boot = boot_unix_s()) {
    facts.start_unix_s = *boot + fields[22 - kFirstField] / ticks_per_s;
  }
  return facts;
}

}  // namespace headsplit::coordinator
