#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/child_process.h"

namespace headsplit::e2e {

/// What a finished command left behind.
struct Finished {
  int exit_status = -1;
  std::string out;
  std::string err;
};

/// A folder for one test, removed afterwards.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Writes a file and gives its path.
  std::string file(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path folder_;
};

/// One of our programs ("headsplit", "headsplit-agent", "headsplit-coordinator").
std::string program(const std::string& name);

/// A command that runs on while the test looks at it.  stdout and stderr go to files.
class Command {
 public:
  Command(const Scratch& scratch, std::vector<std::string> argv);

  ChildProcess& child() { return child_; }
  std::string out() const;
  std::string err() const;
  /// Waits for the end; a command that outlives the limit is killed and fails the test.
  Finished finish(std::chrono::seconds limit = std::chrono::seconds(60));

 private:
  std::string out_path_;
  std::string err_path_;
  ChildProcess child_;
};

/// Starts a command and waits for it.
Finished run(const Scratch& scratch, std::vector<std::string> argv);

/// A sweep of a few points that take milliseconds: tp 1 and 2 of DeepSeek-V3.
std::string tiny_sweep(const Scratch& scratch, const std::string& name = "tiny",
                       const std::string& more = "");

}  // namespace headsplit::e2e
