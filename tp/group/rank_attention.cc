#include "tp/group/rank_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/bf16.h"
#include "kernels/mla_dense/reference.h"

namespace headsplit::tp {
namespace {

using kernels::bf16_bits;
using kernels::bf16_value;
using kernels::OutputRow;
using kernels::OutputView;
using kernels::Problem;
using std::size_t;

/// What a row's partial output counts for in the whole, from its LSE and that of all.
float weight_of(float lse, float lse_of_all) {
  const bool nothing = !(lse > -std::numeric_limits<float>::infinity());
  return nothing ? 0 : std::exp(lse - lse_of_all);
}

float lse_of(const std::vector<float>& lse) {
  const float largest = *std::max_element(lse.begin(), lse.end());
  if (!(largest > -std::numeric_limits<float>::infinity())) return largest;
  float sum = 0;
  for (const float value : lse) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

/// A partial row on the wire of an all-to-all: its values in bf16, then its LSE in fp32.
std::int64_t packed_row_bytes(int d_latent) { return 2 * std::int64_t{d_latent} + 4; }

class HostRankAttention final : public RankAttention {
 public:
  HostRankAttention(OutputView output, const Problem& shard, const RankGroups& groups, Merge merge,
                    int hidden)
      : RankAttention(merged_rows(shard, groups.context == nullptr ? 1 : groups.context->size(),
                                  groups.context == nullptr ? 0 : groups.context->rank())),
        output_(output),
        shard_(shard),
        groups_(groups),
        merge_(merge),
        hidden_(groups.requests == nullptr ? 0 : hidden) {
    const auto d_latent = size_t(shard.shape.d_latent);
    if (groups_.context != nullptr) {
      const auto padded = size_t(merged().rows_a_rank * groups_.context->size());
      prepare_queries(padded);
      sent_.resize(padded * size_t(packed_row_bytes(shard.shape.d_latent)));
      received_.resize(sent_.size());
      lse_.resize(padded);
      values_.resize(size_t(merged().rows_a_rank) * d_latent);
      merged_lse_.resize(size_t(merged().rows_a_rank));
    }
    const auto tokens = size_t(std::int64_t{1} * shard.shape.batch * shard.shape.query_tokens);
    projected_.resize(tokens * size_t(hidden_));
    reduced_.resize(projected_.size());
  }

  Result<void> communicate() override {
    if (groups_.context != nullptr) {
      const auto own = std::int64_t(query_.size() * sizeof(std::uint16_t));
      TRY(groups_.context->all_gather(query_.data(), queries_.data(), own));
      TRY(merge_ == Merge::all_to_all ? merge_by_all_to_all() : merge_by_gather_scatter());
    }
    if (hidden_ == 0) return {};
    return groups_.requests->all_reduce(projected_.data(), reduced_.data(),
                                        std::int64_t(projected_.size()));
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    std::vector<OutputRow> found;
    for (const std::int64_t row : rows) {
      const std::int64_t at = row - merged().begin;
      if (at < 0 || at >= merged().count) {
        return fail(ErrorKind::config, "row ", row, " is not one of this rank's");
      }
      const float* values = merged_values() + at * shard_.shape.d_latent;
      found.push_back(
          {std::vector<float>(values, values + shard_.shape.d_latent), merged_lse()[at]});
    }
    return found;
  }

  Result<void> project() override {
    const int d_latent = shard_.shape.d_latent;
    std::vector<float> sums(projected_.size());
    for (std::int64_t at = 0; at < merged().count && hidden_ > 0; ++at) {
      const std::int64_t token = (merged().begin + at) / shard_.shape.local_heads;
      const float* values = merged_values() + at * d_latent;
      float* sum = sums.data() + token * hidden_;
      for (int k = 0; k < hidden_; ++k) sum[k] += values[k % d_latent];
    }
    std::transform(sums.begin(), sums.end(), projected_.begin(),
                   [](float sum) { return bf16_bits(sum); });
    return {};
  }

  Result<double> projection_error() override {
    if (hidden_ == 0) return 0;
    const auto ranks = size_t(groups_.requests->size());
    std::vector<std::uint16_t> all(projected_.size() * ranks);
    TRY(groups_.requests->all_gather(projected_.data(), all.data(),
                                     std::int64_t(projected_.size() * sizeof(std::uint16_t))));
    return worst_sum(all, reduced_, ranks);
  }

 private:
  const float* merged_values() const {
    return groups_.context == nullptr ? output_.values : values_.data();
  }
  const float* merged_lse() const {
    return groups_.context == nullptr ? output_.lse : merged_lse_.data();
  }

  /// This rank's part of the queries, and room for all.
  void prepare_queries(size_t padded_rows) {
    const int d_qk = shard_.shape.d_qk();
    query_.resize(size_t(merged().rows_a_rank) * size_t(d_qk));
    queries_.resize(padded_rows * size_t(d_qk));
    for (std::int64_t at = 0; at < merged().count * d_qk; ++at) {
      const std::int64_t index = merged().begin * d_qk + at;
      query_[size_t(at)] = bf16_bits(kernels::query_value(shard_, index));
    }
  }

  Result<void> merge_by_all_to_all() {
    const int d_latent = shard_.shape.d_latent;
    const std::int64_t row_bytes = packed_row_bytes(d_latent);
    for (std::int64_t row = 0; row < merged().rows; ++row) {
      std::byte* to = sent_.data() + row * row_bytes;
      const float* from = output_.values + row * d_latent;
      for (int d = 0; d < d_latent; ++d, to += 2) {
        const std::uint16_t bits = bf16_bits(from[d]);
        std::memcpy(to, &bits, sizeof bits);
      }
      std::memcpy(to, output_.lse + row, sizeof(float));
    }
    TRY(groups_.context->all_to_all(sent_.data(), received_.data(),
                                    merged().rows_a_rank * row_bytes));
    for (std::int64_t at = 0; at < merged().count; ++at) add_received(at, row_bytes);
    return {};
  }

  void add_received(std::int64_t at, std::int64_t row_bytes) {
    const int d_latent = shard_.shape.d_latent;
    const int ranks = groups_.context->size();
    std::vector<float> lse(static_cast<size_t>(ranks));
    const auto row_of = [&](int rank) {
      return received_.data() + (rank * merged().rows_a_rank + at) * row_bytes;
    };
    for (int rank = 0; rank < ranks; ++rank) {
      std::memcpy(&lse[size_t(rank)], row_of(rank) + 2 * d_latent, sizeof(float));
    }
    const float of_all = lse_of(lse);
    merged_lse_[size_t(at)] = of_all;
    float* sum = values_.data() + at * d_latent;
    std::fill_n(sum, d_latent, 0.0f);
    for (int rank = 0; rank < ranks; ++rank) {
      const float weight = weight_of(lse[size_t(rank)], of_all);
      if (weight == 0) continue;
      for (int d = 0; d < d_latent; ++d) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, row_of(rank) + 2 * d, sizeof bits);
        sum[d] += weight * bf16_value(bits);
      }
    }
  }

  Result<void> merge_by_gather_scatter() {
    const int d_latent = shard_.shape.d_latent;
    const int ranks = groups_.context->size();
    const auto padded = std::int64_t(lse_.size());
    std::vector<float> own(lse_.size(), -std::numeric_limits<float>::infinity());
    std::copy_n(output_.lse, merged().rows, own.begin());
    std::vector<float> all(lse_.size() * size_t(ranks));
    TRY(groups_.context->all_gather(own.data(), all.data(), padded * std::int64_t(sizeof(float))));
    auto* weighted = reinterpret_cast<std::uint16_t*>(sent_.data());
    std::vector<float> of_row(static_cast<size_t>(ranks));
    for (std::int64_t row = 0; row < merged().rows; ++row) {
      for (int rank = 0; rank < ranks; ++rank) {
        of_row[size_t(rank)] = all[size_t(rank * padded + row)];
      }
      lse_[size_t(row)] = lse_of(of_row);
      const float weight = weight_of(output_.lse[row], lse_[size_t(row)]);
      const float* from = output_.values + row * d_latent;
      for (int d = 0; d < d_latent; ++d) {
        weighted[row * d_latent + d] = weight == 0 ? 0 : bf16_bits(weight * from[d]);
      }
    }
    auto* summed = reinterpret_cast<std::uint16_t*>(received_.data());
    TRY(groups_.context->reduce_scatter(weighted, summed, merged().rows_a_rank * d_latent));
    for (std::int64_t i = 0; i < merged().count * d_latent; ++i) {
      values_[size_t(i)] = bf16_value(summed[i]);
    }
    std::copy_n(lse_.data() + merged().begin, merged().count, merged_lse_.data());
    return {};
  }

  OutputView output_;
  const Problem& shard_;
  RankGroups groups_;
  Merge merge_;
  int hidden_ = 0;
  std::vector<std::uint16_t> query_;    ///< this rank's rows
  std::vector<std::uint16_t> queries_;  ///< those of all
  std::vector<std::byte> sent_;         ///< partial rows of all ranks, as the merge sends them
  std::vector<std::byte> received_;
  std::vector<float> lse_;     ///< of each row of the shard, over all ranks
  std::vector<float> values_;  ///< merged rows, [rows_a_rank, d_latent]
  std::vector<float> merged_lse_;
  std::vector<std::uint16_t> projected_;  ///< [tokens, hidden]
  std::vector<std::uint16_t> reduced_;
};

}  // namespace

double worst_sum(std::span<const std::uint16_t> inputs, std::span<const std::uint16_t> sums,
                 std::size_t ranks) {
  double worst = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    double sum = 0;
    double size = 0;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const double value = bf16_value(inputs[rank * sums.size() + i]);
      sum += value;
      size += std::abs(value);
    }
    // Each of at most `ranks` sums rounds to bf16 once: half a unit of 2^-8 of what it adds.
    const double allowed = size * static_cast<double>(ranks) / 256 + 1e-30;
    const double error = std::abs(bf16_value(sums[i]) - sum) / allowed;
    if (!(error <= worst)) worst = error;  // NaN stays
  }
  return worst;
}

Error no_output() {
  return fail(ErrorKind::config, "this kernel does not show its output, so ranks cannot merge it");
}

MergedRows merged_rows(const Problem& shard, int cp, int cp_index) {
  MergedRows merged{.rows = shard.rows()};
  merged.rows_a_rank = (merged.rows + cp - 1) / cp;
  merged.begin = std::min(merged.rows, merged.rows_a_rank * cp_index);
  merged.count = std::min(merged.rows_a_rank, merged.rows - merged.begin);
  return merged;
}

Result<std::unique_ptr<RankAttention>> host_rank_attention(const kernels::BoundKernel& kernel,
                                                           const Problem& shard,
                                                           const RankGroups& groups, Merge merge,
                                                           int hidden) {
  const auto output = kernel.output();
  if (!output || output->values == nullptr) return no_output();
  return std::make_unique<HostRankAttention>(*output, shard, groups, merge, hidden);
}

}  // namespace headsplit::tp
