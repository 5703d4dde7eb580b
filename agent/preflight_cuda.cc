#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "agent/counters.h"
#include "agent/preflight.h"

namespace headsplit::agent {

namespace {

/// "ok" or the reason why the first GPU's counters cannot be opened.
std::string open_counters() {
  if (const cudaError_t status = cudaFree(nullptr); status != cudaSuccess) {
    return str("no CUDA context: ", cudaGetErrorName(status), ", ", cudaGetErrorString(status));
  }
  auto counters = Counters::open();
  if (!counters) return counters.error().message;
  const auto counts = counters->count({.launch = [] { return Result<void>(); }});
  if (!counts) return counts.error().message;
  return counts->dram_bytes_read ? "ok" : counts->reason;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 512> buffer{};
  for (ssize_t got = 0; (got = read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

std::string toolkit_cuda_version() {
  return str(CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10);
}

Finding try_counters() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {false, "not tried: no pipe"};
  const pid_t child = fork();
  if (child < 0) return {false, "not tried: no child process"};
  if (child == 0) {
    alarm(60);  // a hanging driver ends the trial, not the preflight
    const std::string answer = open_counters();
    const ssize_t written = write(ends[1], answer.data(), answer.size());
    _exit(written == static_cast<ssize_t>(answer.size()) ? 0 : 1);
  }
  close(ends[1]);
  const std::string answer = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return {false, str("the trial died of signal ", WTERMSIG(status))};
  if (answer == "ok") return {true, "open on the first GPU"};
  return {false, answer.empty() ? "the trial gave no answer" : answer};
}

}  // namespace headsplit::agent
