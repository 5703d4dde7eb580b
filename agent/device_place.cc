#include "agent/device_place.h"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "agent/cpu_facts.h"
#include "agent/nvml.h"
#include "core/log.h"

namespace headsplit::agent {
namespace {

constexpr int kUnknown = -1;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view line_of(const std::string& text) {
  return std::string_view(text).substr(0, text.find('\n'));
}

/// NVML writes the PCI domain with eight digits, sysfs with four, in small letters.
std::string sysfs_name(std::string bus_id) {
  if (bus_id.size() > 12) bus_id.erase(0, bus_id.size() - 12);
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return bus_id;
}

int numa_node_of_pci(const std::string& system, const std::string& bus_id) {
  const auto text = system_text(str(system, "/bus/pci/devices/", sysfs_name(bus_id), "/numa_node"));
  return text ? number(line_of(*text)).value_or(kUnknown) : kUnknown;
}

std::vector<int> own_processors() {
  cpu_set_t set;
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) processors.push_back(processor);
  }
  return processors;
}

int numa_node_of_processors(const std::string& system, const std::vector<int>& processors) {
  for (int node = 0;; ++node) {
    const auto text = system_text(str(system, "/devices/system/node/node", node, "/cpulist"));
    if (!text) return kUnknown;
    const auto here = processor_list(line_of(*text));
    if (std::includes(here.begin(), here.end(), processors.begin(), processors.end())) return node;
  }
}

/// Fails: as NVML does.
Result<void> place_gpu(AgentInfo& agent, const PlaceSources& sources) {
  const Nvml nvml = TRY(Nvml::open(sources.nvml));
  for (const GpuFacts& gpu : TRY(nvml.gpus())) {
    if (gpu.uuid == agent.gpu_uuid) {
      agent.numa_node = numa_node_of_pci(sources.system, gpu.pci_bus_id);
    }
  }
  const NvLinks links = TRY(nvml.links(agent.gpu_uuid));
  if (links.active > 0) agent.nvlink_domain = links.fabric.empty() ? agent.node : links.fabric;
  return {};
}

}  // namespace

std::vector<int> processor_list(std::string_view text) {
  std::vector<int> processors;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const auto dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == part.npos ? first : number(part.substr(dash + 1));
    if (!first || !last) return {};
    for (int processor = *first; processor <= *last; ++processor) processors.push_back(processor);
  }
  return processors;
}

AgentInfo with_place(AgentInfo agent, const PlaceSources& sources) {
  if (agent.gpu_uuid.empty()) {
    agent.numa_node = numa_node_of_processors(sources.system, own_processors());
    return agent;
  }
  if (const auto placed = place_gpu(agent, sources); !placed) {
    log_line(LogLevel::warn, "agent", "NUMA node and NVLink domain unknown",
             log_field("reason", placed.error().message));
  }
  return agent;
}

}  // namespace headsplit::agent
