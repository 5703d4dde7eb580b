#pragma once

#include <string>
#include <vector>

#include "cli/crossover_answer.h"

namespace headsplit::cli {

/// Measured crossovers as an SVG image: a row of two panels for each context of each group, K and V
/// kept expanded and expanded anew.  Across: query tokens; up: time over that of the absorbed form,
/// both logarithmic; a curve a head split, which crosses 1 at the switch.  Dashed: the roofline's
/// switch; dotted: S* by FLOPs.
std::string crossover_svg(const std::vector<CrossoverGroup>& groups);

}  // namespace headsplit::cli
