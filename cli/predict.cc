#include "cli/predict.h"

#include <cstdio>
#include <memory>

#include "cli/measured_rows.h"
#include "cli/model_options.h"
#include "cli/predict_report.h"

namespace headsplit::cli {
namespace {

Result<void> predict(const ModelOptions& options, const PredictRequest& request) {
  PredictRequest full = request;
  full.point = TRY(point_from(options, request.point.kernel));
  full.device = options.device;
  full.measured = TRY(measured_rows(request.databases));
  const Prediction prediction = TRY(make_prediction(full));
  std::string text;
  if (options.json) {
    text = json_text(prediction.rows) + "\n";
  } else if (options.csv) {
    text = csv_text(prediction.rows);
  } else {
    text = prediction.text;
  }
  std::fputs(text.c_str(), stdout);
  return {};
}

void add_own_options(CLI::App& verb, PredictRequest& request) {
  verb.add_option("--kernel", request.point.kernel,
                  "Default: the decode kernel of the model (mla_dense for MLA).  mla_dense, "
                  "mla_dense_fp8_mma, mla_sparse, dsa_indexer, mla_expanded, kv_expand, mla_mixed, "
                  "mla_layer, mha_decode, gqa_decode or mqa_decode");
  verb.add_option("--tp", request.tp_sizes,
                  "Head-parallel sizes, each a layout of its own: 1,2,4,8.  Each must divide the "
                  "heads of the model; a wrong one lists those that do")
      ->delimiter(',');
  verb.add_option("--layout", request.layout_names,
                  "More layouts by name: tpN, dpN, cpN joined by x, such as tp4xdp2,cp8")
      ->delimiter(',');
  verb.add_option("--db", request.databases,
                  "Measured rows (a database, or .jsonl): those of this device correct times and "
                  "ceilings; may be given again");
  verb.add_option("--weights", request.weights,
                  "Storage of projection weights for mla_layer: bf16 or fp8")
      ->capture_default_str();
  verb.add_option(
          "--table", request.table,
          "layouts; layer (projections of a layer); kv-cache (cache of MHA, GQA, MQA, MLA); "
          "retrained (TPLA, GLA-2, MLRA-4 beside MLA: approximate or other models)")
      ->capture_default_str();
}

}  // namespace

void add_predict(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ModelOptions>();
  const auto request = std::make_shared<PredictRequest>();
  CLI::App* verb = app.add_subcommand(
      "predict", "Cost of each layout by formula: FLOPs, bytes, intensity, roofline time");
  verb->footer(
      "All figures are for one rank, the attention core of one layer (mla_layer: the whole "
      "layer).\n"
      "Example: headsplit predict --model deepseek-v3 --kernel mla_dense --device h200 --tp 1,2,4,8"
      "\n         --layout dp8,cp8,tp4xdp2 --batch 128 --context 8K --json");
  options->device = "h200";
  request->point.kernel.clear();
  add_model_options(*verb, *options);
  add_own_options(*verb, *request);
  add_shape_options(*verb, *options);
  verb->callback([options, request, &outcome] {
    if (auto done = predict(*options, *request); !done) report_error(done.error(), outcome);
  });
}

}  // namespace headsplit::cli
