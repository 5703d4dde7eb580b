#include "cli/erosion_table.h"

#include <algorithm>
#include <cstdio>

#include "cli/attention_cells.h"
#include "cli/gang_table.h"
#include "cli/table.h"
#include "coordinator/attention_table.h"
#include "coordinator/erosion.h"

namespace headsplit::cli {
namespace {

/// Empty unless a problem was run with several structures of attention.
std::string attention_text(const std::vector<coordinator::ErosionCell>& cells) {
  const auto lines = coordinator::attention_table(cells);
  if (lines.empty()) return "";
  return "Arithmetic intensity by structure. " + attention_note() + "\n\n" +
         table_text(attention_cells(lines));
}

}  // namespace

ExitCode print_result(const std::vector<Row>& rows, bool json) {
  const auto cells = coordinator::erosion(rows);
  if (json) {
    std::printf("%s\n", json_text(cells).c_str());
  } else {
    if (!cells.empty()) std::printf("%s", coordinator::erosion_text(cells).c_str());
    for (const std::string& table :
         {attention_text(cells), gang_table(rows), collective_table(rows)}) {
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
