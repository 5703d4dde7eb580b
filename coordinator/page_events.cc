#include "coordinator/page_events.h"

#include "coordinator/web/row_columns.h"

namespace headsplit::coordinator {
namespace {

constexpr std::size_t kRowsAtOnce = 500;
constexpr auto kAgentsInterval = std::chrono::milliseconds(950);
constexpr auto kSilenceMax = std::chrono::seconds(5);

std::string event_text(const char* name, const std::string& data) {
  return str("event: ", name, "\ndata: ", data, "\n\n");
}

}  // namespace

std::string PageEvents::due(const PageNews& news, TimePoint now) {
  std::string text = sweeps_due(news) + agents_due(news, now) + rows_due(news);
  if (text.empty() && last_ && now - *last_ >= kSilenceMax) text = ": alive\n\n";
  if (!text.empty() || !last_) last_ = now;
  return text;
}

std::string PageEvents::sweeps_due(const PageNews& news) {
  std::string data = json_text(news.sweeps);
  if (data == sweeps_told_) return "";
  sweeps_told_ = std::move(data);
  return event_text("sweeps", sweeps_told_);
}

std::string PageEvents::agents_due(const PageNews& news, TimePoint now) {
  if (agents_told_ && now - *agents_told_ < kAgentsInterval) return "";
  agents_told_ = now;
  return event_text("agents", json_text(news.agents));
}

std::string PageEvents::rows_due(const PageNews& news) {
  const auto items = news.rows.after(rows_seen_, kRowsAtOnce);
  if (!items) {
    rows_seen_ = news.rows.latest();
    return event_text("stale", "{}");
  }
  std::map<std::string, std::vector<Row>> by_sweep;
  for (const RowFeed::Item* item : *items) {
    by_sweep[item->sweep].push_back(item->row);
    rows_seen_ = item->number;
  }
  std::string text;
  for (const auto& [sweep, rows] : by_sweep) {
    const json::object data = {{"sweep", sweep},
                               {"columns", columns_of(rows, model_.times_us(rows))}};
    text += event_text("rows", json::serialize(data));
  }
  return text;
}

}  // namespace headsplit::coordinator
