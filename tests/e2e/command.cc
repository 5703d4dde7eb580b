#include "tests/e2e/command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <fstream>
#include <sstream>

namespace headsplit::e2e {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string numbered(const std::string& name) {
  static std::atomic<int> count = 0;
  return name + std::to_string(++count);
}

/// The shell only redirects stdout; `exec` leaves the program itself as our child.
ChildProcess started(std::vector<std::string> argv, const std::string& out_path,
                     const std::string& err_path) {
  std::vector<std::string> shell = {"/bin/sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh",
                                    out_path};
  shell.insert(shell.end(), argv.begin(), argv.end());
  return ChildProcess::start({.argv = shell, .stderr_file = err_path}).value();
}

}  // namespace

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "headsplit-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot make " << name;
  folder_ = name;
}

Scratch::~Scratch() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

std::string Scratch::file(const std::string& name, const std::string& text) const {
  std::ofstream(path(name)) << text;
  return path(name);
}

std::string program(const std::string& name) {
  const char* folder = std::getenv("HEADSPLIT_BIN");
  return folder == nullptr ? sibling_program(name) : std::string(folder) + "/" + name;
}

Command::Command(const Scratch& scratch, std::vector<std::string> argv)
    : out_path_(scratch.path(numbered("stdout."))),
      err_path_(scratch.path(numbered("stderr."))),
      child_(started(std::move(argv), out_path_, err_path_)) {}

std::string Command::out() const { return text_of(out_path_); }

std::string Command::err() const { return text_of(err_path_); }

Finished Command::finish(std::chrono::seconds limit) {
  if (!child_.wait(limit)) {
    ADD_FAILURE() << "still running after " << limit.count() << " s; stderr: " << err();
    child_.signal(SIGKILL);
    child_.wait(std::chrono::seconds(5));
  }
  return {.exit_status = child_.exit_status(), .out = out(), .err = err()};
}

Finished run(const Scratch& scratch, std::vector<std::string> argv) {
  Command command(scratch, std::move(argv));
  return command.finish();
}

std::string tiny_sweep(const Scratch& scratch, const std::string& name, const std::string& more) {
  return scratch.file(name + ".yaml", "name: " + name +
                                          "\nmodel: deepseek-v3\n"
                                          "kernels: [mla_dense]\n"
                                          "tp: [1, 2]\n"
                                          "axes: {batch: [1, 2], context: [64]}\n"
                                          "measure: {min_time_ms: 1, max_noise: 0.5}\n" +
                                          more);
}

}  // namespace headsplit::e2e
