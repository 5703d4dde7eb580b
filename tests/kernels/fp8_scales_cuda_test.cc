#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "kernels/bf16.h"
#include "kernels/device/host_copy.h"
#include "kernels/device/stream.h"
#include "kernels/e4m3.h"
#include "kernels/mla_dense/device_buffers.h"
#include "kernels/mla_dense/fp8_shape.h"
#include "kernels/mla_dense/split_choice.h"
#include "kernels/random_value.h"
#include "kernels/split/split_plan.h"
#include "kernels/verify.h"

namespace headsplit::kernels::dense {
namespace {

constexpr int kTokens = 200;
constexpr std::uint64_t kSeed = 71;

/// Rows of an FP8 cache as they lie, and the values that they stand for.
struct Cache {
  std::vector<unsigned char> bytes;
  std::vector<float> values;  ///< [tokens, d_qk]
  float scale = 1;            ///< of all values, of a cache with one
};

using Random = std::function<std::uint64_t()>;

/// Any e4m3 bits but NaN, into a row; what they stand for, with `scale`, to the values.
void put_e4m3(Cache& cache, unsigned char* target, int count, float scale, const Random& random) {
  for (int d = 0; d < count; ++d) {
    const auto bits = static_cast<std::uint8_t>(random());
    target[d] = (bits & 0x7Fu) == 0x7Fu ? 0 : bits;
    cache.values.push_back(e4m3_value(target[d]) * scale);
  }
}

/// A scale for each 128 latents, and RoPE values as large.
void put_row_656(Cache& cache, unsigned char* row, float unit, const Random& random) {
  for (int tile = 0; tile < fp8::kLatent / fp8::kScaleWidth; ++tile) {
    const float scale = unit * (1 + float(random() & 0xFFFF) / 65536);
    std::memcpy(row + fp8::Row656::kScalesAt + 4 * tile, &scale, sizeof scale);
    put_e4m3(cache, row + tile * fp8::kScaleWidth, fp8::kScaleWidth, scale, random);
  }
  for (int d = 0; d < fp8::kRope; ++d) {
    const std::uint16_t bits = bf16_bits(100 * unit * random_value(kSeed, Tensor::key, random()));
    std::memcpy(row + fp8::Row656::kRopeAt + 2 * d, &bits, sizeof bits);
    cache.values.push_back(bf16_value(bits));
  }
}

/// Scales have all mantissas and are in `unit` x [1, 2).
Cache cache_of(KvDtype dtype, int tokens, float unit) {
  const bool one_scale = dtype == KvDtype::fp8_tensor;
  const auto row_bytes = std::size_t(one_scale ? fp8::Row576::kBytes : fp8::Row656::kBytes);
  Cache cache{.bytes = std::vector<unsigned char>(std::size_t(tokens) * row_bytes),
              .scale = unit * 1.7f};
  const Random random = [drawn = std::uint64_t{0}]() mutable {
    return random_bits(kSeed, Tensor::cache, drawn++);
  };
  for (int token = 0; token < tokens; ++token) {
    unsigned char* const row = cache.bytes.data() + std::size_t(token) * row_bytes;
    if (one_scale) {
      put_e4m3(cache, row, fp8::kQk, cache.scale, random);
    } else {
      put_row_656(cache, row, unit, random);
    }
  }
  return cache;
}

/// One request in one run of tokens, on pages in order.
class OneRequest {
 public:
  OneRequest(Choice choice, const RankProblem& shape, float unit)
      : choice_(std::move(choice)),
        problem_(make_problem(shape, kSeed)),
        cache_(cache_of(shape.kv_dtype, problem_.page_count * problem_.page_tokens, unit)) {
    for (int i = 0; i < problem_.pages_per_request; ++i) problem_.page_table[std::size_t(i)] = i;
    problem_.softmax_scale = 1e-4f / unit;
  }

  std::vector<ReferenceRow> wanted() const {
    std::vector<ReferenceRow> rows;
    for (int head = 0; head < problem_.shape.local_heads; ++head) {
      std::vector<double> query;
      for (int d = 0; d < fp8::kQk; ++d) {
        query.push_back(
            round_to_bf16(random_value(kSeed, Tensor::query, std::uint64_t(head * fp8::kQk + d))));
      }
      const ReferenceTokens tokens{.keys = cache_.values.data(),
                                   .key_stride = fp8::kQk,
                                   .values = cache_.values.data(),
                                   .value_stride = fp8::kQk,
                                   .count = kTokens};
      rows.push_back(
          reference_attention(query, tokens, double{problem_.softmax_scale}, fp8::kLatent));
    }
    return rows;
  }

  /// [heads, kLatent], and the LSE behind each row.
  std::vector<std::vector<float>> outputs() {
    const SplitKernel& kernel = choice_.kernel;
    const split::SplitPlan plan = split::plan_splits(
        problem_, {.rows_max = kernel.rows, .tile_tokens = kernel.tokens, .num_splits = 1});
    const Stream stream = Stream::make().value();
    const Buffers buffers = make_buffers(problem_, problem_, plan, stream.get(), nullptr).value();
    buffers.poison(stream.get()).value();
    stream.synchronize().value();  // the fill of the buffers must not come after the copy
    copy_from_host(buffers.cache.data(), cache_.bytes.data(), cache_.bytes.size()).value();
    SplitArguments arguments{
        .query = buffers.query.data(),
        .cache = buffers.cache.data(),
        .page_table = buffers.page_table.data(),
        .ends = buffers.ends.data(),
        .items = buffers.items.data(),
        .item_begin = buffers.item_begin.data(),
        .output = buffers.output.data(),
        .lse = buffers.lse.data(),
        .packed_rows = problem_.shape.local_heads,
        .local_heads = problem_.shape.local_heads,
        .query_tokens = 1,
        .pages_per_request = problem_.pages_per_request,
        .page_shift = std::countr_zero(static_cast<unsigned>(problem_.page_tokens)),
        .tile_rows = plan.tile_rows,
        .stages = choice_.stages,
        .scale_log2 = problem_.softmax_scale * 1.44269504f,
        .cache_scale = cache_.scale,
        .cache_map = buffers.cache_map.data()};
    launch(arguments, plan.ctas(), stream);
    const auto rows = static_cast<std::size_t>(problem_.shape.local_heads);
    std::vector<std::uint16_t> values(rows * fp8::kLatent);
    std::vector<float> lse(rows);
    copy_back(values.data(), buffers.output.data(), values.size() * 2);
    copy_back(lse.data(), buffers.lse.data(), lse.size() * 4);
    std::vector<std::vector<float>> found(rows);
    for (std::size_t i = 0; i < values.size(); ++i) {
      found[i / fp8::kLatent].push_back(bf16_value(values[i]));
    }
    for (std::size_t row = 0; row < rows; ++row) found[row].push_back(lse[row]);
    return found;
  }

 private:
  static void copy_back(void* to, const void* from, std::size_t bytes) {
    cuda_result(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy").value();
  }

  void launch(SplitArguments& arguments, int ctas, const Stream& stream) const {
    const int shared_bytes = choice_.kernel.shared_bytes(choice_.stages);
    const void* const function = split::entry_point(choice_.kernel.function);
    cuda_result(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "cudaFuncSetAttribute")
        .value();
    void* list[] = {&arguments};
    cuda_result(cudaLaunchKernel(function, dim3(static_cast<unsigned>(ctas)),
                                 dim3(static_cast<unsigned>(choice_.kernel.threads)), list,
                                 static_cast<std::size_t>(shared_bytes), stream.get()),
                "cudaLaunchKernel")
        .value();
    stream.synchronize().value();
  }

  Choice choice_;
  Problem problem_;
  Cache cache_;
};

void expect_close(const std::vector<float>& found, const ReferenceRow& wanted,
                  const std::string& what) {
  const Tolerance allowed = tolerance(KvDtype::fp8);
  double squares = 0;
  for (const double value : wanted.values) squares += value * value;
  const double rms = std::sqrt(squares / fp8::kLatent);
  for (std::size_t d = 0; d < fp8::kLatent; ++d) {
    ASSERT_NEAR(found[d], wanted.values[d],
                allowed.of_value * std::abs(wanted.values[d]) + allowed.of_row * rms)
        << what << ", value " << d;
  }
  ASSERT_NEAR(found[fp8::kLatent], wanted.lse, allowed.lse_absolute) << what;
}

void expect_all_close(const RankProblem& shape, float unit) {
  for (Choice& choice : runnable_kernels(shape, split::current_gpu().value())) {
    const std::string what =
        str(enum_name(shape.kv_dtype), ", ", choice.kernel.name, ", ", choice.kernel.rows,
            " rows a CTA, scales from ", unit, " up, ", shape.local_heads, " heads");
    OneRequest request(std::move(choice), shape, unit);
    const auto found = request.outputs();
    const auto wanted = request.wanted();
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      expect_close(found[row], wanted[row], what);
    }
  }
}

TEST(Fp8Scales, EveryKernelTakesScalesFromTheSmallestToTheLargestThatItPromises) {
  for (const KvDtype dtype : {KvDtype::fp8, KvDtype::fp8_tensor}) {
    for (const float unit : {0x1p-17f, 0x1p-12f, 0x1p-6f, 1.0f, 0x1p3f}) {
      for (const int heads : {16, 30, 64}) {
        expect_all_close({.local_heads = heads, .batch = 1, .context = kTokens, .kv_dtype = dtype},
                         unit);
      }
    }
  }
}

}  // namespace
}  // namespace headsplit::kernels::dense
