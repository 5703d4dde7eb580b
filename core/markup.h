#pragma once

#include <string>
#include <string_view>

namespace headsplit {

/// A text within HTML or XML, attributes included: as itself, on one line.  XML 1.0 has no control
/// characters but white space: each becomes a blank.
std::string markup_text(std::string_view text);

}  // namespace headsplit
