#pragma once

#include <string>
#include <vector>

#include "tp/advice.h"

namespace headsplit::cli {

/// What `headsplit advise` is asked for.
struct AdviseRequest {
  Point point;
  std::string device = "h200";
  int gpus = 8;
  std::string weights = "fp8";
  double reserve_gb = 0;
  std::vector<Row> rows;               ///< measured; empty: none
  std::vector<std::string> databases;  ///< where they came from
  std::size_t shown = 12;
};

/// Fails: config (unknown model or device, nothing possible; a database without rows of the
/// device), io.
Result<tp::Advice> make_advice(const AdviseRequest& request);

/// The advice for people.  shown: lines of the ranking, 0 for all.
std::string advice_text(const tp::Advice& advice, std::size_t shown);

}  // namespace headsplit::cli
