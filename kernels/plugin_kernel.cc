#include "kernels/plugin_kernel.h"

#include <array>
#include <cmath>

#include "kernels/cpu/thread_pool.h"
#include "kernels/e4m3.h"
#include "kernels/plugin_memory.h"

namespace headsplit::kernels {
namespace {

constexpr std::size_t kWhyBytes = 512;
/// FLOPs may be said in floating point; more than this apart they count something else.
constexpr double kFlopsTolerance = 1e-3;

headsplit_cache cache_of(KvDtype dtype) {
  if (dtype == KvDtype::bf16) return HEADSPLIT_CACHE_BF16;
  return dtype == KvDtype::fp8 ? HEADSPLIT_CACHE_FP8 : HEADSPLIT_CACHE_FP8_TENSOR;
}

headsplit_problem problem_of(const Problem& problem, const PluginPointers& pointers, int threads) {
  return {.struct_bytes = sizeof(headsplit_problem),
          .threads = threads,
          .shape = plugin_shape(problem.shape, problem.page_tokens),
          .softmax_scale = problem.softmax_scale,
          .pages_per_request = problem.pages_per_request,
          .page_count = problem.page_count,
          .query = pointers.query,
          .cache = pointers.cache,
          .page_table = pointers.page_table,
          .lengths = pointers.lengths,
          .host_page_table = problem.page_table.data(),
          .host_lengths = problem.lengths.data(),
          .output = pointers.output,
          .lse = pointers.lse,
          .cache_scale = problem.shape.kv_dtype == KvDtype::fp8_tensor
                             ? fp8_tensor_scale(problem.seed)
                             : 1.0f};
}

class PluginKernel final : public BoundKernel {
 public:
  PluginKernel(const headsplit_kernel& kernel, const Problem& problem, const BindOptions& options,
               std::unique_ptr<PluginMemory> memory)
      : kernel_(kernel), problem_(problem), stream_(options.stream), memory_(std::move(memory)) {}
  ~PluginKernel() override {
    if (prepared_) kernel_.destroy(state_);
  }
  PluginKernel(const PluginKernel&) = delete;

  Result<void> prepare(int threads) {
    const headsplit_problem problem = problem_of(problem_, memory_->pointers(), threads);
    TRY(call_plugin(failure_kind(), kernel_.name + std::string(": prepare"),
                    [&](char* why, std::size_t bytes) {
                      return kernel_.prepare(&problem, &state_, why, bytes);
                    }));
    prepared_ = true;
    config_ = Config{.reason = str("plug-in ", kernel_.name, ": ", kernel_.summary)};
    return check_work();
  }

  const Config& config() const override { return config_; }
  Result<void> poison() override { return memory_->poison(); }

  /// Its parts are not told apart: only whole launches do something.
  Result<void> launch(Part part) override {
    if (part != Part::all) return {};
    return call_plugin(
        failure_kind(), kernel_.name + std::string(": launch"),
        [&](char* why, std::size_t bytes) { return kernel_.launch(state_, stream_, why, bytes); });
  }

  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    return read_rows(*memory_, problem_, output_type(kernel_), rows);
  }

  static OutputType output_type(const headsplit_kernel& kernel) {
    return kernel.output == HEADSPLIT_OUTPUT_BF16 ? OutputType::bf16 : OutputType::f32;
  }

 private:
  ErrorKind failure_kind() const {
    return kernel_.backend == HEADSPLIT_CUDA ? ErrorKind::cuda : ErrorKind::io;
  }
  Result<void> check_work() {
    if (kernel_.work == nullptr) return {};
    headsplit_work told{.struct_bytes = sizeof(headsplit_work)};
    TRY(call_plugin(ErrorKind::mismatch, kernel_.name + std::string(": work"),
                    [&](char*, std::size_t) { return kernel_.work(state_, &told); }));
    config_.padded_rows = told.padded_rows;
    const double flops = work(problem_).flops;
    if (std::abs(told.flops - flops) <= kFlopsTolerance * flops) return {};
    return fail(ErrorKind::mismatch, kernel_.name, ": says that a launch is ", told.flops,
                " useful FLOPs; it is ", flops);
  }

  headsplit_kernel kernel_;
  Problem problem_;  ///< its page table and lengths are lent to the plug-in
  void* stream_ = nullptr;
  std::unique_ptr<PluginMemory> memory_;
  void* state_ = nullptr;
  bool prepared_ = false;
  Config config_;
};

}  // namespace

Result<void> call_plugin(ErrorKind kind, const std::string& what,
                         const std::function<int(char* why, std::size_t why_bytes)>& call) {
  std::array<char, kWhyBytes> why{};
  int status = 0;
  try {
    status = call(why.data(), why.size());
  } catch (const std::exception& error) {
    return fail(kind, what, " threw: ", error.what());
  } catch (...) {
    return fail(kind, what, " threw something that is no std::exception");
  }
  if (status == 0) return {};
  why.back() = 0;
  return fail(kind, what, ": ", why.front() != 0 ? why.data() : "failed without saying why");
}

headsplit_shape plugin_shape(const RankProblem& shape, int page_tokens) {
  return {.struct_bytes = sizeof(headsplit_shape),
          .cache = cache_of(shape.kv_dtype),
          .local_heads = shape.local_heads,
          .batch = shape.batch,
          .query_tokens = shape.query_tokens,
          .d_latent = shape.d_latent,
          .d_rope = shape.d_rope,
          .page_tokens = page_tokens,
          .context = shape.context};
}

Result<std::unique_ptr<BoundKernel>> bind_plugin(const headsplit_kernel& kernel,
                                                 const Problem& problem,
                                                 const BindOptions& options) {
  if (options.num_splits > 0) {
    return fail(ErrorKind::config, kernel.name, ": splits fixed at ", options.num_splits,
                ": a plug-in chooses its own; legal: 0");
  }
  const int threads = options.threads > 0 ? options.threads : available_threads();
  const OutputType type = PluginKernel::output_type(kernel);
  auto memory = kernel.backend == HEADSPLIT_CUDA
                    ? TRY(make_device_memory(problem, type, options.stream))
                    : TRY(make_host_memory(problem, type, threads));
  auto bound = std::make_unique<PluginKernel>(kernel, problem, options, std::move(memory));
  TRY(bound->prepare(threads));
  return bound;
}

}  // namespace headsplit::kernels
