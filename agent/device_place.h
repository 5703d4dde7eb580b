#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"

namespace headsplit::agent {

/// Where to look.
struct PlaceSources {
  std::string nvml = "libnvidia-ml.so.1";
  std::string system = "/sys";
};

/// The agent with `numa_node` and `nvlink_domain` filled in.  A GPU's node is that of its PCI
/// device; its domain is the fabric that spans machines where there is one, else its machine when
/// it has NVLinks.  A CPU's node is the one that has all its processors.  What the system does not
/// tell stays unknown.
AgentInfo with_place(AgentInfo agent, const PlaceSources& sources = {});

/// Processors of a list as sysfs writes it: "0-3,8".  Empty when it is none.
std::vector<int> processor_list(std::string_view text);

}  // namespace headsplit::agent
