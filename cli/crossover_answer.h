#pragma once

#include <string>
#include <vector>

#include "coordinator/answers/measured_crossover.h"

namespace headsplit::cli {

/// A measured crossover beside what is said of it on paper.
struct ComparedCrossover : coordinator::MeasuredCrossover {
  /// Query tokens S* at which absorbing and expanding anew cost the same FLOPs.
  std::optional<double> anew_flops_query_tokens;
  /// By roofline (tp::switch_point): absent where it says never, or nothing is known of the device.
  std::optional<std::int64_t> kept_roofline_query_tokens;
  std::optional<std::int64_t> anew_roofline_query_tokens;
  std::optional<double> read_gbps;  ///< the roofs: streaming read and dense bf16 matmul
  std::optional<double> bf16_tflops;
  Provenance roofs_from = Provenance::model;  ///< model: the data sheet

  bool operator==(const ComparedCrossover&) const = default;
};
BOOST_DESCRIBE_STRUCT(ComparedCrossover, (coordinator::MeasuredCrossover),
                      (anew_flops_query_tokens, kept_roofline_query_tokens,
                       anew_roofline_query_tokens, read_gbps, bf16_tflops, roofs_from))

/// Crossovers of one model on one GPU with one build at one batch, by context and tp.
struct CrossoverGroup {
  std::vector<ComparedCrossover> lines;
  std::vector<std::string> statements;  ///< what measurement and paper differ in, in sentences
};
BOOST_DESCRIBE_STRUCT(CrossoverGroup, (), (lines, statements))

/// What `headsplit crossover --db` is asked for.  Empty lists and names leave nothing out.
struct MeasuredRequest {
  std::vector<std::string> files;
  std::string model;
  std::optional<std::int64_t> context;
  std::vector<int> tp_sizes;
};

/// Problems of which rows say something of a switch.  Fails: config, naming --db (cannot be read;
/// no such rows: says which are missing and what to run), and as tp::read_model.
Result<std::vector<CrossoverGroup>> compare_crossovers(const MeasuredRequest& request);

/// Sentences on lines of one group.
std::vector<std::string> crossover_statements(const std::vector<ComparedCrossover>& lines);

/// For people: a table of each group, and its statements.
std::string measured_text(const std::vector<CrossoverGroup>& groups);

/// One line a crossover, no lists.
std::string measured_csv(const std::vector<CrossoverGroup>& groups);

/// Lines that lack one of the forms: which, and why.
std::vector<std::string> lacking_notes(const std::vector<CrossoverGroup>& groups);

}  // namespace headsplit::cli
