#include "cli/report.h"

#include <memory>
#include <sstream>

#include "cli/report_markdown.h"
#include "cli/write_out.h"
#include "coordinator/erosion.h"
#include "coordinator/export.h"
#include "coordinator/store.h"
#include "coordinator/web/report_page.h"

namespace headsplit::cli {
namespace {

using coordinator::ReportSweep;
using coordinator::SweepSummary;

enum class Format { html, md, json, csv };
BOOST_DESCRIBE_ENUM(Format, html, md, json, csv)

struct Options {
  std::string database;
  std::string sweep;
  std::string out;
  std::string format;
};

coordinator::SweepView view_of(const SweepSummary& summary) {
  coordinator::SweepView view;
  view.id = summary.id;
  view.name = summary.name;
  view.backend = summary.backend;
  view.points = summary.points;
  view.ok = summary.ok;
  view.failed = summary.failed;
  view.skipped = summary.skipped;
  view.cancelled = summary.cancelled;
  view.pending = summary.points - view.done();
  return view;
}

Error no_such_sweep(const Options& options, const std::vector<SweepSummary>& all) {
  std::string names;
  for (const auto& summary : all) names += (names.empty() ? "" : ", ") + summary.name;
  if (names.empty()) return fail(ErrorKind::config, options.database, ": holds no sweep yet");
  return fail(ErrorKind::config, options.database, ": no sweep '", options.sweep,
              "'; there are: ", names);
}

/// The wanted sweeps (all, without a name) with their rows.
Result<std::vector<ReportSweep>> read_sweeps(const Options& options) {
  const auto reader = TRY(coordinator::StoreReader::open(options.database));
  const std::vector<SweepSummary> all = TRY(reader->sweeps());
  std::vector<ReportSweep> chosen;
  for (const SweepSummary& summary : all) {
    const bool named = summary.name == options.sweep || summary.id == options.sweep;
    if (!options.sweep.empty() && !named) continue;
    coordinator::RowFilter filter;
    filter.sweep = summary.id;
    chosen.push_back({view_of(summary), TRY(reader->rows(filter))});
  }
  if (chosen.empty()) return no_such_sweep(options, all);
  return chosen;
}

std::string text_of(const std::vector<ReportSweep>& sweeps, Format format) {
  if (format == Format::html) return coordinator::report_page(sweeps);
  std::vector<Row> rows;
  for (const ReportSweep& one : sweeps) rows.insert(rows.end(), one.rows.begin(), one.rows.end());
  if (format == Format::csv) {
    std::ostringstream out;
    coordinator::export_rows(out, rows, coordinator::ExportFormat::csv);
    return out.str();
  }
  const auto cells = coordinator::erosion(rows);
  if (format == Format::json) return json_text(cells) + "\n";
  return report_markdown(sweeps, cells);
}

/// The named format; without a name that of the file's ending, else the page.
Result<Format> format_of(const Options& options) {
  if (!options.format.empty()) return enum_from_name<Format>(options.format);
  const std::size_t dot = options.out.rfind('.');
  if (dot == std::string::npos) return Format::html;
  const auto by_ending = enum_from_name<Format>(options.out.substr(dot + 1));
  return by_ending ? *by_ending : Format::html;
}

Result<void> report(const Options& options) {
  const Format format = TRY(format_of(options));
  const auto sweeps = TRY(read_sweeps(options));
  return write_out(options.out, text_of(sweeps, format));
}

}  // namespace

void add_report(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("report", "Plots and tables of a database in one self-contained file");
  verb->footer("Example: headsplit report --db headsplit.db --sweep tp-erosion --out report.html");
  verb->add_option("--db", options->database, "Database of finished or running sweeps")->required();
  verb->add_option("--sweep", options->sweep, "Name or id of one sweep (default: all)");
  verb->add_option("--out", options->out, "File to write (default: stdout)");
  verb->add_option(
      "--format", options->format,
      "html: the page with its data; md: tables; json: the same figures; csv: the rows "
      "(default: by the file's ending, else html)");
  verb->callback([options, &outcome] {
    if (auto done = report(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
