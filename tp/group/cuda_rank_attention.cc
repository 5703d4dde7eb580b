#include "tp/group/cuda_rank_attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/bf16.h"
#include "kernels/device/buffer.h"
#include "kernels/device/host_copy.h"
#include "kernels/mla_dense/reference.h"
#include "tp/group/cuda_merge.h"

namespace headsplit::tp {
namespace {

using kernels::bf16_bits;
using kernels::bf16_value;
using kernels::DeviceBuffer;
using kernels::OutputRow;
using kernels::OutputView;
using kernels::Problem;
using std::size_t;

/// What is in device memory; empty where the layout does not need it.
struct CudaMergeBuffers {
  DeviceBuffer<std::uint16_t> query;    ///< this rank's rows
  DeviceBuffer<std::uint16_t> queries;  ///< those of all
  DeviceBuffer<std::byte> sent;         ///< partial rows of all ranks, as the merge sends them
  DeviceBuffer<std::byte> received;
  DeviceBuffer<float> own_lse;
  DeviceBuffer<float> all_lse;
  DeviceBuffer<float> values;  ///< merged rows, [rows_a_rank, d_latent]
  DeviceBuffer<float> lse;
  DeviceBuffer<std::uint16_t> projected;  ///< [tokens, hidden]
  DeviceBuffer<std::uint16_t> reduced;
};

Result<void> make_context_buffers(CudaMergeBuffers& buffers, const Problem& shard,
                                  const MergedRows& merged, int ranks, cudaStream_t stream) {
  const RankProblem& shape = shard.shape;
  const std::int64_t padded = merged.rows_a_rank * ranks;
  const std::int64_t query_values = merged.rows_a_rank * shape.d_qk();
  std::vector<std::uint16_t> query(static_cast<size_t>(query_values));
  for (std::int64_t at = 0; at < merged.count * shape.d_qk(); ++at) {
    const std::int64_t index = merged.begin * shape.d_qk() + at;
    query[size_t(at)] = bf16_bits(kernels::query_value(shard, index));
  }
  buffers.query = TRY(DeviceBuffer<std::uint16_t>::copy_of(query, stream));
  buffers.queries = TRY(DeviceBuffer<std::uint16_t>::make(query_values * ranks));
  const std::int64_t packed_bytes = padded * packed_row_bytes(shape.d_latent);
  buffers.sent = TRY(DeviceBuffer<std::byte>::make(packed_bytes));
  buffers.received = TRY(DeviceBuffer<std::byte>::make(packed_bytes));
  buffers.own_lse = TRY(DeviceBuffer<float>::make(padded));
  buffers.all_lse = TRY(DeviceBuffer<float>::make(padded * ranks));
  buffers.values = TRY(DeviceBuffer<float>::make(merged.rows_a_rank * shape.d_latent));
  buffers.lse = TRY(DeviceBuffer<float>::make(merged.rows_a_rank));
  CUDA_TRY(cudaStreamSynchronize(stream));  // `query` ends here
  return {};
}

class NcclRankAttention final : public CudaRankAttention {
 public:
  NcclRankAttention(OutputView output, const Problem& shard, const MergedRows& merged,
                    const NcclGroups& groups, Merge merge, int hidden, CudaMergeBuffers buffers,
                    cudaStream_t stream)
      : CudaRankAttention(merged),
        output_(output),
        shard_(shard),
        groups_(groups),
        merge_(merge),
        hidden_(hidden),
        buffers_(std::move(buffers)),
        stream_(stream) {}

  void set_stream(cudaStream_t stream) override {
    stream_ = stream;
    if (groups_.context != nullptr) groups_.context->set_stream(stream);
    if (groups_.requests != nullptr) groups_.requests->set_stream(stream);
  }

  Result<void> communicate() override {
    if (groups_.context != nullptr) {
      TRY(groups_.context->all_gather(buffers_.query.data(), buffers_.queries.data(),
                                      std::int64_t(buffers_.query.bytes())));
      TRY(merge_ == Merge::all_to_all ? merge_by_all_to_all() : merge_by_gather_scatter());
    }
    if (hidden_ == 0) return {};
    return groups_.requests->all_reduce(buffers_.projected.data(), buffers_.reduced.data(),
                                        buffers_.projected.count());
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    CUDA_TRY(cudaStreamSynchronize(stream_));
    std::vector<OutputRow> found;
    for (const std::int64_t row : rows) {
      const std::int64_t at = row - merged().begin;
      if (at < 0 || at >= merged().count) {
        return fail(ErrorKind::config, "row ", row, " is not one of this rank's");
      }
      OutputRow output{.values = TRY(host_values(at, 1))};
      CUDA_TRY(cudaMemcpy(&output.lse, merged_lse() + at, sizeof(float), cudaMemcpyDeviceToHost));
      found.push_back(std::move(output));
    }
    return found;
  }

  Result<void> project() override {
    if (hidden_ == 0) return {};
    const int d_latent = shard_.shape.d_latent;
    CUDA_TRY(cudaStreamSynchronize(stream_));
    const auto values = TRY(host_values(0, merged().count));
    std::vector<float> sums(size_t(buffers_.projected.count()));
    for (std::int64_t at = 0; at < merged().count; ++at) {
      const std::int64_t token = (merged().begin + at) / shard_.shape.local_heads;
      float* sum = sums.data() + token * hidden_;
      for (int k = 0; k < hidden_; ++k) sum[k] += values[size_t(at * d_latent + k % d_latent)];
    }
    std::vector<std::uint16_t> bits(sums.size());
    std::transform(sums.begin(), sums.end(), bits.begin(),
                   [](float sum) { return bf16_bits(sum); });
    return kernels::copy_from_host(buffers_.projected.data(), bits.data(),
                                   buffers_.projected.bytes());
  }

  Result<double> projection_error() override {
    if (hidden_ == 0) return 0;
    const auto ranks = size_t(groups_.requests->size());
    const auto all =
        TRY(DeviceBuffer<std::uint16_t>::make(buffers_.projected.count() * std::int64_t(ranks)));
    TRY(groups_.requests->all_gather(buffers_.projected.data(), all.data(),
                                     std::int64_t(buffers_.projected.bytes())));
    TRY(groups_.requests->wait());
    std::vector<std::uint16_t> inputs(size_t(all.count()));
    std::vector<std::uint16_t> sums(size_t(buffers_.reduced.count()));
    CUDA_TRY(cudaMemcpy(inputs.data(), all.data(), all.bytes(), cudaMemcpyDeviceToHost));
    CUDA_TRY(cudaMemcpy(sums.data(), buffers_.reduced.data(), buffers_.reduced.bytes(),
                        cudaMemcpyDeviceToHost));
    return worst_sum(inputs, sums, ranks);
  }

 private:
  /// Merged rows from `begin` on, counted from this rank's first; the stream has come there.
  Result<std::vector<float>> host_values(std::int64_t begin, std::int64_t count) const {
    const int d_latent = shard_.shape.d_latent;
    std::vector<float> values(size_t(count * d_latent));
    if (groups_.context != nullptr) {
      CUDA_TRY(cudaMemcpy(values.data(), buffers_.values.data() + begin * d_latent,
                          values.size() * sizeof(float), cudaMemcpyDeviceToHost));
      return values;
    }
    std::vector<std::uint16_t> bits(values.size());
    CUDA_TRY(cudaMemcpy(bits.data(), output_.values_bf16 + begin * d_latent,
                        bits.size() * sizeof(std::uint16_t), cudaMemcpyDeviceToHost));
    std::transform(bits.begin(), bits.end(), values.begin(), bf16_value);
    return values;
  }
  const float* merged_lse() const {
    return groups_.context == nullptr ? output_.lse : buffers_.lse.data();
  }

  MergeArguments arguments() const {
    return {.values = output_.values_bf16,
            .lse = output_.lse,
            .rows = merged().rows,
            .rows_a_rank = merged().rows_a_rank,
            .begin = merged().begin,
            .count = merged().count,
            .ranks = groups_.context->size(),
            .d_latent = shard_.shape.d_latent};
  }

  Result<void> merge_by_all_to_all() {
    const MergeArguments merge = arguments();
    CUDA_TRY(pack_partials(merge, buffers_.sent.data(), stream_));
    TRY(groups_.context->all_to_all(buffers_.sent.data(), buffers_.received.data(),
                                    merge.rows_a_rank * packed_row_bytes(merge.d_latent)));
    CUDA_TRY(merge_packed(merge, buffers_.received.data(), buffers_.values.data(),
                          buffers_.lse.data(), stream_));
    return {};
  }

  Result<void> merge_by_gather_scatter() {
    const MergeArguments merge = arguments();
    auto* weighted = reinterpret_cast<std::uint16_t*>(buffers_.sent.data());
    auto* summed = reinterpret_cast<std::uint16_t*>(buffers_.received.data());
    CUDA_TRY(pad_lse(merge, buffers_.own_lse.data(), stream_));
    TRY(groups_.context->all_gather(buffers_.own_lse.data(), buffers_.all_lse.data(),
                                    std::int64_t(buffers_.own_lse.bytes())));
    CUDA_TRY(
        weigh_partials(merge, buffers_.all_lse.data(), weighted, buffers_.lse.data(), stream_));
    const std::int64_t count = merge.rows_a_rank * merge.d_latent;
    TRY(groups_.context->reduce_scatter(weighted, summed, count));
    CUDA_TRY(widen(summed, buffers_.values.data(), count, stream_));
    return {};
  }

  OutputView output_;
  const Problem& shard_;
  NcclGroups groups_;
  Merge merge_;
  int hidden_ = 0;
  CudaMergeBuffers buffers_;
  cudaStream_t stream_;
};

}  // namespace

Result<std::unique_ptr<CudaRankAttention>> cuda_rank_attention(const kernels::BoundKernel& kernel,
                                                               const Problem& shard,
                                                               const NcclGroups& groups,
                                                               Merge merge, int hidden,
                                                               cudaStream_t stream) {
  const auto output = kernel.output();
  if (!output || output->values_bf16 == nullptr) return no_output();
  const int ranks = groups.context == nullptr ? 1 : groups.context->size();
  const MergedRows merged =
      merged_rows(shard, ranks, groups.context == nullptr ? 0 : groups.context->rank());
  CudaMergeBuffers buffers;
  if (ranks > 1) TRY(make_context_buffers(buffers, shard, merged, ranks, stream));
  const int width = groups.requests == nullptr ? 0 : hidden;
  const std::int64_t tokens = std::int64_t{1} * shard.shape.batch * shard.shape.query_tokens;
  buffers.projected = TRY(DeviceBuffer<std::uint16_t>::make(tokens * width));
  buffers.reduced = TRY(DeviceBuffer<std::uint16_t>::make(tokens * width));
  CUDA_TRY(cudaMemsetAsync(buffers.projected.data(), 0, buffers.projected.bytes(), stream));
  auto attention = std::make_unique<NcclRankAttention>(*output, shard, merged, groups, merge, width,
                                                       std::move(buffers), stream);
  attention->set_stream(stream);
  return attention;
}

}  // namespace headsplit::tp
