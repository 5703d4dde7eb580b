#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace headsplit {

/// How a child is started.
struct ChildOptions {
  std::vector<std::string> argv;         ///< argv[0] is the program: a path, or a name on PATH
  std::vector<std::string> environment;  ///< "KEY=value" added to (or replacing) our own
  bool pipe_stdin = false;               ///< else /dev/null
  bool pipe_stdout = false;              ///< else ours
  std::string stderr_file;               ///< appended to; empty = ours
};

/// A child process in a process group of its own, that the kernel kills when this process dies.
/// Move-only; destroying it kills the whole group and reaps the child.
class ChildProcess {
 public:
  /// Fails: io (says which program and why).
  static Result<ChildProcess> start(const ChildOptions& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  int stdin_fd() const { return stdin_fd_; }    ///< -1 without a pipe; stays ours
  int stdout_fd() const { return stdout_fd_; }  ///< -1 without a pipe; stays ours
  /// The descriptor, given away: the caller closes it.
  int release_stdin();
  int release_stdout();

  /// Send a signal to the whole group.  Harmless after the end.
  void signal(int number) const;
  /// How it ended ("exit 1", "signal 9 (Killed)"), or nothing while it runs.
  std::optional<std::string> ended();
  /// Wait until it ends, at most so long; nothing when it still runs.
  std::optional<std::string> wait(std::chrono::milliseconds limit);
  /// Exit status after `ended()`: 0 for a clean end, 128 + signal when killed.
  int exit_status() const { return exit_status_; }

 private:
  ChildProcess() = default;
  void close_pipes();

  pid_t pid_ = -1;
  int stdin_fd_ = -1;
  int stdout_fd_ = -1;
  bool reaped_ = true;
  int exit_status_ = 0;
  std::string ending_;
};

/// Path of a program that lies beside the running one (build/.../bin, or the install prefix).
std::string sibling_program(const std::string& name);

}  // namespace headsplit
