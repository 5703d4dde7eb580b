#include <algorithm>
#include <limits>
#include <map>

#include "cli/crossover_answer.h"
#include "cli/model_options.h"
#include "core/nearest.h"
#include "core/stats.h"

/// What measured crossovers say beside the paper, in sentences.
namespace headsplit::cli {
namespace {

using coordinator::FormSwitch;
using coordinator::FormTimes;
using coordinator::Turns;
using Lines = std::vector<ComparedCrossover>;

/// The regime page of the seeds: FlashAttention overtakes FlashMLA at 16 to 32 query tokens.
constexpr double kRegimePageLow = 16;
constexpr double kRegimePageHigh = 32;

/// One of the two forms, and what is said of it on paper.
struct Form {
  const char* title;
  std::optional<FormSwitch> ComparedCrossover::*found;
  std::optional<std::int64_t> ComparedCrossover::*roofline;
};

std::string range_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::string low = figure(values.front(), 3);
  const std::string high = figure(values.back(), 3);
  return low == high ? low : str(low, " to ", high);
}

std::string with_median(const std::vector<double>& values) {
  if (values.size() == 1) return range_of(values);
  return str(range_of(values), " (median ", figure(quantile(values, 0.5), 3), ")");
}

/// Crossings that lie between two measured values, and how many lie outside the series.
struct Found {
  std::vector<double> at;             ///< query tokens
  std::vector<double> over_roofline;  ///< the same over what the roofline says
  std::vector<double> roofline;
  int series = 0;
  int never = 0;
  int always = 0;
  int longest = 0;   ///< most query tokens of a series without a crossing
  int shortest = 0;  ///< least query tokens of one that lies behind it
};

Found found_of(const Lines& lines, const Form& form) {
  Found found;
  for (const ComparedCrossover& line : lines) {
    const auto& one = line.*form.found;
    if (!one) continue;
    ++found.series;
    if (const auto& roof = line.*form.roofline) found.roofline.push_back(double(*roof));
    if (one->turns == Turns::never) {
      ++found.never;
      found.longest = std::max(found.longest, one->high);
    } else if (one->turns == Turns::always) {
      ++found.always;
      found.shortest = std::max(found.shortest, one->low);
    } else {
      found.at.push_back(*one->query_tokens);
      if (const auto& roof = line.*form.roofline) {
        found.over_roofline.push_back(*one->query_tokens / double(*roof));
      }
    }
  }
  return found;
}

std::string measured_statement(const Found& found, const Form& form) {
  std::vector<std::string> parts;
  if (!found.at.empty()) {
    parts.push_back(str("measured at ", with_median(found.at), " query tokens in ", found.at.size(),
                        " of ", found.series, " series"));
  }
  if (found.never > 0) {
    parts.push_back(str("never up to ", found.longest, " in ", found.never, " of ", found.series));
  }
  if (found.always > 0) {
    parts.push_back(str("already at ", found.shortest, " in ", found.always, " of ", found.series));
  }
  std::string text = str(form.title, ": ", joined(parts, "; "));
  if (found.roofline.empty()) return text + "; the roofline says never, or nothing is known of it.";
  text += str("; the roofline says ", range_of(found.roofline));
  if (found.over_roofline.empty()) return text + ".";
  return str(text, "; measured over roofline ", with_median(found.over_roofline), ".");
}

/// Median over lines of one tp; infinite ones count as such.
std::string by_tp_statement(const Lines& lines, const Form& form) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::map<int, std::vector<double>> by_tp;
  for (const ComparedCrossover& line : lines) {
    const auto& one = line.*form.found;
    if (!one) continue;
    by_tp[line.tp].push_back(one->turns == Turns::at       ? *one->query_tokens
                             : one->turns == Turns::always ? 0
                                                           : kNever);
  }
  if (by_tp.size() < 2) return "";
  std::vector<std::string> parts;
  for (auto& [tp, values] : by_tp) {
    std::sort(values.begin(), values.end());
    const double middle = values[(values.size() - 1) / 2];
    parts.push_back(str("tp", tp, " ",
                        middle == kNever ? "never"
                        : middle == 0    ? "always"
                                         : figure(middle, 3)));
  }
  return str("By head split (median over contexts): ", joined(parts, ", "),
             "; on paper the heads cancel while the absorbed form is bound by arithmetic.");
}

std::string regime_page_statement(const Found& found) {
  if (found.at.empty()) return "";
  const auto inside = std::count_if(found.at.begin(), found.at.end(), [](double at) {
    return at >= kRegimePageLow && at <= kRegimePageHigh;
  });
  return str("The regime page says 16 to 32 query tokens: ", inside, " of ", found.series,
             " series.");
}

std::string flops_statement(const Lines& lines) {
  std::vector<double> paper;
  std::vector<double> ratios;
  for (const ComparedCrossover& line : lines) {
    if (!line.anew || !line.anew_flops_query_tokens) continue;
    paper.push_back(*line.anew_flops_query_tokens);
    if (line.anew->query_tokens) {
      ratios.push_back(*line.anew->query_tokens / *line.anew_flops_query_tokens);
    }
  }
  if (paper.empty()) return "";
  const std::string text = str("By FLOPs, S* is ", range_of(paper), " whatever the heads");
  if (ratios.empty()) return text + ".";
  return str(text, "; measured over that ", with_median(ratios), ".");
}

/// How much of their roofs both kernels reach where they change places.
std::string efficiency_statement(const Lines& lines) {
  std::vector<double> absorbed;
  std::vector<double> kept;
  std::vector<double> shift;
  for (const ComparedCrossover& line : lines) {
    if (!line.kept || line.kept->turns != Turns::at) continue;
    for (const FormTimes& times : line.times) {
      if (times.query_tokens != line.kept->high) continue;
      if (!times.absorbed_roofline_fraction || !times.kept_roofline_fraction) continue;
      absorbed.push_back(*times.absorbed_roofline_fraction);
      kept.push_back(*times.kept_roofline_fraction);
      shift.push_back(absorbed.back() / kept.back());
    }
  }
  if (shift.empty()) return "";
  const auto percent = [](const std::vector<double>& values) {
    return figure(quantile(values, 0.5) * 100, 3) + " %";
  };
  return str("Why: behind the switch the absorbed kernel reaches ", percent(absorbed),
             " of its roofline and the expanded one ", percent(kept),
             " (medians); that alone puts it at ", figure(quantile(shift, 0.5), 3),
             " of the roofline's figure.");
}

std::string back_statement(const Lines& lines, const Form& form) {
  int count = 0;
  for (const ComparedCrossover& line : lines) {
    count += (line.*form.found) && (line.*form.found)->slower_again ? 1 : 0;
  }
  if (count == 0) return "";
  return str("In ", count, " series the absorbed form is faster again further on.");
}

}  // namespace

std::vector<std::string> crossover_statements(const Lines& lines) {
  constexpr Form kForms[] = {{"K and V kept expanded", &ComparedCrossover::kept,
                              &ComparedCrossover::kept_roofline_query_tokens},
                             {"K and V expanded anew each step", &ComparedCrossover::anew,
                              &ComparedCrossover::anew_roofline_query_tokens}};
  std::vector<std::string> statements;
  for (const Form& form : kForms) {
    const Found found = found_of(lines, form);
    if (found.series == 0) continue;
    const bool kept = form.found == &ComparedCrossover::kept;
    statements.push_back(measured_statement(found, form));
    statements.push_back(by_tp_statement(lines, form));
    statements.push_back(kept ? regime_page_statement(found) : flops_statement(lines));
    if (kept) statements.push_back(efficiency_statement(lines));
    statements.push_back(back_statement(lines, form));
  }
  std::erase(statements, "");
  return statements;
}

}  // namespace headsplit::cli
