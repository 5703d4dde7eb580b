#pragma once

#include <string>

namespace headsplit {

/// Version of the wire protocol between agents and the coordinator.  Another major is refused;
/// a lower minor is understood (unknown keys are ignored, missing ones default).
constexpr int kProtocolMajor = 1;
constexpr int kProtocolMinor = 1;

/// "0.1.0".
std::string version();

/// Revision of the sources this was built from ("1a2b3c4", "+" when the tree was changed).
std::string build_revision();

}  // namespace headsplit
