#pragma once

#include <span>
#include <string>
#include <vector>

#include "coordinator/attention_table.h"

namespace headsplit::cli {

/// The attention table as cells for people, the heading first; empty without lines.
std::vector<std::vector<std::string>> attention_cells(
    std::span<const coordinator::AttentionLine> lines);

/// What its columns mean, in a sentence or two.
std::string attention_note();

}  // namespace headsplit::cli
