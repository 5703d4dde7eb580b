#pragma once

#include <string>

#include "cli/report_value.h"

namespace headsplit::cli {

/// A report as GitHub-flavoured markdown: how far each sweep is, the summary tables, and a table a
/// problem.  Texts of rows cannot make markup: what markdown reads is escaped.
std::string report_markdown(const Report& report);

}  // namespace headsplit::cli
