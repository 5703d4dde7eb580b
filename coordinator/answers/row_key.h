#pragma once

#include <span>
#include <string>
#include <vector>

#include "coordinator/answers/figure.h"

namespace headsplit::coordinator {

/// Axes of a point that a claim may vary: tp, dp, cp, layout, query_tokens, context, batch, kernel,
/// kv_dtype, model.
const std::vector<std::string>& axis_names();

/// The value of an axis as text: "8", "tp4xdp2", "fp8".
std::string axis_text(const Row& row, const std::string& axis);

/// What a row measured on which GPU with which build, without the named axes and without the
/// repeat: rows of equal keys differ in nothing else.
std::string key_without(const Row& row, std::span<const std::string> axes);

/// What a row measured, wherever and with whatever build, without the repeat.
std::string problem_key(const Row& row);

/// The repeats of one point on one GPU with one build.
struct Repeats {
  std::vector<const Row*> rows;

  const Row& first() const { return *rows.front(); }
  /// Median over the repeats that have it.
  std::optional<double> figure(const Figure& figure) const;
};

/// In order of first appearance.
std::vector<Repeats> gather_repeats(std::span<const Row* const> rows);

}  // namespace headsplit::coordinator
