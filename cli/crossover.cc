#include "cli/crossover.h"

#include <cstdio>
#include <memory>

#include "cli/count_text.h"
#include "cli/crossover_report.h"
#include "cli/model_options.h"

namespace headsplit::cli {
namespace {

struct Options {
  ModelOptions model;
  std::vector<int> tp_sizes = {1, 2, 4, 8};
};

Result<void> print_crossover(const Options& options) {
  constexpr std::int64_t kContextMax = std::int64_t{1} << 30;
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
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace

void add_crossover(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "crossover", "Query tokens from which another kernel is the better one, by formula");
  verb->footer(
      "Without --device only FLOPs are compared.  --csv prints the table of regimes.\n"
      "Example: headsplit crossover --model deepseek-v3 --context 32K --device h200 --json");
  add_model_options(*verb, options->model);
  verb->add_option("--context", options->model.context,
                   "KV length of a request in tokens; 8192 or 8K")
      ->capture_default_str();
  verb->add_option(
          "--tp", options->tp_sizes,
          "Head-parallel sizes whose local heads are looked at; each must divide the heads")
      ->delimiter(',')
      ->capture_default_str();
  verb->callback([options, &outcome] {
    if (auto done = print_crossover(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
