#pragma once

#include <functional>
#include <string>

#include "core/message.h"

namespace headsplit::agent {

/// Adds clocks, power and temperature of an agent's device at this moment to a heartbeat.  What
/// cannot be read stays absent.
using DeviceWatch = std::function<void(Heartbeat&)>;

/// The watch of the agent's GPU through NVML, which creates no CUDA context, so that it goes on
/// when the worker is gone.  For a CPU, or where NVML does not answer (logged, once), it adds
/// nothing.
DeviceWatch watch_device(const AgentInfo& agent, const std::string& library = "libnvidia-ml.so.1");

}  // namespace headsplit::agent
