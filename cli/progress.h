#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"

namespace headsplit::cli {

/// How far a sweep is; what the bar and `status` show.
struct Progress {
  std::string sweep;
  std::int64_t done = 0;  ///< points with a terminal row
  std::int64_t total = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t resumed = 0;  ///< done before this run began
  double elapsed_s = 0;      ///< of this run

  bool operator==(const Progress&) const = default;
};
BOOST_DESCRIBE_STRUCT(Progress, (), (sweep, done, total, failed, skipped, resumed, elapsed_s))

/// Points a second of this run, those resumed left out; 0 before the first.
double rate_per_s(const Progress& progress);

/// Seconds left at this rate; negative when it cannot be told yet.
double eta_s(const Progress& progress);

/// "1:05", "2:03:04": minutes and seconds, hours when needed.
std::string clock_text(double seconds);

/// One line of at most `columns` characters:
/// "tp-erosion [#####-----] 24/48  1.3/s  ETA 0:18  1 failed".
std::string progress_line(const Progress& progress, int columns);

/// The line on stderr: rewritten in place on a terminal, else a line every 10 s and at the end.
class ProgressPrinter {
 public:
  ProgressPrinter();

  void show(const Progress& progress);
  /// Leaves the last state on a line of its own.
  void finish(const Progress& progress);

 private:
  bool terminal_ = false;
  int columns_ = 80;
  double last_shown_s_ = -1e9;
};

}  // namespace headsplit::cli
