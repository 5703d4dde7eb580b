#include "cli/report.h"

#include <map>
#include <memory>
#include <set>

#include "cli/report_csv.h"
#include "cli/report_html.h"
#include "cli/report_markdown.h"
#include "cli/write_out.h"
#include "coordinator/answers/row_file.h"
#include "coordinator/store.h"
#include "core/nearest.h"

namespace headsplit::cli {
namespace {

using coordinator::ReportSweep;
using coordinator::SweepSummary;

enum class Format { html, md, json, csv };
BOOST_DESCRIBE_ENUM(Format, html, md, json, csv)

struct Options {
  std::vector<std::string> files;
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

/// The wanted sweeps of a database (all, without a name), and the names of all it has.
Result<void> add_sweeps_of_database(const std::string& path, const std::string& wanted,
                                    std::vector<ReportSweep>& chosen, std::set<std::string>& all) {
  const auto reader = TRY(coordinator::StoreReader::open(path));
  for (const SweepSummary& summary : TRY(reader->sweeps())) {
    all.insert(summary.name);
    if (!wanted.empty() && summary.name != wanted && summary.id != wanted) continue;
    coordinator::RowFilter filter;
    filter.sweep = summary.id;
    auto rows = TRY(reader->rows(filter));
    chosen.push_back({view_of(summary), std::move(rows)});
  }
  return {};
}

/// The same of a .jsonl file, whose rows are all that is known of their sweeps.
Result<void> add_sweeps_of_lines(const std::string& path, const std::string& wanted,
                                 std::vector<ReportSweep>& chosen, std::set<std::string>& all) {
  std::map<std::string, ReportSweep> by_name;
  for (Row& row : TRY(coordinator::read_row_file(path))) {
    all.insert(row.sweep);
    if (!wanted.empty() && row.sweep != wanted) continue;
    auto& [view, rows] = by_name[row.sweep];
    view.name = row.sweep;
    view.id = row.sweep;
    view.backend = row.backend;
    ++view.points;
    ++(row.status == Status::ok        ? view.ok
       : row.status == Status::failed  ? view.failed
       : row.status == Status::skipped ? view.skipped
                                       : view.cancelled);
    rows.push_back(std::move(row));
  }
  for (auto& [name, sweep] : by_name) chosen.push_back(std::move(sweep));
  return {};
}

Result<std::vector<ReportSweep>> read_sweeps(const Options& options) {
  std::vector<ReportSweep> chosen;
  std::set<std::string> all;
  for (const std::string& path : options.files) {
    TRY(coordinator::is_database(path) ? add_sweeps_of_database(path, options.sweep, chosen, all)
                                       : add_sweeps_of_lines(path, options.sweep, chosen, all));
  }
  if (!chosen.empty()) return chosen;
  const std::string files = joined(options.files);
  if (all.empty()) return fail(ErrorKind::config, files, ": holds no sweep yet");
  return fail(ErrorKind::config, files, ": no sweep '", options.sweep,
              "'; there are: ", joined({all.begin(), all.end()}));
}

std::string text_of(const std::vector<ReportSweep>& sweeps, Format format) {
  const Report value = report_of(sweeps);
  switch (format) {
    case Format::html: return coordinator::report_page(sweeps, summary_html(value));
    case Format::md: return report_markdown(value);
    case Format::json: return json_text(value) + "\n";
    case Format::csv: return report_csv(value);
  }
  return {};
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
  CLI::App* verb = app.add_subcommand(
      "report", "What a run showed: erosion, limiters, break-evens, what failed, machines");
  verb->footer("Example: headsplit report --db headsplit.db --sweep tp-erosion --out report.html");
  verb->add_option("--db", options->files,
                   "Database of finished or running sweeps, or rows as .jsonl; may be given again")
      ->required();
  verb->add_option("--sweep", options->sweep, "Name or id of one sweep (default: all)");
  verb->add_option("--out", options->out, "File to write (default: stdout)");
  verb->add_option(
      "--format", options->format,
      "html: the page with its data; md: tables; json: the same figures; csv: one line a layout of "
      "a problem (default: by the file's ending, else html)");
  verb->callback([options, &outcome] {
    if (auto done = report(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
