#include "cli/crossover.h"

#include <cstdio>
#include <memory>

#include "cli/count_text.h"
#include "cli/crossover_answer.h"
#include "cli/crossover_plot.h"
#include "cli/crossover_report.h"
#include "cli/model_options.h"
#include "cli/write_out.h"

namespace headsplit::cli {
namespace {

constexpr std::int64_t kContextMax = std::int64_t{1} << 30;

struct Options {
  ModelOptions model;
  std::vector<int> tp_sizes = {1, 2, 4, 8};
  std::vector<std::string> files;
  std::string out;
};

Result<void> print_crossover(const Options& options) {
  if (options.model.model.empty()) {
    return fail(ErrorKind::config, "--model: give a model, or --db with measured rows");
  }
  CrossoverRequest request{
      .model = options.model.model, .device = options.model.device, .tp_sizes = options.tp_sizes};
  request.context = TRY(count_from_text("--context", options.model.context, kContextMax));
  const tp::Crossover answer = TRY(make_crossover(request));
  std::string text;
  if (options.model.json) {
    text = json_text(answer) + "\n";
  } else if (options.model.csv) {
    text = csv_text(to_json(answer.regimes).as_array());
  } else {
    text = crossover_text(answer);
  }
  return write_out(options.out, text);
}

/// Options that were not given leave nothing out.
Result<void> print_measured(const Options& options, const CLI::App& verb) {
  if (!options.model.device.empty()) {
    return fail(ErrorKind::config, "--device: with --db the rows say on which device they are");
  }
  MeasuredRequest request{.files = options.files, .model = options.model.model};
  if (verb.count("--tp") > 0) request.tp_sizes = options.tp_sizes;
  if (verb.count("--context") > 0) {
    request.context = TRY(count_from_text("--context", options.model.context, kContextMax));
  }
  const auto groups = TRY(compare_crossovers(request));
  for (const std::string& note : lacking_notes(groups)) {
    std::fprintf(stderr, "%s\n", note.c_str());
  }
  if (options.out.ends_with(".svg")) return write_out(options.out, crossover_svg(groups));
  if (options.model.json) return write_out(options.out, json_text(groups) + "\n");
  return write_out(options.out, options.model.csv ? measured_csv(groups) : measured_text(groups));
}

}  // namespace

void add_crossover(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "crossover", "Query tokens from which another kernel is the better one, by formula or rows");
  verb->footer(
      "Without --device only FLOPs are compared.  --csv prints the table of regimes.\n"
      "With --db: where measured kernels change places, beside the formulas (docs/crossover.md);\n"
      "--model, --context and --tp then narrow the rows.\n"
      "Example: headsplit crossover --model deepseek-v3 --context 32K --device h200 --json\n"
      "         headsplit run configs/sweeps/crossover.yaml --db crossover.db\n"
      "         headsplit crossover --db crossover.db");
  add_model_options(*verb, options->model);
  verb->get_option("--model")->required(false);
  verb->add_option("--context", options->model.context,
                   "KV length of a request in tokens; 8192 or 8K")
      ->capture_default_str();
  verb->add_option(
          "--tp", options->tp_sizes,
          "Head-parallel sizes whose local heads are looked at; each must divide the heads")
      ->delimiter(',')
      ->capture_default_str();
  verb->add_option("--db", options->files,
                   "Measured rows: a database, or rows as .jsonl; may be given again");
  verb->add_option("--out", options->out,
                   "File to write (default: stdout); with --db, FILE.svg is a plot");
  verb->callback([options, verb, &outcome] {
    const auto done =
        options->files.empty() ? print_crossover(*options) : print_measured(*options, *verb);
    if (!done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
