#include <cmath>
#include <fstream>

#include "bench/reliability.h"
#include "bench/running_coordinator.h"
#include "bench/scratch_folder.h"
#include "bench/stopwatch.h"
#include "core/stats.h"

namespace headsplit::bench {

Result<bool> scan() {
  const ScratchFolder folder = TRY(ScratchFolder::make(std::filesystem::current_path()));
  const std::string right = "0123456789abcdef0123456789abcdef";
  std::ofstream(folder / "token") << right << "\n";
  const std::vector<std::string> options = {"--token-file", folder / "token"};
  RunningCoordinator coordinator = TRY(RunningCoordinator::start(folder / "rows.db", options));
  cli::Server server = coordinator.server;
  // Turn by turn, so that what else the machine does falls on both alike.
  const auto request_us = [&](std::size_t right_bytes) -> Result<double> {
    server.token = right.substr(0, right_bytes) + std::string(right.size() - right_bytes, 'x');
    const Stopwatch watch;
    const auto reply = TRY(cli::http(server, "GET", "/api/sweeps"));
    if (reply.status != 401) return fail(ErrorKind::mismatch, "status ", reply.status);
    return watch.seconds() * 1e6;
  };
  for (int i = 0; i < 500; ++i) TRY(request_us(0));
  const double before_mib = coordinator.status_mib("VmRSS:");
  std::vector<double> all_wrong;
  std::vector<double> almost_right;
  for (int i = 0; i < 2000; ++i) {
    all_wrong.push_back(TRY(request_us(0)));
    almost_right.push_back(TRY(request_us(right.size() - 1)));
  }
  const double all_wrong_us = quantile(all_wrong, 0.5);
  const double almost_right_us = quantile(almost_right, 0.5);
  const double after_mib = coordinator.status_mib("VmRSS:");
  const double ratio = almost_right_us / all_wrong_us;
  const bool good = std::abs(ratio - 1) < 0.1 && after_mib - before_mib < 1;
  return tell(good, str("4500 requests with wrong tokens: all 401; median ", all_wrong_us,
                        " us when no byte is right, ", almost_right_us,
                        " us when only the last is wrong; memory grew by ", after_mib - before_mib,
                        " MiB"));
}

}  // namespace headsplit::bench
