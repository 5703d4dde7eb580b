#include "core/found_library.h"
#include "core/result.h"
#include "core/version.h"

namespace headsplit {

std::string version_text(const std::string& program) {
  const BuildFacts build = build_facts();
  const std::string cuda = build.cuda.empty()
                               ? "built without"
                               : str("built with ", build.cuda, " for ", build.cuda_architectures);
  const std::string nccl = build.nccl.empty() ? "built without" : "built with " + build.nccl;
  return str(program, " ", version(), " (", build_revision(), ")\n",  //
             "build: ", build.type, ", ", build.compiler, "\n",       //
             "CUDA:  ", cuda, "\n",                                   //
             "NCCL:  ", nccl, "; here: ", find_nccl().text, "\n",     //
             "MPI:   starts agents, not linked; here: ", find_mpi().text);
}

}  // namespace headsplit
