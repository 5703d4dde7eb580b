#include "agent/identity.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/check.h"
#include "core/point.h"

namespace headsplit::agent {
namespace {

/// How a launcher tells its processes who they are.  First match wins: srun with a PMIx plug-in
/// sets the variables of both, and only Slurm's have the local rank.
struct Launcher {
  const char* name;
  const char* rank;
  const char* local_rank;
  const char* node;
};
constexpr std::array kLaunchers = {
    Launcher{"open-mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", ""},
    Launcher{"slurm", "SLURM_PROCID", "SLURM_LOCALID", "SLURMD_NODENAME"},
    Launcher{"mpich", "PMI_RANK", "MPI_LOCALRANKID", ""},
    Launcher{"pmix", "PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_HOSTNAME"},
};

std::optional<std::string> lookup(const Environment& environment, const std::string& key) {
  const auto found = environment.find(key);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

Result<int> number(const std::string& key, const std::string& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return fail(ErrorKind::config, key, "='", text, "': expected a number of 0 or more");
  }
  return value;
}

std::string node_name(const Machine& machine) {
  const std::string shortened = machine.hostname.substr(0, machine.hostname.find('.'));
  if (!shortened.empty() && shortened != "localhost" && shortened != "(none)") return shortened;
  return "node-" + content_id(machine.hostname + machine.id).substr(0, 8);
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> entries;
  std::istringstream in(list);
  for (std::string entry; std::getline(in, entry, ',');) entries.push_back(entry);
  return entries;
}

}  // namespace

Environment process_environment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

Machine this_machine() {
  std::array<char, 256> hostname = {};
  ::gethostname(hostname.data(), hostname.size() - 1);
  std::string id = first_line("/etc/machine-id");
  if (id.empty()) id = first_line("/proc/sys/kernel/random/boot_id");
  return {hostname.data(), id};
}

Result<Identity> identity_from(const Environment& environment, const Machine& machine) {
  Identity identity{.node = node_name(machine)};
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = lookup(environment, launcher.rank);
    if (!rank) continue;
    identity.launcher = launcher.name;
    identity.rank = TRY(number(launcher.rank, *rank));
    // Where only the rank is known, it is also the local one: right on one node.
    identity.local_rank = identity.rank;
    if (const auto local = lookup(environment, launcher.local_rank)) {
      identity.local_rank = TRY(number(launcher.local_rank, *local));
    }
    if (const auto node = lookup(environment, launcher.node)) {
      identity.node = node->substr(0, node->find('.'));
    }
    break;
  }
  return identity;
}

std::string agent_name(const Identity& identity) {
  return str(identity.node, "-", identity.local_rank);
}

Result<std::string> visible_device(const Environment& environment, const Identity& identity) {
  const auto list = lookup(environment, "CUDA_VISIBLE_DEVICES");
  if (!list) return str(identity.local_rank);
  const std::vector<std::string> devices = split(*list);
  if (devices.size() == 1 && !identity.launcher.empty()) return devices[0];
  const auto index = static_cast<std::size_t>(identity.local_rank);
  if (index < devices.size()) return devices[index];
  return fail(ErrorKind::config, "device ", identity.local_rank, ": CUDA_VISIBLE_DEVICES='", *list,
              "' lists ", devices.size());
}

std::vector<int> processor_share(const std::vector<int>& allowed, int threads, int local_rank) {
  CHECK(!allowed.empty() && threads > 0 && local_rank >= 0);
  const std::size_t count = std::min(allowed.size(), static_cast<std::size_t>(threads));
  std::vector<int> share;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t wanted = static_cast<std::size_t>(local_rank) * count + i;
    share.push_back(allowed[wanted % allowed.size()]);
  }
  return share;
}

}  // namespace headsplit::agent
