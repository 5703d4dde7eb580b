#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headsplit::tp {

/// What the kernels that merge partial outputs work on; device pointers.
struct MergeArguments {
  const std::uint16_t* values = nullptr;  ///< [rows, d_latent] bf16, this rank's partial output
  const float* lse = nullptr;             ///< [rows]
  std::int64_t rows = 0;
  std::int64_t rows_a_rank = 0;
  std::int64_t begin = 0;  ///< first merged row of this rank
  std::int64_t count = 0;  ///< merged rows of this rank
  int ranks = 1;
  int d_latent = 0;
};

/// Bytes of a partial row on the wire of an all-to-all: bf16 values, then the fp32 LSE.
constexpr std::int64_t packed_row_bytes(int d_latent) { return 2 * std::int64_t{d_latent} + 4; }

/// packed: [ranks x rows_a_rank, packed_row_bytes]; d_latent must be even.
cudaError_t pack_partials(const MergeArguments& merge, std::byte* packed, cudaStream_t stream);
/// received: [ranks, rows_a_rank, packed_row_bytes], merged into values [rows_a_rank, d_latent] and
/// lse [rows_a_rank].
cudaError_t merge_packed(const MergeArguments& merge, const std::byte* received, float* values,
                         float* lse, cudaStream_t stream);
/// own_lse: [ranks x rows_a_rank], this rank's, -infinity behind its rows.
cudaError_t pad_lse(const MergeArguments& merge, float* own_lse, cudaStream_t stream);
/// all_lse: [ranks, ranks x rows_a_rank].  weighted: [ranks x rows_a_rank, d_latent] bf16, each row
/// times what it counts for; lse: [rows_a_rank], of this rank's merged rows.
cudaError_t weigh_partials(const MergeArguments& merge, const float* all_lse,
                           std::uint16_t* weighted, float* lse, cudaStream_t stream);
/// bf16 to fp32.
cudaError_t widen(const std::uint16_t* in, float* out, std::int64_t count, cudaStream_t stream);

}  // namespace headsplit::tp
