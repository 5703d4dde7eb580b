#include "core/dynamic_library.h"

#include <dlfcn.h>

#include <filesystem>

namespace headsplit {

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names) {
  std::string reason = "no library named";
  bool reason_is_of_a_file = false;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      return DynamicLibrary(name, handle);
    }
    // What the loader says of a file that is there (wrong architecture, a missing dependency) tells
    // more than that another one is not.
    const bool is_file = std::filesystem::exists(name);
    if (&name == &names.front() || (is_file && !reason_is_of_a_file)) reason = dlerror();
    reason_is_of_a_file = reason_is_of_a_file || is_file;
  }
  return fail(ErrorKind::io, reason);
}

void* DynamicLibrary::find(const char* symbol) const { return dlsym(handle_.get(), symbol); }

Error DynamicLibrary::missing(const char* symbol) const {
  return fail(ErrorKind::io, name_, ": no symbol '", symbol, "'");
}

void DynamicLibrary::Close::operator()(void* handle) const { dlclose(handle); }

}  // namespace headsplit
