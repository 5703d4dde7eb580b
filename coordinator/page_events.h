#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/service.h"
#include "coordinator/web/row_model.h"

namespace headsplit::coordinator {

/// What a follower may be told at a moment.
struct PageNews {
  std::vector<SweepStatus> sweeps;
  std::vector<AgentStatus> agents;
  const RowFeed& rows;
};

/// What one follower of GET /api/events was told, and so what is new to it:
///   event: sweeps   a list of SweepStatus, when it changed
///   event: agents   a list of AgentStatus, every second
///   event: rows     {"sweep": id, "columns": as /api/sweeps/{id}/columns}, new rows
///   event: stale    {}: rows were missed, read them anew
/// and a comment when nothing was said for a while, so that both ends see that the other lives.
class PageEvents {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// rows_seen: number of the latest row that the follower has by other means.
  explicit PageEvents(std::uint64_t rows_seen) : rows_seen_(rows_seen) {}

  /// Events due now, as text/event-stream; often empty.
  std::string due(const PageNews& news, TimePoint now);

 private:
  std::string sweeps_due(const PageNews& news);
  std::string agents_due(const PageNews& news, TimePoint now);
  std::string rows_due(const PageNews& news);

  std::uint64_t rows_seen_;
  std::string sweeps_told_;
  std::optional<TimePoint> agents_told_;
  std::optional<TimePoint> last_;
  RowModel model_;
};

}  // namespace headsplit::coordinator
