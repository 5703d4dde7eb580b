#include "kernels/plugin_inputs.h"

#include <cstring>

#include "kernels/bf16.h"
#include "kernels/e4m3.h"
#include "kernels/mla_dense/reference.h"

namespace headsplit::kernels {
namespace {

constexpr int kNanByte = 0xFF;

/// Appends values of one type to raw bytes.
template <class T>
std::uint8_t* put(std::uint8_t* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

/// Values that the reference has as e4m3 x scale: dividing by the scale, a power of two, is exact.
void fill_fp8_row(const Problem& problem, std::int32_t page, int slot, std::uint8_t* out) {
  const RankProblem& shape = problem.shape;
  const int tiles = (shape.d_latent + kFp8ScaleTile - 1) / kFp8ScaleTile;
  const auto row = static_cast<std::uint64_t>(std::int64_t{page} * problem.page_tokens + slot);
  const auto scale_of = [&](int tile) {
    return fp8_cache_scale(
        problem.seed, row * static_cast<std::uint64_t>(tiles) + static_cast<std::uint64_t>(tile));
  };
  for (int d = 0; d < shape.d_latent; ++d) {
    const float value = cache_value(problem, page, slot, d);
    out = put(out, e4m3_bits(value / scale_of(d / kFp8ScaleTile)));
  }
  for (int tile = 0; tile < tiles; ++tile) out = put(out, scale_of(tile));
  for (int d = shape.d_latent; d < shape.d_qk(); ++d) {
    out = put(out, bf16_bits(cache_value(problem, page, slot, d)));
  }
}

void fill_fp8_tensor_row(const Problem& problem, std::int32_t page, int slot, std::uint8_t* out) {
  const float scale = fp8_tensor_scale(problem.seed);
  for (int d = 0; d < problem.shape.d_qk(); ++d) {
    out = put(out, e4m3_bits(cache_value(problem, page, slot, d) / scale));
  }
}

void fill_bf16_row(const Problem& problem, std::int32_t page, int slot, std::uint8_t* out) {
  for (int d = 0; d < problem.shape.d_qk(); ++d) {
    out = put(out, bf16_bits(cache_value(problem, page, slot, d)));
  }
}

auto row_filler(KvDtype dtype) {
  if (dtype == KvDtype::bf16) return fill_bf16_row;
  return dtype == KvDtype::fp8 ? fill_fp8_row : fill_fp8_tensor_row;
}

void fill_request(const Problem& problem, int request, std::uint8_t* cache) {
  const std::int64_t row_bytes = cache_row_bytes(problem.shape);
  const std::size_t first_page =
      static_cast<std::size_t>(request) * static_cast<std::size_t>(problem.pages_per_request);
  const auto fill = row_filler(problem.shape.kv_dtype);
  for (int token = 0; token < problem.lengths[static_cast<std::size_t>(request)]; ++token) {
    const auto column = static_cast<std::size_t>(token / problem.page_tokens);
    const std::int32_t page = problem.page_table[first_page + column];
    const int slot = token % problem.page_tokens;
    const std::int64_t row = std::int64_t{page} * problem.page_tokens + slot;
    fill(problem, page, slot, cache + row * row_bytes);
  }
}

}  // namespace

HostInputs make_host_inputs(const Problem& problem, ThreadPool& pool) {
  const std::int64_t query_count = problem.rows() * problem.shape.d_qk();
  HostInputs inputs{.query_bytes = 2 * query_count,
                    .cache_bytes = std::int64_t{problem.page_count} * problem.page_tokens *
                                   cache_row_bytes(problem.shape)};
  inputs.query = make_aligned<std::uint16_t>(static_cast<std::size_t>(query_count));
  inputs.cache = make_aligned<std::uint8_t>(static_cast<std::size_t>(inputs.cache_bytes));
  const std::int64_t width = problem.shape.d_qk();
  pool.for_each(static_cast<int>(problem.rows()), [&](int row, int) {
    for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
      inputs.query[static_cast<std::size_t>(i)] = bf16_bits(query_value(problem, i));
    }
  });
  std::memset(inputs.cache.get(), kNanByte, static_cast<std::size_t>(inputs.cache_bytes));
  pool.for_each(problem.shape.batch,
                [&](int request, int) { fill_request(problem, request, inputs.cache.get()); });
  return inputs;
}

}  // namespace headsplit::kernels
