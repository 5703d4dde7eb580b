#pragma once

#include <string>

#include "cli/report_value.h"

namespace headsplit::cli {

/// The summary tables of a report as an HTML section.  Texts of rows stay text: what HTML reads is
/// escaped.
std::string summary_html(const Report& report);

}  // namespace headsplit::cli
