#include "kernels/kv_expand/kv_expand_cuda.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/bf16.h"
#include "kernels/device/cuda_graph.h"
#include "kernels/device/lt_matmul.h"
#include "kernels/kv_expand/device_expand.h"
#include "kernels/kv_expand/expand_buffers.h"
#include "kernels/kv_expand/reference.h"
#include "kernels/kv_expand/shape.h"

namespace headsplit::kernels {
namespace {

/// Share of the L2 that the products of a chunk may take: K and V pass through it, too.
constexpr double kChunkShareOfL2 = 0.5;

/// Launches of more chunks are one graph: a stream that is held while samples are enqueued has room
/// for a thousand.
constexpr int kDirectChunks = 16;

/// Pages whose products are made by one matmul.
Result<int> chunk_pages_of(const Problem& problem) {
  int device = 0;
  int l2_bytes = 0;
  CUDA_TRY(cudaGetDevice(&device));
  CUDA_TRY(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
  const RankProblem& shape = problem.shape;
  const double page_bytes =
      2.0 * problem.page_tokens * shape.local_heads * (shape.d_nope + shape.d_v);
  return std::clamp(static_cast<int>(kChunkShareOfL2 * l2_bytes / page_bytes), 1,
                    static_cast<int>(problem.page_count));
}

class KvExpandCuda final : public BoundKernel {
 public:
  KvExpandCuda(const Problem& problem, int chunk_pages, expand::Buffers buffers,
               cudaStream_t stream)
      : problem_(problem),
        shape_(problem_.shape),
        d_k_(shape_.d_nope + shape_.d_rope),
        product_width_(std::int64_t{shape_.local_heads} * (shape_.d_nope + shape_.d_v)),
        chunk_pages_(chunk_pages),
        buffers_(std::move(buffers)),
        stream_(stream) {
    const std::int64_t slots = std::int64_t{chunk_pages} * problem_.page_tokens;
    config_ = Config{
        .tile_rows = static_cast<int>(product_width_),
        .tile_tokens = static_cast<int>(slots),
        .reason = str("cuBLASLt, ", chunks(), " matmuls of [", slots, ", ", shape_.d_latent,
                      "] x [", shape_.d_latent, ", ", product_width_, "], whose ",
                      slots * product_width_ * 2 / 1'000'000,
                      " MB of products stay in L2; each laid out by head beside the RoPE keys")};
  }

  Result<void> prepare(const std::shared_ptr<const LtLibrary>& library) {
    chunk_ = TRY(matmul_of(library, chunk_pages_));
    const int rest = problem_.page_count % chunk_pages_;
    if (rest > 0) rest_ = TRY(matmul_of(library, rest));
    return {};
  }

  const Config& config() const override { return config_; }

  Result<void> poison() override {
    for (const auto* buffer : {&buffers_.products, &buffers_.keys, &buffers_.values}) {
      // All bits set is a NaN.
      CUDA_TRY(cudaMemsetAsync(buffer->data(), 0xFF, buffer->bytes(), stream_));
    }
    return {};
  }

  /// It has one part: all of it.
  Result<void> launch(Part part) override {
    if (part != Part::all) return {};
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    CUDA_TRY(cudaStreamIsCapturing(stream_, &capture));
    // The first launch loads code, which a capture must not.
    const bool direct = chunks() <= kDirectChunks || capture != cudaStreamCaptureStatusNone ||
                        stream_ == nullptr || !std::exchange(launched_, true);
    if (direct) return enqueue();
    if (!graph_) graph_ = TRY(CudaGraph::capture(stream_, [this] { return enqueue(); }));
    return graph_->launch(stream_);
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    const std::size_t width = static_cast<std::size_t>(shape_.output_width());
    std::vector<std::uint16_t> bits(rows.size() * width);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0 || rows[i] >= problem_.rows()) {
        return fail(ErrorKind::config, "output row ", rows[i], " is not in 0..",
                    problem_.rows() - 1);
      }
      TRY(copy_row(expanded_row(problem_, rows[i]), bits.data() + i * width));
    }
    CUDA_TRY(cudaStreamSynchronize(stream_));
    std::vector<OutputRow> found(rows.size());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      found[i / width].values.push_back(bf16_value(bits[i]));
    }
    return found;
  }

  std::optional<ExpandedCache> expanded() const override {
    return ExpandedCache{.keys = buffers_.keys.data(), .values = buffers_.values.data()};
  }

 private:
  int chunks() const { return (problem_.page_count + chunk_pages_ - 1) / chunk_pages_; }

  Result<void> enqueue() const {
    for (int page = 0; page < problem_.page_count; page += chunk_pages_) {
      TRY(expand_chunk(page, std::min(chunk_pages_, problem_.page_count - page)));
    }
    return {};
  }

  Result<LtMatmul> matmul_of(const std::shared_ptr<const LtLibrary>& library, int pages) const {
    return LtMatmul::make(library, {.rows = product_width_,
                                    .columns = std::int64_t{pages} * problem_.page_tokens,
                                    .depth = shape_.d_latent,
                                    .a_stride = shape_.d_latent,
                                    .b_stride = shape_.d_qk(),
                                    .d_stride = product_width_});
  }

  /// Row of K or V [page_count, heads, page_tokens].
  std::int64_t place(std::int64_t page, int head, int slot) const {
    return (page * shape_.local_heads + head) * problem_.page_tokens + slot;
  }

  Result<void> expand_chunk(int page, int pages) const {
    const std::uint16_t* const latents =
        buffers_.latents.data() + std::int64_t{page} * problem_.page_tokens * shape_.d_qk();
    const LtMatmul& matmul = pages == chunk_pages_ ? *chunk_ : *rest_;
    TRY(matmul.launch({.a = buffers_.weights.data(),
                       .b = latents,
                       .d = buffers_.products.data(),
                       .workspace = buffers_.workspace.data()},
                      stream_));
    CUDA_TRY(expand::lay_out({.products = buffers_.products.data(),
                              .latents = latents,
                              .keys = buffers_.keys.data() + place(page, 0, 0) * d_k_,
                              .values = buffers_.values.data() + place(page, 0, 0) * shape_.d_v,
                              .pages = pages,
                              .page_tokens = problem_.page_tokens,
                              .heads = shape_.local_heads,
                              .d_latent = shape_.d_latent,
                              .d_rope = shape_.d_rope,
                              .d_nope = shape_.d_nope,
                              .d_v = shape_.d_v},
                             stream_));
    return {};
  }

  /// Enqueues the copy of a row's key and value to the host.
  Result<void> copy_row(const ExpandedRow& at, std::uint16_t* target) const {
    const std::int64_t row = place(at.page, at.head, at.slot);
    const auto bytes = [](int values) { return static_cast<std::size_t>(values) * 2; };
    CUDA_TRY(cudaMemcpyAsync(target, buffers_.keys.data() + row * d_k_, bytes(d_k_),
                             cudaMemcpyDeviceToHost, stream_));
    CUDA_TRY(cudaMemcpyAsync(target + d_k_, buffers_.values.data() + row * shape_.d_v,
                             bytes(shape_.d_v), cudaMemcpyDeviceToHost, stream_));
    return {};
  }

  Problem problem_;
  RankProblem shape_;
  int d_k_ = 0;
  std::int64_t product_width_ = 0;
  int chunk_pages_ = 1;
  expand::Buffers buffers_;
  cudaStream_t stream_;
  std::optional<LtMatmul> chunk_;
  std::optional<LtMatmul> rest_;  ///< of the last pages
  std::optional<CudaGraph> graph_;
  bool launched_ = false;
  Config config_;
};

}  // namespace

Result<void> kv_expand_cuda_supports(const RankProblem& shape) {
  TRY(check_kv_expand_shape(shape));
  for (const int width : {shape.d_latent, shape.d_rope, shape.d_nope, shape.d_v}) {
    if (width % expand::kVectorValues == 0) continue;
    return fail(ErrorKind::config, "kv_expand on CUDA takes widths that are multiples of ",
                expand::kVectorValues, ", not ", width);
  }
  return {};
}

Result<std::unique_ptr<BoundKernel>> bind_kv_expand_cuda(const Problem& problem,
                                                         const BindOptions& options) {
  TRY(kv_expand_cuda_supports(problem.shape));
  const auto library = open_cublaslt();
  if (!library) return fail(ErrorKind::config, "kv_expand on CUDA: ", library.error().message);
  auto* const stream = static_cast<cudaStream_t>(options.stream);
  const int chunk_pages = TRY(chunk_pages_of(problem));
  auto buffers = TRY(expand::make_buffers(problem, chunk_pages, stream, options.pool));
  auto bound = std::make_unique<KvExpandCuda>(problem, chunk_pages, std::move(buffers), stream);
  TRY(bound->prepare(*library));
  return bound;
}

}  // namespace headsplit::kernels
