#include "agent/gathered_rows.h"

#include <algorithm>

#include "agent/point_reference.h"

namespace headsplit::agent {
namespace {

using kernels::OutputRow;
using kernels::Problem;
using std::size_t;

/// One rank's answer for a row: whether it holds it, its LSE, its values.
size_t answer_width(const Problem& whole) { return 2 + size_t(whole.shape.d_latent); }

/// The row of `shard` that a row of the whole problem is; nothing when it is another rank's.
std::optional<std::int64_t> row_in_shard(const Problem& whole, const Problem& shard,
                                         std::int64_t row) {
  const std::int64_t head = row % whole.shape.local_heads - shard.source.first_head;
  const std::int64_t token = row / whole.shape.local_heads % whole.shape.query_tokens;
  const std::int64_t request = whole.request_of(row) - shard.source.first_request;
  const bool ours =
      head >= 0 && head < shard.shape.local_heads && request >= 0 && request < shard.shape.batch;
  if (!ours) return std::nullopt;
  return (request * shard.shape.query_tokens + token) * shard.shape.local_heads + head;
}

/// The whole output of a gang as verify() sees a kernel's: rows are asked of the ranks.
class GatheredRows final : public kernels::BoundKernel {
 public:
  GatheredRows(const Problem& whole, const Problem& shard, tp::RankAttention& attention,
               tp::MeshGroup& control)
      : whole_(whole), shard_(shard), attention_(attention), control_(control) {}

  const kernels::Config& config() const override { return config_; }
  Result<void> poison() override { return {}; }
  Result<void> launch(kernels::Part) override { return {}; }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    std::int64_t count = static_cast<std::int64_t>(rows.size());
    TRY(control_.broadcast(std::as_writable_bytes(std::span(&count, 1)), 0));
    std::vector<std::int64_t> wanted(rows.begin(), rows.end());
    TRY(control_.broadcast(std::as_writable_bytes(std::span(wanted)), 0));
    const auto all = TRY(answers(wanted));
    std::vector<OutputRow> found;
    for (size_t i = 0; i < wanted.size(); ++i) found.push_back(TRY(chosen(all, wanted, i)));
    return found;
  }

  /// The half of the ranks that do not check.
  Result<void> answer() {
    std::int64_t count = 0;
    TRY(control_.broadcast(std::as_writable_bytes(std::span(&count, 1)), 0));
    std::vector<std::int64_t> wanted(static_cast<size_t>(count));
    TRY(control_.broadcast(std::as_writable_bytes(std::span(wanted)), 0));
    TRY(answers(wanted));
    return {};
  }

 private:
  /// [ranks, rows, answer_width]
  Result<std::vector<float>> answers(const std::vector<std::int64_t>& rows) {
    const size_t width = answer_width(whole_);
    std::vector<float> own(rows.size() * width);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto row = row_in_shard(whole_, shard_, rows[i]);
      const auto& merged = attention_.merged();
      if (!row || *row < merged.begin || *row >= merged.begin + merged.count) continue;
      const auto output = TRY(attention_.output_rows(std::span(&*row, 1)));
      float* answer = own.data() + i * width;
      answer[0] = 1;
      answer[1] = output[0].lse;
      std::copy(output[0].values.begin(), output[0].values.end(), answer + 2);
    }
    std::vector<float> all(own.size() * size_t(control_.size()));
    TRY(control_.all_gather(own.data(), all.data(), std::int64_t(own.size() * sizeof(float))));
    return all;
  }

  Result<OutputRow> chosen(const std::vector<float>& all, const std::vector<std::int64_t>& rows,
                           size_t i) const {
    const size_t width = answer_width(whole_);
    for (size_t rank = 0; rank < size_t(control_.size()); ++rank) {
      const float* answer = all.data() + (rank * rows.size() + i) * width;
      if (answer[0] == 1) return OutputRow{{answer + 2, answer + width}, answer[1]};
    }
    return fail(ErrorKind::mismatch, "row ", rows[i], " of the whole is on no rank");
  }

  const Problem& whole_;
  const Problem& shard_;
  tp::RankAttention& attention_;
  tp::MeshGroup& control_;
  kernels::Config config_;
};

}  // namespace

Result<double> verify_gathered(Device& device, const Problem& whole, const Problem& shard, int cp,
                               tp::RankAttention& attention, tp::MeshGroup& control) {
  GatheredRows rows(whole, shard, attention, control);
  if (control.rank() != 0) {
    TRY(rows.answer());
    return 0.0;
  }
  const kernels::Reference reference = TRY(make_point_reference(device, whole));
  const auto allowed = kernels::merged_tolerance(whole.shape.kv_dtype, cp);
  const auto verification = kernels::verify(rows, whole, reference, allowed);
  if (!verification) return within_context("ranks together", verification.error());
  return verification->worst;
}

}  // namespace headsplit::agent
