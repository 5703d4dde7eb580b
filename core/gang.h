#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

/// Values of gangs: the agents that run one point together, a rank each.
namespace headsplit {

/// How context-parallel ranks share the pages of a request: page p on rank p mod cp, so that every
/// rank keeps about the same as a request grows; or a run of neighbours each.
enum class PageOrder { interleaved, blocked };
BOOST_DESCRIBE_ENUM(PageOrder, interleaved, blocked)

/// How context-parallel ranks merge their partial outputs by their log-sum-exp.
enum class Merge { all_to_all, gather_scatter };
BOOST_DESCRIBE_ENUM(Merge, all_to_all, gather_scatter)

/// pack: all ranks in one NVLink domain or node where one is large enough, else in as few as can
/// be.  spread: over as many nodes as there are.  listed: rank r on the r-th agent of a list.
enum class Placement { pack, spread, listed };
BOOST_DESCRIBE_ENUM(Placement, pack, spread, listed)

/// The `gang` block of a sweep.
struct GangOptions {
  Placement placement = Placement::pack;
  std::vector<std::string> agents;  ///< of placement `listed`: names, by rank
  PageOrder pages = PageOrder::interleaved;
  Merge merge = Merge::all_to_all;

  bool operator==(const GangOptions&) const = default;
};
BOOST_DESCRIBE_STRUCT(GangOptions, (), (placement, agents, pages, merge))

/// Where the other ranks reach one rank.  `key` is drawn anew by each rank for each attempt and
/// travels through the coordinator alone: who shows it belongs to the gang.
struct RankContact {
  std::string address;
  int port = 0;
  std::string key;
  std::string nccl_id;  ///< of communicators kept from earlier gangs of CUDA ranks, with commas

  bool operator==(const RankContact&) const = default;
};
BOOST_DESCRIBE_STRUCT(RankContact, (), (address, port, key, nccl_id))

/// A rank's place in a gang.  size 0: no gang; one agent plays rank 0 alone.
struct GangSeat {
  int size = 0;
  int rank = 0;
  PageOrder pages = PageOrder::interleaved;
  Merge merge = Merge::all_to_all;
  int hidden = 0;       ///< width of the model: of a token in the all-reduce after the projection
  std::string address;  ///< of this agent, for the others; its supervisor fills it in

  bool operator==(const GangSeat&) const = default;
};
BOOST_DESCRIBE_STRUCT(GangSeat, (), (size, rank, pages, merge, hidden, address))

}  // namespace headsplit
