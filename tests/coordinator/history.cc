#include "tests/coordinator/history.h"

#include <optional>
#include <set>

namespace headsplit::coordinator {
namespace {

using Kind = HistoryEntry::Kind;
using Attempt = std::pair<std::string, std::int64_t>;

struct PointHistory {
  int ranks = 0;
  std::int64_t latest_lease = 0;
  std::optional<HistoryEntry> row;  ///< on the disk
  bool row_of_earlier_run = false;
  int ends = 0;
};

/// Reads a history once, from its beginning to its end.
class Checker {
 public:
  std::multimap<std::string, std::string> broken;

  void read(const HistoryEntry& entry) {
    ++position_;
    PointHistory& point = points_[entry.point];
    const Attempt attempt{entry.point, entry.epoch};
    switch (entry.kind) {
      case Kind::planned: point.ranks = entry.ranks; break;
      case Kind::granted: open_[attempt] = entry.deadline; break;
      case Kind::lease_durable: lease_durable(entry, point); break;
      case Kind::lease_sent: lease_sent(entry, point); break;
      case Kind::ready: ready_[attempt].insert(entry.session); break;
      case Kind::go_sent: go_sent(entry, point); break;
      case Kind::attempt_closed: close(entry); break;
      case Kind::row_durable: row_durable(entry, point); break;
      case Kind::answered: answered(entry, point); break;
      case Kind::ticked: last_tick_ = entry.at; break;
      case Kind::crashed: crash(); break;
      case Kind::restored: restored(entry, point); break;
      case Kind::ended: ++point.ends; break;
    }
    if (entry.kind != Kind::ticked && entry.kind != Kind::attempt_closed) check_deadlines();
  }

  void finish() {
    for (const auto& [name, point] : points_) {
      if (point.ranks < 0 || name.empty()) continue;
      if (!point.row) violated("P3", name + " has no row at the end");
      if (point.ends == 0) violated("P3", name + ": its sweep does not end");
    }
    for (const auto& [attempt, deadline] : open_) {
      violated("P6", attempt.first + ": an attempt is open at the end");
    }
  }

 private:
  void violated(const std::string& promise, const std::string& what) {
    broken.emplace(promise, str(what, " (entry ", position_, ")"));
  }

  void lease_durable(const HistoryEntry& entry, PointHistory& point) {
    if (point.row) violated("P7", entry.point + " is granted although it has its row");
    if (entry.epoch <= point.latest_lease) {
      violated("P4", str(entry.point, ": epoch ", entry.epoch, " is granted again"));
    }
    point.latest_lease = entry.epoch;
    durable_.insert({entry.point, entry.epoch});
  }

  void lease_sent(const HistoryEntry& entry, const PointHistory& point) {
    const Attempt attempt{entry.point, entry.epoch};
    if (durable_.count(attempt) == 0) {
      violated("P4", entry.point + ": a lease is sent before it is durable");
    }
    const bool new_session = sent_[attempt].insert(entry.session).second;
    const auto most = static_cast<std::size_t>(std::max(1, point.ranks));
    if (!new_session || sent_[attempt].size() > most) {
      violated(point.ranks > 0 ? "P5" : "P4", entry.point + ": two leases of one seat are sent");
    }
  }

  void go_sent(const HistoryEntry& entry, const PointHistory& point) {
    const Attempt attempt{entry.point, entry.epoch};
    if (ready_[attempt].size() != static_cast<std::size_t>(point.ranks)) {
      violated("P5", entry.point + ": ranks are told to go before all are ready");
    }
    if (open_.count(attempt) != 0) open_[attempt] = entry.deadline;
  }

  void close(const HistoryEntry& entry) {
    // A row the coordinator makes has an epoch of its own, and closes whatever was open.
    for (auto at = open_.begin(); at != open_.end();) {
      at = at->first.first == entry.point && at->first.second <= entry.epoch ? open_.erase(at)
                                                                             : std::next(at);
    }
  }

  /// Whoever is told the time ends what is past its deadline there and then.
  void check_deadlines() {
    for (auto at = open_.begin(); at != open_.end();) {
      if (at->second > last_tick_) {
        ++at;
        continue;
      }
      violated("P6", str(at->first.first, ": epoch ", at->first.second, " outlives its deadline"));
      at = open_.erase(at);
    }
  }

  void row_durable(const HistoryEntry& entry, PointHistory& point) {
    if (point.row) violated("P2", entry.point + " gets a second row");
    if (entry.by_agent && entry.epoch != point.latest_lease) {
      violated("P4", str(entry.point, ": the row of epoch ", entry.epoch,
                         " is stored, the latest is ", point.latest_lease));
    }
    if (!entry.by_agent && entry.epoch < point.latest_lease) {
      violated("P4", entry.point + ": a row below the latest epoch is stored");
    }
    const bool whole = point.ranks == 0 || entry.status != Status::ok || entry.ranks == point.ranks;
    if (!whole) violated("P5", str(entry.point, ": a row of ", entry.ranks, " ranks is stored"));
    point.row = entry;
    point.row_of_earlier_run = false;
  }

  void answered(const HistoryEntry& entry, const PointHistory& point) {
    const bool taken =
        entry.acceptance == Acceptance::accepted || entry.acceptance == Acceptance::duplicate;
    if (taken && (!point.row || point.row->epoch != entry.epoch)) {
      violated("P1", entry.point + ": a row is acknowledged that is not on the disk");
    }
    if (point.ranks > 0) return;  // each rank has its own answer
    const auto [first, added] = answers_.emplace(Attempt{entry.point, entry.epoch}, taken);
    if (!added && first->second != taken) {
      violated("P2", entry.point + ": a repeated report gets another answer");
    }
  }

  void crash() {
    open_.clear();
    for (auto& [name, point] : points_) point.ends = 0;
  }

  void restored(const HistoryEntry& entry, PointHistory& point) {
    const bool reopened = point.row && point.row->status == Status::cancelled && !entry.done;
    if (reopened) point.row.reset();
    if (point.row && (!entry.done || entry.epoch != point.row->epoch)) {
      violated("P1", entry.point + ": a durable row is gone after a restart");
    }
    if (entry.done && !point.row) violated("P2", entry.point + ": a restart finds a row of nobody");
    if (entry.epoch < point.latest_lease) {
      violated("P4", entry.point + ": a restart forgets an epoch");
    }
    point.row_of_earlier_run = point.row.has_value();
    if (entry.done && !entry.resumed) violated("P7", entry.point + " is not marked as resumed");
  }

  std::map<std::string, PointHistory> points_;
  std::map<Attempt, TimePoint> open_;  ///< deadlines of what the scheduler believes to be running
  std::set<Attempt> durable_;
  std::map<Attempt, std::set<std::int64_t>> sent_;
  std::map<Attempt, std::set<std::int64_t>> ready_;
  std::map<Attempt, bool> answers_;  ///< whether the first answer took the report
  TimePoint last_tick_;
  std::size_t position_ = 0;
};

}  // namespace

std::multimap<std::string, std::string> broken_promises(const History& history) {
  Checker checker;
  for (const HistoryEntry& entry : history) checker.read(entry);
  checker.finish();
  return std::move(checker.broken);
}

}  // namespace headsplit::coordinator
