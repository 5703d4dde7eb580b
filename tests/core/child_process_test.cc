#include "core/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace headsplit {
namespace {

using namespace std::chrono_literals;

std::string read_all(int fd) {
  std::string text;
  char buffer[256];
  while (true) {
    const auto count = ::read(fd, buffer, sizeof buffer);
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

TEST(ChildProcess, TellsHowItEnded) {
  auto child = ChildProcess::start({.argv = {"sh", "-c", "exit 7"}}).value();
  EXPECT_EQ(child.wait(5s), "exit 7");
  EXPECT_EQ(child.exit_status(), 7);
}

TEST(ChildProcess, TellsWhichSignalKilledIt) {
  auto child = ChildProcess::start({.argv = {"sleep", "100"}}).value();
  EXPECT_FALSE(child.ended());
  child.signal(SIGKILL);
  EXPECT_EQ(child.wait(5s), "signal 9 (Killed)");
  EXPECT_EQ(child.exit_status(), 137);
}

TEST(ChildProcess, TalksThroughPipesAndSeesTheAddedEnvironment) {
  auto child = ChildProcess::start({.argv = {"sh", "-c", "read line; echo $line $ADDED"},
                                    .environment = {"ADDED=two"},
                                    .pipe_stdin = true,
                                    .pipe_stdout = true})
                   .value();
  ASSERT_EQ(::write(child.stdin_fd(), "one\n", 4), 4);
  EXPECT_EQ(read_all(child.stdout_fd()), "one two\n");
}

TEST(ChildProcess, NamesTheProgramThatCannotBeStarted) {
  const auto child = ChildProcess::start({.argv = {"/nowhere/program"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().message, "/nowhere/program: No such file or directory");
}

TEST(ChildProcess, TakesItsWholeGroupWithIt) {
  pid_t grandchild = 0;
  {
    auto child = ChildProcess::start(
                     {.argv = {"sh", "-c", "sleep 100 & echo $!; wait"}, .pipe_stdout = true})
                     .value();
    char buffer[32] = {};
    ASSERT_GT(::read(child.stdout_fd(), buffer, sizeof buffer - 1), 0);
    grandchild = std::atoi(buffer);
    ASSERT_EQ(::kill(grandchild, 0), 0);
  }
  // The grandchild is reaped by init at its own pace; a zombie still answers signal 0.
  bool gone = false;
  for (int tries = 0; tries < 200 && !gone; ++tries) {
    const std::string stat_path = str("/proc/", grandchild, "/stat");
    FILE* stat = std::fopen(stat_path.c_str(), "r");
    char state = 'X';
    if (stat != nullptr) {
      if (std::fscanf(stat, "%*d %*s %c", &state) != 1) state = 'X';
      std::fclose(stat);
    }
    gone = stat == nullptr || state == 'Z' || state == 'X';
    if (!gone) ::usleep(10'000);
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace headsplit
