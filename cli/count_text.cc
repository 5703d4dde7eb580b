#include "cli/count_text.h"

#include <charconv>

namespace headsplit::cli {

Result<std::int64_t> count_from_text(const std::string& option, const std::string& text,
                                     std::int64_t high) {
  const auto wrong = [&] {
    return fail(ErrorKind::config, option, " '", text, "': expected a whole number from 1 to ",
                high, ", such as 8192 or 8K");
  };
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, count);
  if (code != std::errc{} || count < 1) return wrong();
  const std::string unit(stop, end);
  std::int64_t factor = 1;
  if (unit == "K" || unit == "k") factor = 1 << 10;
  if (unit == "M" || unit == "m") factor = 1 << 20;
  if ((!unit.empty() && factor == 1) || count > high / factor) return wrong();
  return count * factor;
}

}  // namespace headsplit::cli
