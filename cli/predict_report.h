#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/row.h"

namespace headsplit::cli {

/// What `headsplit predict` is asked for.
struct PredictRequest {
  Point point;  ///< its layout is not used
  std::string device = "h200";
  std::vector<int> tp_sizes;
  std::vector<std::string> layout_names;
  std::string weights = "bf16";
  std::string table = "layouts";
  std::vector<Row> measured;           ///< correct the times; empty: none
  std::vector<std::string> databases;  ///< where they came from
};

/// The answer, for machines and for people.
struct Prediction {
  json::array rows;  ///< one object a layout (or a line of the other tables)
  std::string text;  ///< the same as a table, with notes
};

/// Fails: config (unknown model, device, kernel, layout or table: with the nearest names; a layout
/// the model cannot be split by), io.
Result<Prediction> make_prediction(const PredictRequest& request);

}  // namespace headsplit::cli
