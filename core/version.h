#pragma once

#include <string>

namespace headsplit {

/// Version of the wire protocol between agents and the coordinator.  Another major is refused;
/// a lower minor is understood (unknown keys are ignored, missing ones default).
constexpr int kProtocolMajor = 1;
constexpr int kProtocolMinor = 2;

/// "0.1.0".
std::string version();

/// Revision of the sources this was built from ("1a2b3c4", "+" when the tree was changed).
std::string build_revision();

/// What this was built with, as CMake found it.
struct BuildFacts {
  std::string type;                ///< "Release"
  std::string compiler;            ///< "GNU 12.2.0"
  std::string cuda;                ///< "13.0.88"; empty = no CUDA kernels
  std::string cuda_architectures;  ///< "80, 90a"
  std::string nccl;                ///< "2.28.9"; empty = no gangs of GPUs
};
BuildFacts build_facts();

/// What `program --version` prints: the version first, then the build, CUDA, NCCL and MPI, a line
/// each, with what of the last two is found on this machine.  No newline at the end.
std::string version_text(const std::string& program);

}  // namespace headsplit
