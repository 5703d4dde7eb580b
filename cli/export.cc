#include "cli/export.h"

#include <iostream>
#include <memory>

#include "coordinator/export.h"
#include "coordinator/store.h"

namespace headsplit::cli {
namespace {

struct Options {
  std::string database = "headsplit.db";
  std::string format = "csv";
  coordinator::RowFilter filter;
};

Result<void> export_database(const Options& options) {
  const auto format = TRY(enum_from_name<coordinator::ExportFormat>(options.format));
  const auto reader = TRY(coordinator::StoreReader::open(options.database));
  const auto rows = TRY(reader->rows(options.filter));
  coordinator::export_rows(std::cout, rows, format);
  std::cout.flush();
  if (!std::cout) return fail(ErrorKind::io, "stdout: cannot write all ", rows.size(), " rows");
  return {};
}

}  // namespace

void add_export(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("export", "Rows of a database as CSV or JSON lines");
  verb->footer("Example: headsplit export --db erosion.db --format jsonl --kernel mla_dense");
  verb->add_option("--db", options->database, "Database; a running coordinator may be writing it")
      ->capture_default_str();
  verb->add_option("--format", options->format, "csv (every member a column) or jsonl")
      ->check(CLI::IsMember({"csv", "jsonl"}))
      ->capture_default_str();
  verb->add_option("--sweep", options->filter.sweep, "Only this sweep (name or plan id)");
  verb->add_option("--kernel", options->filter.kernel, "Only this kernel");
  verb->add_option("--layout", options->filter.layout, "Only this layout, such as tp4xdp2");
  verb->callback([options, &outcome] {
    if (auto done = export_database(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
