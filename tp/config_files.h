#pragma once

#include <filesystem>
#include <string>

#include "core/result.h"

namespace headsplit::tp {

/// The folder of built-in models and devices: $HEADSPLIT_CONFIGS when set, else beside the program
/// (../share/headsplit/configs where it is installed, ../../../configs where it is built), else
/// ./configs.  Fails: io (says where it was looked for).
Result<std::filesystem::path> configs_folder();

/// Text of an input file of at most 16 MiB.  Fails: config (not there, too large).
Result<std::string> file_text(const std::filesystem::path& path);

}  // namespace headsplit::tp
