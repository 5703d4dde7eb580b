#include "core/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

namespace headsplit {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(5);

Error system_error(const std::string& doing) {
  return fail(ErrorKind::io, doing, ": ", std::strerror(errno));
}

/// Our environment with the given entries added or replaced.
std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string key = text.substr(0, text.find('=') + 1);
    const bool replaced =
        std::ranges::any_of(added, [&](const std::string& a) { return a.starts_with(key); });
    if (!replaced) merged.push_back(text);
  }
  merged.insert(merged.end(), added.begin(), added.end());
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// What the child's ends of the pipes and files are, made before the fork.
struct Descriptors {
  std::array<int, 2> in = {-1, -1};
  std::array<int, 2> out = {-1, -1};
  std::array<int, 2> failure = {-1, -1};  ///< closed by a successful exec, else carries errno
  int err = -1;

  void close_all() {
    for (int* fd : {&in[0], &in[1], &out[0], &out[1], &failure[0], &failure[1], &err}) {
      if (*fd >= 0) ::close(std::exchange(*fd, -1));
    }
  }
};

Result<void> open_descriptors(const ChildOptions& options, Descriptors& fds) {
  if (options.pipe_stdin) {
    if (::pipe2(fds.in.data(), O_CLOEXEC) != 0) return system_error("pipe");
  } else {
    fds.in[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  if (options.pipe_stdout && ::pipe2(fds.out.data(), O_CLOEXEC) != 0) return system_error("pipe");
  if (::pipe2(fds.failure.data(), O_CLOEXEC) != 0) return system_error("pipe");
  if (!options.stderr_file.empty()) {
    fds.err = ::open(options.stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fds.err < 0) return system_error(options.stderr_file);
  }
  return {};
}

/// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* argv, char* const* environment, const Descriptors& fds,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent died before the line above took effect
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (fds.in[0] >= 0) ::dup2(fds.in[0], STDIN_FILENO);
  if (fds.out[1] >= 0) ::dup2(fds.out[1], STDOUT_FILENO);
  if (fds.err >= 0) ::dup2(fds.err, STDERR_FILENO);
  ::execvpe(argv[0], argv, environment);
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(fds.failure[1], &code, sizeof code);
  ::_exit(127);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  Descriptors fds;
  if (auto opened = open_descriptors(options, fds); !opened) {
    fds.close_all();
    return opened.error();
  }
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = merged_environment(options.environment);
  const auto argv = pointers(arguments);
  const auto envp = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(argv.data(), envp.data(), fds, parent);
  if (pid < 0) {
    const Error error = system_error("fork");
    fds.close_all();
    return error;
  }
  ::setpgid(pid, pid);
  ::close(std::exchange(fds.failure[1], -1));
  ChildProcess child;
  child.pid_ = pid;
  child.reaped_ = false;
  child.stdin_fd_ = std::exchange(fds.in[1], -1);
  child.stdout_fd_ = std::exchange(fds.out[0], -1);
  int code = 0;
  const bool failed = ::read(fds.failure[0], &code, sizeof code) == sizeof code;
  fds.close_all();
  if (failed) return fail(ErrorKind::io, options.argv[0], ": ", std::strerror(code));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(stdin_fd_, other.stdin_fd_);
  std::swap(stdout_fd_, other.stdout_fd_);
  std::swap(reaped_, other.reaped_);
  std::swap(exit_status_, other.exit_status_);
  std::swap(ending_, other.ending_);
  return *this;
}

ChildProcess::~ChildProcess() {
  close_pipes();
  if (reaped_) return;
  signal(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::close_pipes() {
  if (stdin_fd_ >= 0) ::close(release_stdin());
  if (stdout_fd_ >= 0) ::close(release_stdout());
}

int ChildProcess::release_stdin() { return std::exchange(stdin_fd_, -1); }

int ChildProcess::release_stdout() { return std::exchange(stdout_fd_, -1); }

void ChildProcess::signal(int number) const {
  if (!reaped_) ::kill(-pid_, number);
}

std::optional<std::string> ChildProcess::ended() {
  if (!reaped_) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    reaped_ = true;
    if (WIFSIGNALED(status)) {
      exit_status_ = 128 + WTERMSIG(status);
      ending_ = str("signal ", WTERMSIG(status), " (", ::strsignal(WTERMSIG(status)), ")");
    } else {
      exit_status_ = WEXITSTATUS(status);
      ending_ = str("exit ", exit_status_);
    }
  }
  return ending_;
}

std::optional<std::string> ChildProcess::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (auto ending = ended()) return ending;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(kPollInterval);
  }
}

std::string sibling_program(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? name : (self.parent_path() / name).string();
}

}  // namespace headsplit
