#pragma once

#include <string>
#include <vector>

#include "tp/crossover.h"

namespace headsplit::cli {

/// What `headsplit crossover` is asked for.
struct CrossoverRequest {
  std::string model;
  std::string device;  ///< empty: none
  std::int64_t context = 4096;
  std::vector<int> tp_sizes;
};

/// Fails: config (unknown model or device, a model without a latent, an illegal tp), io.
Result<tp::Crossover> make_crossover(const CrossoverRequest& request);

/// The answer as tables for people.
std::string crossover_text(const tp::Crossover& answer);

}  // namespace headsplit::cli
