#pragma once

#include <memory>
#include <string>

#include "core/result.h"

namespace headsplit::coordinator {

/// A file for Prometheus' file_sd (a list of targets as JSON) that names one coordinator for as
/// long as this lives: where a scheduler puts the coordinator on another node each time, Prometheus
/// watches a shared folder and sees at once where it is.  Source: prometheus/docs, file_sd_config.
class DiscoveryFile {
 public:
  /// url: where the coordinator listens, "http://10.0.0.1:7077"; an address that stands for all of
  /// the machine's is replaced by hostname.  An older file is replaced whole.
  /// Fails: config (the path does not end in .json), io (names the file).
  static Result<DiscoveryFile> write(const std::string& path, const std::string& url,
                                     const std::string& hostname);

 private:
  struct Remove {
    void operator()(std::string* path) const;
  };
  explicit DiscoveryFile(const std::string& path) : path_(new std::string(path)) {}

  std::unique_ptr<std::string, Remove> path_;
};

}  // namespace headsplit::coordinator
