#include "coordinator/metrics/discovery_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

#include "coordinator/metrics/discovery.h"

namespace headsplit::coordinator {
namespace {

/// "10.0.0.1:7077" of "http://10.0.0.1:7077".
std::string target_of(const std::string& url, const std::string& hostname) {
  std::string target = url.substr(url.find("//") + 2);
  for (const std::string_view everywhere : {"0.0.0.0:", "[::]:"}) {
    if (target.starts_with(everywhere)) target.replace(0, everywhere.size() - 1, hostname);
  }
  return target;
}

Error cannot_write(const std::string& path) {
  return fail(ErrorKind::io, "cannot write ", path, ": ", std::strerror(errno));
}

}  // namespace

void DiscoveryFile::Remove::operator()(std::string* path) const {
  std::remove(path->c_str());
  delete path;
}

Result<DiscoveryFile> DiscoveryFile::write(const std::string& path, const std::string& url,
                                           const std::string& hostname) {
  if (!path.ends_with(".json")) {
    return fail(ErrorKind::config, "--sd-file ", path,
                ": Prometheus reads files whose names end in .json");
  }
  json::array groups = coordinator_targets(target_of(url, hostname));
  if (url.starts_with("https:") && !groups.empty()) {
    groups[0].as_object()["labels"].as_object()["__scheme__"] = "https";
  }
  // Never half a file: Prometheus reads it as soon as it changes.
  const std::string unfinished = path + ".new";
  std::ofstream out(unfinished);
  out << json::serialize(groups) << "\n";
  out.close();
  if (!out || std::rename(unfinished.c_str(), path.c_str()) != 0) return cannot_write(path);
  return DiscoveryFile(path);
}

}  // namespace headsplit::coordinator
