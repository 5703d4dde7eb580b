#pragma once

#include <string>

namespace headsplit::dashboards {

/// Path of a file of the source tree.
std::string source_path(const std::string& name);

/// Text of a file of the source tree; fails the test when it is not there.
std::string source_text(const std::string& name);

/// Compares a file of the source tree with the text it is generated from.  With HEADSPLIT_WRITE
/// set in the environment it is written instead: the way to bring it up to date.
void expect_generated(const std::string& name, const std::string& text);

/// Whether a program is on PATH.
bool has_program(const std::string& name);

}  // namespace headsplit::dashboards
