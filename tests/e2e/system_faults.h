#pragma once

#include <cstdint>

namespace headsplit::e2e {

/// What faulty_system does to a process, in a file that a test and the process map.
struct SystemFaults {
  std::int64_t sync_delay_ms = 0;   ///< of fsync and fdatasync
  std::int64_t write_errno = 0;     ///< of pwrite: ENOSPC, EROFS; 0 = it works
  std::int64_t clock_offset_s = 0;  ///< of the wall clock; the monotonic one is left alone
};

}  // namespace headsplit::e2e
