#include "bench/peer_times.h"

#include <fstream>
#include <sstream>

namespace headsplit::bench {
namespace {

constexpr const char* kColumns = "batch,query_tokens,local_heads,context,time_us";

}  // namespace

Result<std::vector<PeerTime>> read_peer_times(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorKind::io, "cannot read ", path);
  std::vector<PeerTime> times;
  std::string line;
  bool in_table = false;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    if (!in_table) {
      if (line != kColumns) {
        return fail(ErrorKind::config, path, ":", number, ": the columns must be ", kColumns);
      }
      in_table = true;
      continue;
    }
    PeerTime time;
    char comma = 0;
    std::istringstream fields(line);
    fields >> time.batch >> comma >> time.query_tokens >> comma >> time.local_heads >> comma >>
        time.context >> comma >> time.time_us;
    if (!fields || time.time_us <= 0) {
      return fail(ErrorKind::config, path, ":", number, ": five numbers expected, not '", line,
                  "'");
    }
    times.push_back(time);
  }
  if (times.empty()) return fail(ErrorKind::config, path, ": no rows");
  return times;
}

}  // namespace headsplit::bench
