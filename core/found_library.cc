#include "core/found_library.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/dynamic_library.h"

namespace headsplit {
namespace {

/// The program's path, by $PATH.
std::string program_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string path = std::string(rest.substr(0, end)) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

Finding find_nccl() {
  std::vector<std::string> names{"libnccl.so.2"};
  for (const char* root : {"/usr/local/cuda/lib64/", "/usr/lib/x86_64-linux-gnu/"}) {
    names.push_back(std::string(root) + "libnccl.so.2");
  }
  const auto library = DynamicLibrary::open(names);
  if (!library) return {false, library.error().message};
  int (*get_version)(int*) = nullptr;
  int version = 0;
  if (!library->bind("ncclGetVersion", get_version) || get_version(&version) != 0) {
    return {false, library->name() + " does not tell its version"};
  }
  return {true, str("NCCL ", version / 10000, ".", version / 100 % 100, ".", version % 100, ", ",
                    library->name())};
}

Finding find_mpi() {
  const std::string program = program_path("mpirun");
  const auto library = DynamicLibrary::open({"libmpi.so.40", "libmpi.so.12", "libmpi.so"});
  if (!library) return {false, library.error().message};
  if (program.empty()) return {false, library->name() + ", but no mpirun on the PATH"};
  int (*get_version)(char*, int*) = nullptr;
  std::array<char, 8192> text{};  // MPI_MAX_LIBRARY_VERSION_STRING is at most this
  int length = 0;
  std::string version = library->name();
  if (library->bind("MPI_Get_library_version", get_version) &&
      get_version(text.data(), &length) == 0) {
    version = text.data();
    version.erase(std::min(version.find_first_of(",\n"), version.size()));
  }
  return {true, version + ", " + program};
}

}  // namespace headsplit
