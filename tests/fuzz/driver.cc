// Runs every target on its corpus and on mutations of it, without instrumentation: what CI can
// afford.  headsplit_fuzz [TARGET [SECONDS [SEED]]]; `./dev fuzz` searches with libFuzzer.

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace headsplit::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsATarget = 0.5;

std::vector<std::string> corpus_of(const Target& target) {
  const char* source = std::getenv("HEADSPLIT_SOURCE");
  const fs::path folder = fs::path(source == nullptr ? "." : source) / "tests/fuzz/corpus";
  std::vector<std::string> texts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / target.name, error)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    texts.push_back(std::move(text).str());
  }
  return texts;
}

/// A text from the corpus with some of it changed, lost, doubled or mixed with another.
std::string mutated(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  std::string text = corpus[random() % corpus.size()];
  const auto changes = 1 + random() % 4;
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    const std::size_t length = 1 + random() % 16;
    switch (random() % 6) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      case 1: text.insert(at, 1, static_cast<char>(random())); break;
      case 2: text.erase(at, length); break;
      case 3: text.insert(at, text.substr(at, length)); break;
      case 4: text.resize(at); break;
      case 5: {
        const std::string& other = corpus[random() % corpus.size()];
        if (!other.empty()) text.insert(at, other.substr(random() % other.size(), length * 4));
        break;
      }
    }
  }
  return text;
}

constexpr const char* kKeptIn = "headsplit_fuzz_crash";
std::string in_work;  // for the handler of a crash, which can be handed nothing

/// The input that ended the process goes to a file in the working directory.
extern "C" void keep_input(int signal) {
  const int file = ::open(kKeptIn, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file >= 0 && ::write(file, in_work.data(), in_work.size()) >= 0) {
    constexpr char kTold[] = "the input is in headsplit_fuzz_crash\n";
    [[maybe_unused]] const auto told = ::write(STDERR_FILENO, kTold, sizeof kTold - 1);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

bool run(const Target& target, double seconds, std::uint64_t seed) {
  const std::vector<std::string> corpus = corpus_of(target);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no corpus (set HEADSPLIT_SOURCE)\n", target.name);
    return false;
  }
  for (const std::string& text : corpus) {
    in_work = text;
    target.run(text);
  }
  std::mt19937_64 random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::int64_t runs = 0;
  while (std::chrono::steady_clock::now() < end) {
    in_work = mutated(corpus, random);
    target.run(in_work);
    ++runs;
  }
  std::printf("%-12s %zu of the corpus, %lld mutations: no crash\n", target.name, corpus.size(),
              static_cast<long long>(runs));
  return true;
}

int run_all(int argc, char** argv) {
  const double seconds = argc > 2 ? std::atof(argv[2]) : kSecondsATarget;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, keep_input);
  bool good = true;
  for (const Target& target : targets()) {
    const bool wanted = argc < 2 || std::string(argv[1]) == target.name;
    if (wanted) good = run(target, seconds, seed) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace headsplit::fuzz

int main(int argc, char** argv) { return headsplit::fuzz::run_all(argc, argv); }
