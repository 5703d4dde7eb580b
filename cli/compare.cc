#include "cli/compare.h"

#include <charconv>
#include <memory>

#include "cli/write_out.h"
#include "coordinator/answers/comparison.h"
#include "coordinator/answers/row_file.h"

namespace headsplit::cli {
namespace {

using coordinator::Comparison;
using coordinator::Finding;

enum class Format { text, json, md, junit };
BOOST_DESCRIBE_ENUM(Format, text, json, md, junit)

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> sweeps;
  std::string fail_over;
  std::string noise_floor;
  std::string again;
  std::string format = "text";
  std::string out;
  bool json = false;
  bool across_machines = false;
};

/// "3%", "3 %" or "0.03", from 0 to 100 %.
Result<double> fraction_of(const std::string& text, const char* option) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "%") value /= 100;
  if (read.ec != std::errc{} || !(unit.empty() || unit == "%") || !(value >= 0 && value <= 1)) {
    return fail(ErrorKind::config, option, ": '", text, "'; legal: 3% or 0.03, from 0 to 100 %");
  }
  return value;
}

/// One side of the comparison.
struct Source {
  std::string file;
  std::string sweep;

  std::string name() const { return sweep.empty() ? file : file + " " + sweep; }
};

/// Two files, two sweeps, or both.
Result<std::vector<Source>> sources_of(const Options& options) {
  const std::size_t files = options.files.size();
  const std::size_t sweeps = options.sweeps.size();
  if (files < 1 || files > 2 || sweeps > 2 || (files == 1 && sweeps != 2)) {
    return fail(ErrorKind::config,
                "needs two sides: --db A --db B, or one --db with --sweep X --sweep Y");
  }
  std::vector<Source> sources;
  for (std::size_t i = 0; i < 2; ++i) {
    sources.push_back({options.files[std::min(i, files - 1)],
                       sweeps == 0 ? "" : options.sweeps[std::min(i, sweeps - 1)]});
  }
  return sources;
}

Result<Comparison> compare_sides(const Options& options) {
  const std::vector<Source> sources = TRY(sources_of(options));
  coordinator::CompareOptions how;
  how.name_a = sources[0].name();
  how.name_b = sources[1].name();
  how.across_machines = options.across_machines;
  if (!options.fail_over.empty()) {
    how.fail_over = TRY(fraction_of(options.fail_over, "--fail-over"));
  }
  if (!options.noise_floor.empty()) {
    how.noise_relative = TRY(fraction_of(options.noise_floor, "--noise-floor"));
  }
  if (!options.again.empty()) how.again = TRY(coordinator::read_row_file(options.again));
  const std::vector<Row> a = TRY(coordinator::read_row_file(sources[0].file, sources[0].sweep));
  const std::vector<Row> b = TRY(coordinator::read_row_file(sources[1].file, sources[1].sweep));
  return coordinator::compare(a, b, how);
}

std::string text_of(const Comparison& comparison, Format format) {
  switch (format) {
    case Format::text: return coordinator::comparison_text(comparison);
    case Format::json: return json_text(comparison) + "\n";
    case Format::md: return coordinator::comparison_markdown(comparison);
    case Format::junit: return coordinator::comparison_junit(comparison);
  }
  return {};
}

Result<ExitCode> run_compare(const Options& options) {
  const Format format = options.json ? Format::json : TRY(enum_from_name<Format>(options.format));
  const Comparison comparison = TRY(compare_sides(options));
  TRY(write_out(options.out, text_of(comparison, format)));
  switch (comparison.finding) {
    case Finding::no_regression: return ExitCode::ok;
    case Finding::regression: return ExitCode::failed;
    case Finding::cannot_tell: return ExitCode::usage;
  }
  return ExitCode::usage;
}

}  // namespace

void add_compare(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("compare", "Whether one run is slower than another");
  verb->footer(
      "Exit code: 0 no regression, 1 regression, 2 cannot tell or bad input.\n"
      "Example: headsplit compare --db yesterday.db --db today.db --fail-over 3%");
  verb->add_option("--db", options->files, "A, then B: a database, or rows as .jsonl")->required();
  verb->add_option("--sweep", options->sweeps, "Sweep of A, then of B (one: of both)");
  verb->add_option("--fail-over", options->fail_over,
                   "Slow-downs up to this, such as 3%, are no regression (default: any is)");
  verb->add_option("--noise-floor", options->noise_floor,
                   "Noise between runs (default: 1%, or what repeats say)");
  verb->add_option("--again", options->again, "A measured once more: its noise");
  verb->add_flag("--across-machines", options->across_machines,
                 "Compare although GPU, driver or CUDA differ");
  verb->add_option("--format", options->format, "text, json, md or junit")->capture_default_str();
  verb->add_flag("--json", options->json, "The same as --format json");
  verb->add_option("--out", options->out, "File to write (default: stdout)");
  verb->callback([options, &outcome] {
    auto done = run_compare(*options);
    if (!done) return report_error(done.error(), outcome);
    outcome.code = done.value();
  });
}

}  // namespace headsplit::cli
