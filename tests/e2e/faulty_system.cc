// Preloaded into a coordinator: a disk that is slow, full or read-only, and a clock that jumps, as
// a test says in a file that both map.  $HEADSPLIT_FAULTS names it; without it nothing changes.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tests/e2e/system_faults.h"

namespace {

using headsplit::e2e::SystemFaults;

const volatile SystemFaults& faults() {
  static const volatile SystemFaults* const mapped = [] {
    static const SystemFaults none;
    const char* path = std::getenv("HEADSPLIT_FAULTS");
    const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return &none;
    void* memory = ::mmap(nullptr, sizeof(SystemFaults), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return memory == MAP_FAILED ? &none : static_cast<const SystemFaults*>(memory);
  }();
  return *mapped;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

void wait_for_disk() {
  const auto delay_ms = faults().sync_delay_ms;
  if (delay_ms > 0) ::usleep(static_cast<useconds_t>(delay_ms * 1000));
}

}  // namespace

extern "C" {

int fsync(int file) {
  wait_for_disk();
  static const auto call = real<int (*)(int)>("fsync");
  return call(file);
}

int fdatasync(int file) {
  wait_for_disk();
  static const auto call = real<int (*)(int)>("fdatasync");
  return call(file);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  if (const int error = static_cast<int>(faults().write_errno); error != 0) {
    errno = error;
    return -1;
  }
  static const auto call = real<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return call(file, bytes, count, at);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  return pwrite64(file, bytes, count, at);
}

int clock_gettime(clockid_t clock, timespec* now) {
  static const auto call = real<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int code = call(clock, now);
  if (code == 0 && clock == CLOCK_REALTIME) now->tv_sec += faults().clock_offset_s;
  return code;
}

int gettimeofday(timeval* __restrict now, void* __restrict zone) {
  static const auto call = real<int (*)(timeval*, void*)>("gettimeofday");
  const int code = call(now, zone);
  if (code == 0) now->tv_sec += faults().clock_offset_s;
  return code;
}
}
