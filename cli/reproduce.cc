#include "cli/reproduce.h"

#include <memory>

#include "cli/write_out.h"
#include "coordinator/answers/reproduction.h"
#include "coordinator/answers/row_file.h"
#include "coordinator/store.h"

namespace headsplit::cli {
namespace {

using coordinator::Sweep;

struct Options {
  std::string row;
  std::string file;
  std::string sweep;
  bool json = false;
};

/// The sweep that a row of a database is of; none for rows of a .jsonl file.
Result<std::optional<Sweep>> original_sweep(const Options& options, const Row& row) {
  if (!coordinator::is_database(options.file)) return std::optional<Sweep>();
  const auto reader = TRY(coordinator::StoreReader::open(options.file));
  for (const auto& summary : TRY(reader->sweeps())) {
    if (summary.name != row.sweep && summary.id != row.sweep) continue;
    const auto rows = TRY(reader->rows({.sweep = summary.id, .point_id = row.point_id}));
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) continue;
    const auto content = TRY(reader->content(summary.id));
    if (!content) continue;
    return std::optional<Sweep>(TRY(coordinator::sweep_from_yaml(*content, options.file)));
  }
  return std::optional<Sweep>();
}

Result<void> reproduce_row(const Options& options) {
  const std::vector<Row> rows = TRY(coordinator::read_row_file(options.file, options.sweep));
  const Row row = TRY(coordinator::find_row(rows, options.row));
  const std::optional<Sweep> original = TRY(original_sweep(options, row));
  const auto reproduction = TRY(coordinator::reproduce(row, original));
  return write_out("", options.json ? json_text(reproduction) + "\n"
                                    : coordinator::reproduction_text(reproduction));
}

}  // namespace

void add_reproduce(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("reproduce", "The commands that measure a row again");
  verb->footer("Example: headsplit reproduce 628443c3 --db headsplit.db | sh");
  verb->add_option("row", options->row, "Point id of the row, or how it begins")->required();
  verb->add_option("--db", options->file, "Database, or rows as .jsonl")->required();
  verb->add_option("--sweep", options->sweep, "Only this sweep (name or plan id)");
  verb->add_flag("--json", options->json, "The same as JSON");
  verb->callback([options, &outcome] {
    if (auto done = reproduce_row(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
