#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace headsplit::agent {

using Environment = std::map<std::string, std::string>;

/// The environment of this process.
Environment process_environment();

/// This machine's host name, and an id that differs between machines (of the installation or of
/// the boot).
struct Machine {
  std::string hostname;
  std::string id;
};
Machine this_machine();

/// Who an agent is among the agents of one launch.
struct Identity {
  std::string node;
  int rank = 0;          ///< within the launch; 0 when started by hand
  int local_rank = 0;    ///< within the node; picks the GPU
  std::string launcher;  ///< open-mpi | slurm | mpich | pmix, or empty when started by hand

  bool operator==(const Identity&) const = default;
};

/// From the variables of the launcher (Open MPI, Slurm, MPICH, PMIx), else rank 0.  The node is
/// the short host name; where that says nothing ("localhost"), "node-" and a hash of the machine.
/// Fails: config (a launcher's variable is not a number).
Result<Identity> identity_from(const Environment& environment, const Machine& machine);

/// "node3-1": the default name of an agent.
std::string agent_name(const Identity& identity);

/// Value of CUDA_VISIBLE_DEVICES for the worker, so that it sees one GPU: entry `local_rank` of
/// the list that is in force, or the number itself where there is none.  A list of one was cut to
/// size by the launcher and stays.  Fails: config (more ranks than GPUs in the list).
Result<std::string> visible_device(const Environment& environment, const Identity& identity);

/// The processors of worker `local_rank` when each worker has `threads` of them: neighbours of
/// `allowed`, shared round-robin when there are more workers than room.  allowed: not empty.
std::vector<int> processor_share(const std::vector<int>& allowed, int threads, int local_rank);

}  // namespace headsplit::agent
