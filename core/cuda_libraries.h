#pragma once

#include <string>
#include <vector>

namespace headsplit {

/// Names under which a library of the CUDA toolkit may be found, best first: by the loader's own
/// search, then in the toolkit's folders ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /opt/cuda).
/// stem: "cupti", "cublasLt".  major: of the version that our headers are from; an older one that
/// has all the symbols will do.
std::vector<std::string> cuda_library_names(const std::string& stem, int major);

}  // namespace headsplit
