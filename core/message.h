#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ceilings.h"
#include "core/gang.h"
#include "core/json.h"
#include "core/lease.h"
#include "core/row.h"
#include "core/version.h"

/// What agents and the coordinator say to each other: one JSON object a WebSocket text message,
/// {"kind": "<struct name in lower case>", ...members}.  Unknown keys are ignored.
namespace headsplit {

/// What one agent is and what it can run.
struct AgentInfo {
  std::string name;  ///< unique while connected: node and local rank, or as the user says
  std::string node;
  int rank = 0;         ///< within the launch (mpirun, srun); 0 when started by hand
  int local_rank = 0;   ///< within the node; picks the GPU
  std::string backend;  ///< cpu | cuda
  std::string device;   ///< model name of the CPU or GPU
  std::string gpu_uuid;
  std::string driver;
  std::string cuda;
  std::string build;
  std::int64_t memory_bytes = 0;  ///< free for inputs, measured at start
  int process_id = 0;
  int numa_node = -1;  ///< of its processors or its GPU; -1 = unknown
  std::string
      nvlink_domain;  ///< agents with the same one reach each other over NVLink; empty = none

  bool operator==(const AgentInfo&) const = default;
};
BOOST_DESCRIBE_STRUCT(AgentInfo, (),
                      (name, node, rank, local_rank, backend, device, gpu_uuid, driver, cuda, build,
                       memory_bytes, process_id, numa_node, nvlink_domain))

/// Agent, first message.
struct Hello {
  int protocol_major = kProtocolMajor;
  int protocol_minor = kProtocolMinor;
  AgentInfo agent;
  std::vector<Row> unacknowledged;  ///< rows that earlier connections left without an answer

  bool operator==(const Hello&) const = default;
};
BOOST_DESCRIBE_STRUCT(Hello, (), (protocol_major, protocol_minor, agent, unacknowledged))

/// Coordinator's answer to Hello.  `session` names this connection for good: a restarted agent is
/// a new session, so nothing of the old one can be mistaken for it.
struct Welcome {
  std::int64_t session = 0;
  double heartbeat_s = 1;       ///< how often the agent must speak
  double silence_limit_s = 10;  ///< after this much silence the agent counts as lost

  bool operator==(const Welcome&) const = default;
};
BOOST_DESCRIBE_STRUCT(Welcome, (), (session, heartbeat_s, silence_limit_s))

/// Coordinator: go away, and why (another protocol version, a name already connected).
struct Refused {
  std::string reason;

  bool operator==(const Refused&) const = default;
};
BOOST_DESCRIBE_STRUCT(Refused, (), (reason))

/// Agent, every heartbeat_s: alive, and the state of its device where known.
struct Heartbeat {
  std::string working_on;  ///< point id, or empty when idle
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<double> energy_j;
  std::optional<bool> throttled;     ///< the clock is held below what was asked for
  std::optional<Ceilings> ceilings;  ///< once, after they were measured; and again when anew
  bool spool_full = false;           ///< it has no room for more rows, and wants no lease

  bool operator==(const Heartbeat&) const = default;
};
BOOST_DESCRIBE_STRUCT(Heartbeat, (),
                      (working_on, sm_clock_mhz, memory_clock_mhz, power_w, temperature_c, energy_j,
                       throttled, ceilings, spool_full))

/// Coordinator: run this; or prepare it, when it is a rank of a gang.
struct Grant {
  Lease lease;

  bool operator==(const Grant&) const = default;
};
BOOST_DESCRIBE_STRUCT(Grant, (), (lease))

/// Agent: the outcome of a lease.
struct Report {
  Row row;

  bool operator==(const Report&) const = default;
};
BOOST_DESCRIBE_STRUCT(Report, (), (row))

/// Agent: its rank of a gang has its inputs, is verified, and waits for the go.
struct Ready {
  std::string sweep;
  std::string point_id;
  std::int64_t epoch = 0;
  int rank = 0;
  RankContact contact;

  bool operator==(const Ready&) const = default;
};
BOOST_DESCRIBE_STRUCT(Ready, (), (sweep, point_id, epoch, rank, contact))

/// Coordinator, when every rank of a gang is ready: begin.
struct Go {
  std::string sweep;
  std::string point_id;
  std::int64_t epoch = 0;
  std::vector<RankContact> contacts;  ///< by rank

  bool operator==(const Go&) const = default;
};
BOOST_DESCRIBE_STRUCT(Go, (), (sweep, point_id, epoch, contacts))

/// How the coordinator took a row.
enum class Acceptance { accepted, duplicate, stale, invalid };
BOOST_DESCRIBE_ENUM(Acceptance, accepted, duplicate, stale, invalid)

/// Coordinator, after the row is durable (or refused): the agent may forget it.
struct Ack {
  std::string point_id;
  std::int64_t epoch = 0;
  Acceptance acceptance = Acceptance::accepted;
  std::string reason;
  std::string sweep;  ///< of the lease: two sweeps may share a point

  bool operator==(const Ack&) const = default;
};
BOOST_DESCRIBE_STRUCT(Ack, (), (point_id, epoch, acceptance, reason, sweep))

/// Coordinator: stop working on this attempt; its result is no longer wanted.
struct Cancel {
  std::string point_id;
  std::int64_t epoch = 0;
  std::string sweep;

  bool operator==(const Cancel&) const = default;
};
BOOST_DESCRIBE_STRUCT(Cancel, (), (point_id, epoch, sweep))

using AgentMessage = std::variant<Hello, Heartbeat, Report, Ready>;
using CoordinatorMessage = std::variant<Welcome, Refused, Grant, Ack, Cancel, Go>;

/// Text of a message, and back.  Fails: protocol (unknown kind, wrong type; names the field).
std::string message_text(const AgentMessage& message);
std::string message_text(const CoordinatorMessage& message);
Result<AgentMessage> agent_message_from(std::string_view text);
Result<CoordinatorMessage> coordinator_message_from(std::string_view text);

}  // namespace headsplit
