#include "cli/advise.h"

#include <cstdio>
#include <memory>

#include "cli/advise_report.h"
#include "cli/measured_rows.h"
#include "cli/model_options.h"

namespace headsplit::cli {
namespace {

struct Options {
  ModelOptions model;
  AdviseRequest request;
};

Result<void> print_advice(const Options& options) {
  AdviseRequest request = options.request;
  request.point = TRY(point_from(options.model, ""));
  request.device = options.model.device;
  request.rows = TRY(measured_rows(request.databases));
  const tp::Advice advice = TRY(make_advice(request));
  std::string text;
  if (options.model.json) {
    text = json_text(advice) + "\n";
  } else if (options.model.csv) {
    text = csv_text(to_json(advice.ranking).as_array());
  } else {
    text = advice_text(advice, request.shown);
  }
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace

void add_advise(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  AdviseRequest& request = options->request;
  CLI::App* verb = app.add_subcommand(
      "advise", "Rank layouts and kernels for a model, a GPU and a load, and say what flips it");
  verb->footer(
      "Times are of the attention layers of one decode step.  --csv prints the ranking.\n"
      "Example: headsplit advise --model kimi-k2 --device h200 --gpus 8 --batch 64 --context 32K\n"
      "         --query-tokens 2");
  options->model.device = "h200";
  add_model_options(*verb, options->model);
  verb->add_option("--gpus", request.gpus, "GPUs that share the attention: 1 to 1024")
      ->capture_default_str();
  add_shape_options(*verb, options->model);
  verb->add_option("--weights", request.weights, "Storage of attention weights: bf16 or fp8")
      ->capture_default_str();
  verb->add_option("--reserve-gb", request.reserve_gb,
                   "Memory of each GPU that is not for attention: experts, activations; in GB")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--db", request.databases,
                   "Measured rows (a database, or .jsonl): those of this device correct the model; "
                   "may be given again");
  verb->add_option("--top", request.shown, "Lines of the ranking to print; 0 prints all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->callback([options, &outcome] {
    if (auto done = print_advice(*options); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
