#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/gang.h"
#include "core/message.h"

namespace headsplit::coordinator {

/// What a gang needs.
struct GangWish {
  int size = 1;
  const GangOptions* options = nullptr;
  std::string backend;                                  ///< empty = any
  std::int64_t memory_bytes = 0;                        ///< on each rank
  bool may_span = true;                                 ///< a packed gang may use several places
  const std::vector<std::string>* failed_on = nullptr;  ///< agents to take last
};

/// Who forms the gang.  All ranks at once or none: an agent never waits in a half gang.
struct GangChoice {
  std::vector<std::int64_t> sessions;  ///< by rank; empty when it cannot be formed now
  /// Cannot be formed of all who are connected, and why; empty: it only has to wait for busy ones.
  std::string shortage;
};

/// Connected agents by what may run together and where they are.  Agents of one gang share backend,
/// build, driver and CUDA: ranks that differ would measure different things.
class AgentPool {
 public:
  /// The agent is idle at first.
  void add(std::int64_t session, const AgentInfo& info);
  void remove(std::int64_t session);
  void set_idle(std::int64_t session, bool idle);

  std::size_t idle_count() const { return idle_count_; }
  /// Agents of that backend, whatever they do.
  int connected(const std::string& backend) const;
  /// Text that is equal for agents that may run together.
  static std::string kind_of(const AgentInfo& info);

  GangChoice choose(const GangWish& wish) const;

 private:
  struct Member {
    AgentInfo info;
    bool idle = true;
  };
  using Members = std::map<std::int64_t, Member>;
  /// Of one NVLink domain, or of one node.
  struct Place {
    Members members;
    int idle = 0;
  };
  struct Kind {
    std::string backend;
    std::map<std::string, Place> places;
    int connected = 0;
  };
  struct Address {
    std::string kind;
    std::string place;
  };
  using Candidates = std::vector<std::pair<std::int64_t, const AgentInfo*>>;

  static Candidates idle_of(const Place& place, const GangWish& wish);
  static int fitting(const Place& place, const GangWish& wish);
  static Candidates packed(const Kind& kind, const GangWish& wish);
  static Candidates spread(const Kind& kind, const GangWish& wish);
  Candidates listed(const GangWish& wish, std::string& shortage) const;
  std::string shortage_of(const GangWish& wish, int fitting_max) const;

  std::map<std::string, Kind> kinds_;
  std::map<std::int64_t, Address> addresses_;
  std::map<std::string, std::int64_t> sessions_;  ///< by agent name
  std::size_t idle_count_ = 0;
};

}  // namespace headsplit::coordinator
