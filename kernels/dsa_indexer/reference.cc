#include "kernels/dsa_indexer/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "kernels/cpu/thread_pool.h"
#include "kernels/dsa_indexer/stored_values.h"

namespace headsplit::kernels::indexer {
namespace {

using std::size_t;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
/// Tokens that a thread scores at a time.
constexpr int kRunTokens = 256;
/// Scores of a judged row that are compared with fp64.
constexpr int kScoresCompared = 500;
/// How far they may be off, relative to the row's largest: tensor cores add up products of e4m3
/// with fewer bits than fp32 has.
constexpr double kScoreTolerance = 2e-3;

std::int64_t whole_row(const Problem& problem, std::int64_t row) {
  return row + std::int64_t{problem.source.first_request} * problem.shape.query_tokens;
}

const std::array<double, 256>& e4m3_table() {
  static const auto table = [] {
    std::array<double, 256> values{};
    for (int bits = 0; bits < 256; ++bits) values[size_t(bits)] = e4m3_value(std::uint8_t(bits));
    return values;
  }();
  return table;
}

/// Scores of a few of the row's tokens, as the kernel has them, against fp64.
bool scores_agree(const Problem& problem, std::int64_t row, const std::vector<float>& scores) {
  const RowQuery query(problem, row);
  const int tokens = static_cast<int>(scores.size());
  const int step = std::max(1, tokens / kScoresCompared);
  double largest = 0;
  double worst = 0;
  // The last token is one of them: it is what a mask that is off by one leaves out.
  for (int token = tokens - 1; token >= 0; token -= step) {
    const double wanted = query.score(token);
    const double error = std::abs(double{scores[size_t(token)]} - wanted);
    largest = std::max(largest, std::abs(wanted));
    if (!(error <= worst)) worst = error;  // NaN stays
  }
  return worst <= kScoreTolerance * largest;
}

}  // namespace

float weight_unit(int heads) { return 1 / std::sqrt(static_cast<float>(heads * kDim)); }

RowPlace place_of(const Problem& problem, std::int64_t row) {
  const int request = static_cast<int>(row / problem.shape.query_tokens);
  const int query_token = static_cast<int>(row % problem.shape.query_tokens);
  return {request, query_token, problem.attended(request, query_token)};
}

std::int32_t slot_of(const Problem& problem, int request, int token) {
  const std::int64_t first = std::int64_t{request} * problem.pages_per_request;
  const std::int32_t page = problem.page_table[size_t(first + token / problem.page_tokens)];
  return page * problem.page_tokens + token % problem.page_tokens;
}

RowQuery::RowQuery(const Problem& problem, std::int64_t row)
    : problem_(problem),
      request_(place_of(problem, row).request),
      heads_(problem.shape.index_heads),
      query_(size_t(heads_) * kDim),
      weights_(size_t(heads_)) {
  const std::int64_t first = whole_row(problem, row) * heads_;
  const float unit = weight_unit(heads_);
  for (size_t i = 0; i < query_.size(); ++i) {
    query_[i] = e4m3_value(stored_query(problem.seed, first * kDim + std::int64_t(i)));
  }
  for (size_t head = 0; head < weights_.size(); ++head) {
    weights_[head] = stored_weight(problem.seed, first + std::int64_t(head), unit);
  }
}

double RowQuery::score(int token) const {
  const std::int32_t slot = slot_of(problem_, request_, token);
  const std::int64_t whole_slot =
      problem_.source_page(slot / problem_.page_tokens) * problem_.page_tokens +
      slot % problem_.page_tokens;
  const float scale = stored_scale(problem_.seed, whole_slot);
  std::array<double, kDim> key;
  for (int d = 0; d < kDim; ++d) {
    key[size_t(d)] = e4m3_table()[stored_key(problem_.seed, whole_slot, d, scale)];
  }
  double sum = 0;
  for (int head = 0; head < heads_; ++head) {
    const double* query = &query_[size_t(head) * kDim];
    std::array<double, 8> parts{};  // sums of e4m3 products are exact in fp64, in any order
    for (size_t d = 0; d < kDim; d += 8) {
      for (size_t i = 0; i < 8; ++i) parts[i] += query[d + i] * key[d + i];
    }
    const double product = std::accumulate(parts.begin(), parts.end(), 0.0);
    sum += weights_[size_t(head)] * std::max(product, 0.0);
  }
  return sum * double{scale};
}

std::vector<std::int32_t> best_tokens(std::span<const float> scores, int top_k) {
  std::vector<std::int32_t> tokens(scores.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  if (tokens.size() <= size_t(top_k)) return tokens;
  const auto better = [&](std::int32_t a, std::int32_t b) {
    const float of_a = scores[size_t(a)];
    const float of_b = scores[size_t(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  };
  std::nth_element(tokens.begin(), tokens.begin() + top_k, tokens.end(), better);
  tokens.resize(size_t(top_k));
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

Result<std::vector<ReferenceRow>> dsa_indexer_reference_rows(const Problem& problem,
                                                             std::span<const std::int64_t> rows) {
  ThreadPool pool(available_threads());
  std::vector<ReferenceRow> found;
  const auto top_k = size_t(problem.shape.top_k);
  for (const std::int64_t row : rows) {
    const RowQuery query(problem, row);
    const int tokens = place_of(problem, row).tokens;
    std::vector<double> scores(size_t(std::max(tokens, 0)));
    pool.for_each((tokens + kRunTokens - 1) / kRunTokens, [&](int run, int) {
      const int end = std::min(tokens, (run + 1) * kRunTokens);
      for (int token = run * kRunTokens; token < end; ++token) {
        scores[size_t(token)] = query.score(token);
      }
    });
    std::sort(scores.begin(), scores.end(), std::greater());
    scores.resize(top_k, -std::numeric_limits<double>::infinity());
    found.push_back({.values = std::move(scores), .lse = 0});
  }
  return found;
}

OutputRow judged_row(const Problem& problem, std::int64_t row, const RowResult& result) {
  const RowPlace place = place_of(problem, row);
  const RowQuery query(problem, row);
  std::unordered_map<std::int32_t, int> token_of;  // by slot; those that are left to be chosen
  for (int token = 0; token < place.tokens; ++token) {
    token_of[slot_of(problem, place.request, token)] = token;
  }
  std::vector<std::int32_t> chosen;
  std::vector<double> values;
  for (const std::int32_t slot : result.chosen) {
    if (slot == kNoToken) {
      values.push_back(-std::numeric_limits<double>::infinity());
      continue;
    }
    const auto known = token_of.find(slot);
    values.push_back(known == token_of.end() ? kNotANumber : query.score(known->second));
    if (known == token_of.end()) continue;
    chosen.push_back(known->second);
    token_of.erase(known);
  }
  OutputRow output;
  const bool all_numbers =
      std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  if (all_numbers) std::sort(values.begin(), values.end(), std::greater());
  output.values.assign(values.begin(), values.end());
  std::sort(chosen.begin(), chosen.end());
  const bool right = chosen == best_tokens(result.scores, problem.shape.top_k) &&
                     scores_agree(problem, row, result.scores);
  output.lse = right ? 0.0f : std::numeric_limits<float>::quiet_NaN();
  return output;
}

}  // namespace headsplit::kernels::indexer
