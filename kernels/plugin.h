#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace headsplit::kernels {

/// What sweeps write before the file name of a kernel plug-in: "plugin:libmine.so".
constexpr std::string_view kPluginPrefix = "plugin:";

/// Folders that plug-ins may come from: the working directory, and those of $HEADSPLIT_PLUGINS
/// (separated by colons).  A sweep comes over the network, so it must not be able to load any file
/// of this machine.
std::vector<std::filesystem::path> plugin_folders();

/// The plug-in's file: a name without a slash is looked up in each folder in turn, a path must lie
/// in one of them or below.  Fails: config (no such file, or not allowed; says where it looked).
Result<std::filesystem::path> plugin_file(const std::string& name,
                                          const std::vector<std::filesystem::path>& folders);

/// Load a plug-in (include/headsplit_kernel.h) as an entry like those of the registry.  Its kernels
/// get the same inputs, poison and verification as ours; the library stays loaded.
/// Fails: config (not a plug-in, built for another version, incomplete; says which and why).
Result<KernelEntry> load_plugin(const std::filesystem::path& file);

/// The entry behind "plugin:NAME", loaded once a process.  Valid until the process ends.
/// Fails: config, also when the plug-in is for the other backend.
Result<const KernelEntry*> find_plugin(const std::string& name, Backend backend);

}  // namespace headsplit::kernels
