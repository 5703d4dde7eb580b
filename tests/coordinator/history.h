#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/scheduler.h"

/// What happened in a run of the simulation, entry by entry, and which promises it breaks.
namespace headsplit::coordinator {

struct HistoryEntry {
  enum class Kind {
    planned,         ///< a point of a sweep; ranks: of its gang, 0 = none
    granted,         ///< the scheduler gave an attempt to an agent, or to all ranks of a gang
    lease_durable,   ///< the grant is on the disk
    lease_sent,      ///< a lease went on the wire to one session
    ready,           ///< a rank said so
    go_sent,         ///< one rank was told to begin
    attempt_closed,  ///< the scheduler ended the attempt: a row, or a reason
    row_durable,     ///< the one row of the point is on the disk
    answered,        ///< a report that settles its point got its answer on the wire
    ticked,          ///< the scheduler was told the time
    crashed,         ///< the coordinator; what was not durable is gone
    restored,        ///< what a restart found of a point: `done`, `epoch`, `resumed`
    ended,           ///< the sweep of a point is finished, by what its coordinator says
  };
  Kind kind = Kind::ticked;
  TimePoint at;
  std::string point;  ///< sweep/point
  std::int64_t epoch = 0;
  std::int64_t session = 0;
  int ranks = 0;
  Status status = Status::ok;
  Acceptance acceptance = Acceptance::accepted;
  TimePoint deadline;     ///< granted, go_sent: when the attempt must be over
  bool by_agent = false;  ///< row_durable: it was reported, not made by the coordinator
  bool done = false;
  bool resumed = false;
};

using History = std::vector<HistoryEntry>;

/// Broken promises: "P1" to "P7" -> what, and at which entry.
std::multimap<std::string, std::string> broken_promises(const History& history);

}  // namespace headsplit::coordinator
