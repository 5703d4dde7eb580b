#include "coordinator/answers/measured_crossover.h"

#include <cmath>
#include <map>
#include <tuple>

#include "core/nearest.h"
#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

/// Rows of one kernel at one number of query tokens.
struct Measured {
  std::vector<double> times_us;
  std::vector<double> roofline_fractions;
  std::string why_not;  ///< of a row that is not ok
};

std::optional<double> median(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return quantile(values, 0.5);
}

/// Rows of one problem by kernel and query tokens.
struct Problem {
  MeasuredCrossover line;
  std::map<std::string, std::map<int, Measured>> kernels;

  std::optional<double> time_us(const std::string& kernel, int query_tokens) const {
    const auto found = kernels.find(kernel);
    if (found == kernels.end() || !found->second.contains(query_tokens)) return std::nullopt;
    return median(found->second.at(query_tokens).times_us);
  }
  bool has_times(const std::string& kernel) const {
    const auto found = kernels.find(kernel);
    return found != kernels.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [](const auto& entry) { return !entry.second.times_us.empty(); });
  }
};

bool is_of_a_form(const Row& row) {
  const std::string& kernel = row.kernel;
  const bool named = kernel == kAbsorbedKernel || kernel == kKeptKernel ||
                     kernel == kExpandKernel || kernel == kAnewKernel;
  return named && row.kv_dtype == KvDtype::bf16 && row.dp == 1 && row.cp == 1 &&
         row.fixed_splits == 0;
}

auto key_of(const Row& row) {
  return std::tuple(row.model, row.ranks, row.lengths, row.l2, row.batch, row.context, row.tp);
}

MeasuredCrossover identity_of(const Row& row) {
  return {.model = row.model,
          .device = row.device,
          .gpu_uuid = row.gpu_uuid,
          .build = row.build,
          .ranks = row.ranks,
          .lengths = row.lengths,
          .l2 = row.l2,
          .tp = row.tp,
          .local_heads = row.local_heads,
          .batch = row.batch,
          .context = row.context};
}

void add_row(Problem& problem, const Row& row) {
  Measured& measured = problem.kernels[row.kernel][row.query_tokens];
  if (row.status != Status::ok || !row.time_us) {
    if (measured.why_not.empty()) measured.why_not = str(enum_name(row.status), ": ", row.reason);
    return;
  }
  if (problem.line.local_heads == 0) problem.line.local_heads = row.local_heads;
  measured.times_us.push_back(*row.time_us);
  if (row.roofline_fraction) measured.roofline_fractions.push_back(*row.roofline_fraction);
}

/// By the machine and build that measured, then by problem.  Rows without a machine (skipped before
/// an agent saw them) say only why something is missing: they go to every machine.
std::vector<Problem> problems_of(std::span<const Row> rows) {
  using Machine = std::tuple<std::string, std::string, std::string>;
  std::map<std::tuple<Machine, decltype(key_of(rows.front()))>, Problem> problems;
  for (const Row& row : rows) {
    if (!is_of_a_form(row) || row.status != Status::ok) continue;
    const Machine machine{row.device, row.gpu_uuid, row.build};
    auto [found, added] = problems.try_emplace({machine, key_of(row)});
    if (added) found->second.line = identity_of(row);
    add_row(found->second, row);
  }
  for (const Row& row : rows) {
    if (!is_of_a_form(row) || row.status == Status::ok) continue;
    for (auto& [key, problem] : problems) {
      if (std::get<1>(key) == key_of(row)) add_row(problem, row);
    }
  }
  std::vector<Problem> all;
  for (auto& [key, problem] : problems) all.push_back(std::move(problem));
  return all;
}

FormTimes times_at(const Problem& problem, int query_tokens) {
  FormTimes times{.query_tokens = query_tokens};
  times.absorbed_us = problem.time_us(kAbsorbedKernel, query_tokens);
  times.kept_us = problem.time_us(kKeptKernel, query_tokens);
  times.anew_us = problem.time_us(kAnewKernel, query_tokens);
  const auto fraction = [&](const char* kernel) -> std::optional<double> {
    const auto found = problem.kernels.find(kernel);
    if (found == problem.kernels.end() || !found->second.contains(query_tokens)) return {};
    return median(found->second.at(query_tokens).roofline_fractions);
  };
  times.absorbed_roofline_fraction = fraction(kAbsorbedKernel);
  times.kept_roofline_fraction = fraction(kKeptKernel);
  return times;
}

using FormTime = std::optional<double> FormTimes::*;

std::optional<FormSwitch> switch_of(const std::vector<FormTimes>& times, FormTime form) {
  Advantages advantages;
  for (const FormTimes& one : times) {
    if (!one.absorbed_us || !(one.*form)) continue;
    advantages[one.query_tokens] = std::log(*(one.*form) / *one.absorbed_us);
  }
  if (advantages.size() < 2) return std::nullopt;
  const Turn turn = first_turn(advantages);
  FormSwitch found{.turns = turn.turns,
                   .query_tokens = turn.at,
                   .low = static_cast<int>(turn.low),
                   .high = static_cast<int>(turn.high)};
  if (turn.slower_again) found.slower_again = static_cast<int>(*turn.slower_again);
  return found;
}

/// "mla_expanded (skipped: needs 1 byte)": a kernel without a time in this problem.
std::string absence_of(const Problem& problem, const std::string& kernel) {
  const auto found = problem.kernels.find(kernel);
  if (found == problem.kernels.end()) return kernel;
  for (const auto& [tokens, measured] : found->second) {
    if (!measured.why_not.empty()) return str(kernel, " (", measured.why_not, ")");
  }
  return kernel;
}

std::string lacking_of(const Problem& problem) {
  std::vector<std::string> absent;
  for (const char* kernel : {kAbsorbedKernel, kKeptKernel}) {
    if (!problem.has_times(kernel)) absent.push_back(absence_of(problem, kernel));
  }
  if (!problem.has_times(kAnewKernel) && !problem.has_times(kExpandKernel)) {
    absent.push_back(absence_of(problem, kExpandKernel));
  }
  if (!absent.empty()) return "no time of " + joined(absent, ", ");
  if (problem.line.kept) return "";
  return str("fewer than two query tokens at which both ", kAbsorbedKernel, " and ", kKeptKernel,
             " have a time");
}

MeasuredCrossover finished(const Problem& problem) {
  MeasuredCrossover line = problem.line;
  std::map<int, FormTimes> times;
  for (const auto& [kernel, by_tokens] : problem.kernels) {
    if (kernel == kExpandKernel) continue;
    for (const auto& [tokens, measured] : by_tokens) {
      if (!measured.times_us.empty()) times.try_emplace(tokens, times_at(problem, tokens));
    }
  }
  for (const auto& [tokens, one] : times) line.times.push_back(one);
  line.kept = switch_of(line.times, &FormTimes::kept_us);
  line.anew = switch_of(line.times, &FormTimes::anew_us);
  Problem named{line, problem.kernels};
  line.lacking = lacking_of(named);
  return line;
}

bool is_compared(const Problem& problem) {
  return problem.has_times(kAbsorbedKernel) || problem.has_times(kKeptKernel) ||
         problem.has_times(kAnewKernel);
}

}  // namespace

std::vector<MeasuredCrossover> measured_crossovers(std::span<const Row> rows) {
  std::vector<Row> all(rows.begin(), rows.end());
  const auto sums = reexpanded_rows(rows);
  all.insert(all.end(), sums.begin(), sums.end());
  std::vector<MeasuredCrossover> lines;
  for (const Problem& problem : problems_of(all)) {
    if (is_compared(problem)) lines.push_back(finished(problem));
  }
  return lines;
}

}  // namespace headsplit::coordinator
