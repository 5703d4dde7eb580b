#pragma once

#include <string>

namespace headsplit {

/// A library or program of someone else: what was found, or why it was not.
struct Finding {
  bool found = false;
  std::string text;  ///< version and place, or what the loader said
};

/// NCCL as this machine's loader finds it: "NCCL 2.28.9, libnccl.so.2".
Finding find_nccl();

/// The MPI whose launcher can start agents: "Open MPI v4.1.4, /usr/bin/mpirun".  Nothing of ours
/// speaks MPI, so it is never linked.
Finding find_mpi();

}  // namespace headsplit
