#include <algorithm>

#include "core/nearest.h"
#include "tp/config_files.h"
#include "tp/model.h"
#include "tp/model_reader.h"

namespace headsplit::tp {
namespace {

namespace fs = std::filesystem;

/// A path is told from a name by a slash, the ending, or by being there.
bool means_path(const std::string& text) {
  std::error_code ignored;  // what cannot be seen is not there
  return text.find('/') != std::string::npos || fs::path(text).extension() == ".json" ||
         fs::is_directory(text, ignored);
}

Result<Model> model_from_path(const std::string& path) {
  std::error_code ignored;
  fs::path file = path;
  if (fs::is_directory(file, ignored)) file /= "config.json";
  const std::string text = TRY(file_text(file));
  return model_from_config(text, file.string());
}

}  // namespace

Result<std::vector<std::string>> model_names() {
  const fs::path folder = TRY(configs_folder()) / "models";
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  if (error) return fail(ErrorKind::io, folder.string(), ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

Result<Model> read_model(const std::string& name_or_path) {
  if (means_path(name_or_path)) return model_from_path(name_or_path);
  const auto names = TRY(model_names());
  if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
    return fail(ErrorKind::config, "model '", name_or_path, "': unknown",
                did_you_mean(name_or_path, names), ", or a path to a config.json");
  }
  const fs::path file = TRY(configs_folder()) / "models" / (name_or_path + ".json");
  const std::string text = TRY(file_text(file));
  Model model = TRY(model_from_config(text, file.string()));
  model.name = name_or_path;
  return model;
}

}  // namespace headsplit::tp
