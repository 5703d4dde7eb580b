#include "agent/cpu_facts.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace headsplit::agent {
namespace {

/// The values of all "key : value" lines of that key.
std::vector<std::string_view> values_of(std::string_view text, std::string_view key) {
  std::vector<std::string_view> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::size_t key_end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    if (line.substr(0, key_end + 1) != key) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    values.push_back(begin == std::string_view::npos ? "" : line.substr(begin));
  }
  return values;
}

template <class T>
std::optional<T> leading_number(std::string_view text, std::string_view* rest = nullptr) {
  T number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{}) return std::nullopt;
  if (rest != nullptr) *rest = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

}  // namespace

std::optional<std::string> system_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string cpu_name(std::string_view cpuinfo) {
  const auto names = values_of(cpuinfo, "model name");
  return names.empty() ? "unknown CPU" : std::string(names.front());
}

std::optional<double> cpu_clock_mhz(std::string_view cpuinfo) {
  double sum_mhz = 0;
  int count = 0;
  for (const auto value : values_of(cpuinfo, "cpu MHz")) {
    if (const auto mhz = leading_number<double>(value)) {
      sum_mhz += *mhz;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum_mhz / count;
}

std::optional<std::int64_t> available_memory_bytes(std::string_view meminfo) {
  const auto values = values_of(meminfo, "MemAvailable");
  if (values.empty()) return std::nullopt;
  const auto kibibytes = leading_number<std::int64_t>(values.front());
  if (!kibibytes) return std::nullopt;
  return *kibibytes * 1024;
}

std::optional<std::int64_t> size_bytes(std::string_view text) {
  std::string_view unit;
  const auto number = leading_number<std::int64_t>(text, &unit);
  if (!number) return std::nullopt;
  if (unit.starts_with('K')) return *number << 10;
  if (unit.starts_with('M')) return *number << 20;
  if (unit.starts_with('G')) return *number << 30;
  return *number;
}

}  // namespace headsplit::agent
