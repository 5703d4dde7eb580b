#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordinator/answers/claim.h"

namespace headsplit::coordinator {

enum class Ruling { confirmed, refuted, not_judged };
BOOST_DESCRIBE_ENUM(Ruling, confirmed, refuted, not_judged)

/// What rows say of a claim.  Figures are of its cases; a bound of a range is absent where the
/// range is open, a figure where a crossing never comes.
struct Verdict {
  std::string id;
  std::string source;
  std::string statement;
  Ruling verdict = Ruling::not_judged;
  std::optional<double> figure;  ///< median of the cases
  std::optional<double> figure_low;
  std::optional<double> figure_high;
  std::optional<double> accepted_low;
  std::optional<double> accepted_high;
  double share_needed = 1;
  int cases = 0;
  int cases_agreeing = 0;
  std::vector<std::string> rows;          ///< point ids that say what the verdict says
  std::vector<std::string> rows_against;  ///< and those that say the opposite
  std::string sentence;

  bool operator==(const Verdict&) const = default;
};
BOOST_DESCRIBE_STRUCT(Verdict, (),
                      (id, source, statement, verdict, figure, figure_low, figure_high,
                       accepted_low, accepted_high, share_needed, cases, cases_agreeing, rows,
                       rows_against, sentence))

/// The verdict on each claim, in their order.  Rows of mla_reexpanded are made of those of its two
/// steps (reexpanded.h) where it was not measured itself.  Only ok rows count, whose splits the
/// kernel chose: claims are of what a kernel can do.
std::vector<Verdict> judge(std::span<const Claim> claims, std::span<const Row> rows);

/// For people: a table of what was judged, the sentence of each, then what was not and why.
std::string verdict_text(std::span<const Verdict> verdicts);

/// GitHub-flavoured markdown: claim, source, verdict, figure, sentence.
std::string verdict_markdown(std::span<const Verdict> verdicts);

}  // namespace headsplit::coordinator
