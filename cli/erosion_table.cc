#include "cli/erosion_table.h"

#include <algorithm>
#include <cstdio>

#include "cli/gang_table.h"
#include "coordinator/erosion.h"

namespace headsplit::cli {

ExitCode print_result(const std::vector<Row>& rows, bool json) {
  const auto cells = coordinator::erosion(rows);
  if (json) {
    std::printf("%s\n", json_text(cells).c_str());
  } else {
    if (!cells.empty()) std::printf("%s", coordinator::erosion_text(cells).c_str());
    for (const std::string& table : {gang_table(rows), collective_table(rows)}) {
      if (!table.empty()) std::printf("\n%s", table.c_str());
    }
  }
  for (const std::string& note : coordinator::erosion_notes(cells)) {
    std::fprintf(stderr, "%s\n", note.c_str());
  }
  const bool failed =
      std::ranges::any_of(rows, [](const Row& row) { return row.status == Status::failed; });
  return failed ? ExitCode::failed : ExitCode::ok;
}

}  // namespace headsplit::cli
