#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace headsplit::cli {
namespace {

constexpr int kBarMin = 10;
constexpr int kBarMax = 40;
constexpr double kPlainIntervalS = 10;

std::string fixed1(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string numbers_of(const Progress& progress) {
  std::string text = str(" ", progress.done, "/", progress.total);
  if (const double rate = rate_per_s(progress); rate > 0) {
    text += rate >= 1 ? "  " + fixed1(rate) + "/s" : "  " + fixed1(60 * rate) + "/min";
  }
  if (progress.done == progress.total) {
    text += "  in " + clock_text(progress.elapsed_s);
  } else if (const double left_s = eta_s(progress); left_s >= 0) {
    text += "  ETA " + clock_text(left_s);
  }
  if (progress.resumed > 0) text += str("  ", progress.resumed, " resumed");
  if (progress.skipped > 0) text += str("  ", progress.skipped, " skipped");
  if (progress.failed > 0) text += str("  ", progress.failed, " failed");
  return text;
}

}  // namespace

double rate_per_s(const Progress& progress) {
  const auto fresh = static_cast<double>(progress.done - progress.resumed);
  return progress.elapsed_s > 0 && fresh > 0 ? fresh / progress.elapsed_s : 0;
}

double eta_s(const Progress& progress) {
  const double rate = rate_per_s(progress);
  return rate > 0 ? static_cast<double>(progress.total - progress.done) / rate : -1;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::max(0.0, seconds)));
  char text[32];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  }
  return text;
}

std::string progress_line(const Progress& progress, int columns) {
  const std::string numbers = numbers_of(progress);
  const int room =
      columns - static_cast<int>(progress.sweep.size()) - static_cast<int>(numbers.size()) - 4;
  std::string line = progress.sweep;
  if (room >= kBarMin) {
    const int width = std::min(room, kBarMax);
    const double share = progress.total == 0 ? 1
                                             : static_cast<double>(progress.done) /
                                                   static_cast<double>(progress.total);
    const int filled = static_cast<int>(share * width);
    line += " [" + std::string(filled, '#') + std::string(width - filled, '-') + "]";
  }
  line += numbers;
  return line.substr(0, static_cast<std::size_t>(std::max(columns, 1)));
}

ProgressPrinter::ProgressPrinter() : terminal_(::isatty(STDERR_FILENO) == 1) {
  winsize size{};
  if (terminal_ && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    columns_ = size.ws_col - 1;
  }
}

void ProgressPrinter::show(const Progress& progress) {
  if (terminal_) {
    std::fprintf(stderr, "\r%s\033[K", progress_line(progress, columns_).c_str());
  } else if (progress.elapsed_s - last_shown_s_ >= kPlainIntervalS) {
    last_shown_s_ = progress.elapsed_s;
    std::fprintf(stderr, "%s\n", progress_line(progress, 120).c_str());
  }
}

void ProgressPrinter::finish(const Progress& progress) {
  const std::string line = progress_line(progress, terminal_ ? columns_ : 120);
  std::fprintf(stderr, terminal_ ? "\r%s\033[K\n" : "%s\n", line.c_str());
}

}  // namespace headsplit::cli
