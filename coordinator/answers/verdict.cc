#include "coordinator/answers/verdict.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "coordinator/answers/case_list.h"
#include "coordinator/answers/reexpanded.h"
#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// "time_us of tp 8 over tp 1", "heads x tokens at the knee".
std::string what_of(const Judge& judge) {
  const std::string figure = judge.of->name;
  const std::string to = joined(judge.to, " or ");
  switch (judge.kind) {
    case JudgeKind::value: return figure;
    case JudgeKind::ratio: {
      const std::string ratio =
          str(figure, " at ", judge.vary, " ", to, " over that at ", judge.from);
      return judge.expected == Expected::equal
                 ? ratio
                 : str(ratio, ", as a part of what ", enum_name(judge.expected), " would be");
    }
    case JudgeKind::spread:
      return str("largest over smallest ", figure, " across ", joined(judge.across, " and "));
    case JudgeKind::knee: return "local_heads x query_tokens at the knee of " + figure;
    case JudgeKind::crossing:
      return str(judge.along, " from which ", to, " is faster than ", judge.from);
    case JudgeKind::table: return str(figure, " over that of ", judge.table.name);
  }
  return figure;
}

/// Point ids of cases, each once, in order.
std::vector<std::string> ids_of_cases(std::span<const Case> cases, const Range& accept,
                                      bool inside) {
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const Case& one : cases) {
    if (accept.holds(one.figure) != inside) continue;
    for (const std::string& id : one.rows) {
      if (seen.insert(id).second) ids.push_back(id);
    }
  }
  return ids;
}

std::string missing_text(const Judge& judge, std::size_t measured, std::size_t cases) {
  const std::string where = judge.where.text();
  if (measured == 0) return "no ok row" + (where.empty() ? "" : " with " + where);
  if (cases > 0) return str("only ", cases, " of the ", judge.least_cases, " cases needed");
  std::string lack;
  switch (judge.kind) {
    case JudgeKind::value: lack = str("without ", judge.of->name); break;
    case JudgeKind::ratio:
      lack =
          str("without a pair of ", judge.vary, " ", judge.from, " and ", joined(judge.to, " or "),
              " with ", judge.of->name, " that is equal in all else, on one GPU with one build");
      break;
    case JudgeKind::spread:
      lack = str("without ", judge.least_entries, " that differ in ", joined(judge.across, " and "),
                 " only");
      break;
    case JudgeKind::knee:
      lack = str("without a series from at most ", kKneeFlatMost, " to at least ", kKneeLinearLeast,
                 " local_heads x query_tokens");
      break;
    case JudgeKind::crossing:
      lack = str("without a series of both along ", judge.along, " that is long enough");
      break;
    case JudgeKind::table: lack = "without a problem of " + judge.table.name; break;
  }
  return str(measured, measured == 1 ? " row" : " rows", where.empty() ? "" : " with " + where,
             ", but ", lack);
}

/// An infinity among the cases makes no median of its neighbours.
double median_case(std::span<const double> sorted) {
  const double lower = sorted[(sorted.size() - 1) / 2];
  const double upper = sorted[sorted.size() / 2];
  return std::isfinite(lower) && std::isfinite(upper) ? (lower + upper) / 2 : lower;
}

std::string cases_text(const Judge& judge, const Verdict& verdict, std::span<const double> sorted) {
  std::string text = what_of(judge) + " is " + number_text(median_case(sorted));
  if (sorted.size() > 1) {
    text += str(" (median of ", sorted.size(), "; ", number_text(sorted.front()), " to ",
                number_text(sorted.back()), ")");
  }
  text += str("; ", verdict.cases_agreeing, " of ", verdict.cases, " within ",
              range_text(judge.accept));
  if (judge.share < 1) text += str(", needed ", number_text(judge.share * 100), " %");
  return text;
}

Verdict judge_one(const Claim& claim, std::span<const Row* const> rows) {
  Verdict verdict;
  verdict.id = claim.id;
  verdict.source = claim.source;
  verdict.statement = claim.statement;
  const Judge& judge = claim.judge;
  verdict.accepted_low = if_finite(judge.accept.low);
  verdict.accepted_high = if_finite(judge.accept.high);
  verdict.share_needed = judge.share;
  std::vector<const Row*> selected;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(selected),
               [&](const Row* row) { return judge.where.matches(*row); });
  const std::vector<Case> cases = cases_of(judge, gather_repeats(selected));
  verdict.cases = static_cast<int>(cases.size());
  if (verdict.cases < judge.least_cases) {
    verdict.sentence =
        missing_text(judge, selected.size(), cases.size()) + "; rows from: " + claim.rows_from;
    return verdict;
  }
  std::vector<double> figures;
  for (const Case& one : cases) figures.push_back(one.figure);
  std::sort(figures.begin(), figures.end());
  verdict.figure = if_finite(median_case(figures));
  verdict.figure_low = if_finite(figures.front());
  verdict.figure_high = if_finite(figures.back());
  verdict.cases_agreeing = static_cast<int>(std::count_if(
      figures.begin(), figures.end(), [&](double value) { return judge.accept.holds(value); }));
  const bool holds = verdict.cases_agreeing >= judge.share * verdict.cases;
  verdict.verdict = holds ? Ruling::confirmed : Ruling::refuted;
  verdict.rows = ids_of_cases(cases, judge.accept, holds);
  verdict.rows_against = ids_of_cases(cases, judge.accept, !holds);
  verdict.sentence = cases_text(judge, verdict, figures);
  return verdict;
}

}  // namespace

std::vector<Verdict> judge(std::span<const Claim> claims, std::span<const Row> rows) {
  const std::vector<Row> sums = reexpanded_rows(rows);
  std::vector<const Row*> ok;
  for (const Row& row : sums) ok.push_back(&row);
  for (const Row& row : rows) {
    if (row.status == Status::ok && row.fixed_splits == 0) ok.push_back(&row);
  }
  std::vector<Verdict> verdicts;
  for (const Claim& claim : claims) verdicts.push_back(judge_one(claim, ok));
  return verdicts;
}

}  // namespace headsplit::coordinator
