#include "cli/gang_table.h"

#include <algorithm>
#include <cstdio>

#include "cli/table.h"

namespace headsplit::cli {
namespace {

using Figure = std::optional<double>;

std::string text_of(const char* format, Figure value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

std::string microseconds(Figure us) { return text_of(us && *us < 100 ? "%.1f" : "%.0f", us); }

bool is_gang(const Row& row) {
  return row.status == Status::ok && row.ranks == Ranks::real && row.message_bytes == 0;
}

/// The emulated row of a real row's point; null when there is none.
const Row* emulated_of(const Row& real, const std::vector<Row>& rows) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    RowPoint point = row;
    point.ranks = Ranks::real;
    point.rank_context =
        real.rank_context;  // of a real rank whole pages, of an emulated one tokens
    return row.status == Status::ok && row.ranks == Ranks::emulated &&
           point == static_cast<const RowPoint&>(real);
  });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> gang_line(const Row& row, const Row* emulated) {
  Figure difference;
  if (emulated != nullptr && row.attention_us) {
    difference = 100 * (*row.attention_us / *emulated->time_us - 1);
  }
  return {str(row.batch),
          str(row.query_tokens),
          str(row.context),
          row.layout,
          str(row.parts.size()),
          microseconds(emulated == nullptr ? Figure() : emulated->time_us),
          microseconds(row.attention_us),
          text_of("%+.1f%%", difference),
          microseconds(row.collective_us),
          microseconds(row.time_us),
          microseconds(row.overlapped_us),
          microseconds(row.exposed_us),
          microseconds(row.skew_us),
          text_of("%.2f", row.imbalance)};
}

}  // namespace

std::string gang_table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"batch", "query tokens", "context", "layout", "ranks", "emulated us", "attention us",
       "difference", "collectives us", "in sequence us", "overlapped us", "exposed us", "skew us",
       "imbalance"}};
  for (const Row& row : rows) {
    if (is_gang(row)) lines.push_back(gang_line(row, emulated_of(row, rows)));
  }
  return lines.size() == 1 ? "" : table_text(lines);
}

std::string collective_table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"collective", "ranks", "bytes", "time us", "algbw GB/s", "busbw GB/s"}};
  for (const Row& row : rows) {
    if (row.message_bytes == 0 || row.status != Status::ok) continue;
    lines.push_back({row.kernel, str(row.parts.size()), str(row.message_bytes),
                     microseconds(row.time_us), text_of("%.3f", row.algbw_gbps),
                     text_of("%.3f", row.busbw_gbps)});
  }
  return lines.size() == 1 ? "" : table_text(lines);
}

}  // namespace headsplit::cli
