#include "core/cuda_libraries.h"

#include <cstdlib>

#include "core/result.h"

namespace headsplit {

std::vector<std::string> cuda_library_names(const std::string& stem, int major) {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) roots.push_back(root);
  }
  roots.insert(roots.end(), {"/usr/local/cuda", "/opt/cuda"});

  std::vector<std::string> names;
  for (const std::string& file :
       {str("lib", stem, ".so.", major), str("lib", stem, ".so.", major - 1)}) {
    names.push_back(file);
    for (const std::string& root : roots) {
      for (const char* folder : {"/lib64/", "/extras/CUPTI/lib64/"}) {
        names.push_back(root + folder + file);
      }
    }
  }
  return names;
}

}  // namespace headsplit
