#include <cstdio>

#include "coordinator/answers/comparison.h"
#include "core/markup.h"
#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string time_text(double time_us) {
  return formatted(time_us < 1000 ? "%.2f" : "%.0f", time_us);
}

/// A ratio as a change: "+3.1 %".
std::string change_text(double ratio) { return formatted("%+.2f %%", (ratio - 1) * 100); }

std::string interval_text(const PointComparison& point) {
  return change_text(point.ratio_low) + " to " + change_text(point.ratio_high);
}

std::string cycles_text(const PointComparison& point) {
  return point.cycle_ratio ? change_text(*point.cycle_ratio) : "-";
}

std::string side_line(const char* letter, const Side& side) {
  return str(letter, ": ", side.name, ", ", side.rows, " rows, ",
             side.machines.empty() ? "no machine" : joined(side.machines, "; "), ", build ",
             joined(side.builds, ", "));
}

std::string noise_line(const Comparison& comparison) {
  const NoiseFloor& noise = comparison.noise;
  return str("noise floor: ", formatted("%.2f %%", noise.relative * 100), ", at least ",
             formatted("%.2f us", noise.absolute_us), " (", noise.basis, "); fail over ",
             formatted("%.2f %%", comparison.fail_over * 100));
}

std::string count_line(const Comparison& comparison) {
  std::string text =
      str(comparison.points.size(), " points: ", comparison.same, " same, ", comparison.faster,
          " faster, ", comparison.slower, " slower, ", comparison.ambiguous, " ambiguous");
  if (!comparison.only_a.empty()) text += str("; ", comparison.only_a.size(), " only in A");
  if (!comparison.only_b.empty()) text += str("; ", comparison.only_b.size(), " only in B");
  return text;
}

std::string finding_line(const Comparison& comparison) {
  const char* const names[] = {"no regression", "regression", "cannot tell"};
  return str(names[static_cast<int>(comparison.finding)], ": ", comparison.reason);
}

/// A text inside an XML attribute or element.
std::string markdown(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    if (byte == '<') {
      safe += "&lt;";
    } else {
      if (std::string_view("\\`*_|").find(byte) != std::string_view::npos) safe += '\\';
      safe += byte == '\n' ? ' ' : byte;
    }
  }
  return safe;
}

std::string junit_case(const PointComparison& point) {
  std::string text =
      str("  <testcase classname=\"", markup_text("headsplit.compare"), "\" name=\"",
          markup_text(point.point), "\" time=\"", formatted("%.9f", point.b_us * 1e-6), "\"");
  const std::string figures =
      str(time_text(point.a_us), " us, then ", time_text(point.b_us),
          " us: ", change_text(point.ratio), " (", interval_text(point), ")");
  if (point.regression) {
    return str(text, ">\n    <failure message=\"slower: ", markup_text(figures),
               "\"/>\n  </testcase>\n");
  }
  if (point.change == Change::ambiguous) {
    return str(text,
               ">\n    <skipped message=\"ambiguous: ", markup_text(figures + "; " + point.reason),
               "\"/>\n  </testcase>\n");
  }
  return text + "/>\n";
}

std::string unpaired_lines(const std::vector<UnpairedPoint>& points, const char* what) {
  std::string text;
  for (const UnpairedPoint& point : points) {
    text += str(what, "  ", point.point, "  ", point.reason, "\n");
  }
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = str(side_line("A", comparison.a), "\n", side_line("B", comparison.b), "\n",
                         noise_line(comparison), "\n");
  for (const PointComparison& point : comparison.points) {
    if (point.change == Change::same) continue;
    text += str(enum_name(point.change), "  ", point.point, "  ", time_text(point.a_us), " -> ",
                time_text(point.b_us), " us  ", change_text(point.ratio), " (",
                interval_text(point), "), in cycles ", cycles_text(point));
    text += point.reason.empty() ? "\n" : ": " + point.reason + "\n";
  }
  text += unpaired_lines(comparison.failed, "fails");
  return str(text, count_line(comparison), "\n", finding_line(comparison), "\n");
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text =
      str("**", finding_line(comparison), "**\n\n- ", markdown(side_line("A", comparison.a)),
          "\n- ", markdown(side_line("B", comparison.b)), "\n- ", noise_line(comparison), "\n- ",
          count_line(comparison), "\n\n");
  text +=
      "| point | A (us) | B (us) | change | 99 % interval | in cycles | verdict |\n"
      "|---|--:|--:|--:|---|--:|---|\n";
  for (const PointComparison& point : comparison.points) {
    text += str("| ", markdown(point.point), " | ", time_text(point.a_us), " | ",
                time_text(point.b_us), " | ", change_text(point.ratio), " | ", interval_text(point),
                " | ", cycles_text(point), " | ", enum_name(point.change),
                point.reason.empty() ? "" : ": " + point.reason, " |\n");
  }
  for (const UnpairedPoint& point : comparison.failed) {
    text += str("| ", markdown(point.point), " | | | | | | ", markdown(point.reason), " |\n");
  }
  return text;
}

std::string comparison_junit(const Comparison& comparison) {
  std::size_t failures = comparison.failed.size();
  for (const PointComparison& point : comparison.points) failures += point.regression ? 1 : 0;
  std::string text = str(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"headsplit compare\" tests=\"",
      comparison.points.size() + comparison.failed.size(), "\" failures=\"", failures,
      "\" errors=\"0\" skipped=\"", comparison.ambiguous, "\">\n");
  for (const PointComparison& point : comparison.points) text += junit_case(point);
  for (const UnpairedPoint& point : comparison.failed) {
    text += str("  <testcase classname=\"headsplit.compare\" name=\"", markup_text(point.point),
                "\">\n    <failure message=\"", markup_text(point.reason), "\"/>\n  </testcase>\n");
  }
  return text + "</testsuite>\n";
}

}  // namespace headsplit::coordinator
