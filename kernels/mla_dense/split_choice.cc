#include "kernels/mla_dense/split_choice.h"

#include <algorithm>

#include "core/nearest.h"

namespace headsplit::kernels::dense {
namespace {

struct Widths {
  Family family;
  int d_latent;
  int d_rope;
  KvDtype kv_dtype;
  std::span<const SplitKernel> (*kernels)();
  Arithmetic arithmetic = Arithmetic::stored;
};

constexpr Widths kWidths[] = {
    {Family::mla_dense, 512, 64, KvDtype::bf16, split_kernels_512_64},
    {Family::mla_dense, 512, 64, KvDtype::bf16, split_kernels_hopper},
    {Family::mla_dense, 512, 0, KvDtype::bf16, split_kernels_512_0},
    {Family::mla_dense, 256, 32, KvDtype::bf16, split_kernels_256_32},
    {Family::mla_dense, 512, 64, KvDtype::fp8, split_kernels_fp8_512_64},
    {Family::mla_dense, 512, 64, KvDtype::fp8, split_kernels_fp8_wide},
    {Family::mla_dense, 512, 64, KvDtype::fp8_tensor, split_kernels_fp8_tensor},
    {Family::mla_dense, 512, 64, KvDtype::fp8_tensor, split_kernels_fp8_tensor_wide},
    {Family::mla_dense, 512, 64, KvDtype::fp8_tensor, split_kernels_fp8_mma, Arithmetic::e4m3},
    {Family::mla_sparse, 512, 64, KvDtype::bf16, gather_kernels_512_64},
    {Family::mla_sparse, 512, 64, KvDtype::bf16, gather_kernels_hopper},
    {Family::mla_sparse, 512, 64, KvDtype::fp8, gather_kernels_fp8_512_64},
    {Family::mla_sparse, 512, 64, KvDtype::fp8, gather_kernels_wide}};

/// Whether this GPU has the instructions.
bool executes(const GpuLimits& limits, const SplitKernel& kernel) {
  return limits.compute_major >= kernel.compute_major_min && (!kernel.hopper || is_hopper(limits));
}

/// Stages that fit; 0: this GPU cannot run the kernel.
int stages_of(const SplitKernel& kernel, const GpuLimits& limits) {
  if (!executes(limits, kernel)) return 0;
  const int stages =
      (split::room_bytes(limits, kernel.ctas_per_sm) - kernel.fixed_bytes) / kernel.stage_bytes;
  return stages < kernel.stages_min ? 0 : std::min(stages, kernel.stages_max);
}

/// Whether `a` suits this many rows better than `b`.
bool better(const SplitKernel& a, const SplitKernel& b, int rows) {
  const bool a_holds = a.rows >= rows;
  if (a_holds != (b.rows >= rows)) return a_holds;
  if (a.rows != b.rows) return a_holds ? a.rows < b.rows : a.rows > b.rows;
  if (a.hopper != b.hopper) return a.hopper;
  return a.tokens > b.tokens;
}

}  // namespace

std::vector<SplitKernel> split_kernels_of(const RankProblem& shape, Arithmetic arithmetic) {
  std::vector<SplitKernel> found;
  for (const Widths& widths : kWidths) {
    if (widths.d_latent != shape.d_latent || widths.d_rope != shape.d_rope) continue;
    if (widths.family != shape.family || widths.kv_dtype != shape.kv_dtype) continue;
    if (widths.arithmetic != arithmetic) continue;
    const auto kernels = widths.kernels();
    found.insert(found.end(), kernels.begin(), kernels.end());
  }
  return found;
}

Error no_such_kernel(const RankProblem& shape, Arithmetic arithmetic) {
  std::vector<std::string> widths_found;
  std::vector<std::string> types_found;
  const auto add = [](std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  };
  for (const Widths& widths : kWidths) {
    if (widths.family != shape.family || widths.arithmetic != arithmetic) continue;
    add(types_found, enum_name(widths.kv_dtype));
    if (widths.kv_dtype != shape.kv_dtype) continue;
    add(widths_found, str(widths.d_latent, " + ", widths.d_rope));
  }
  const std::string products = arithmetic == Arithmetic::e4m3 ? "_fp8_mma" : "";
  const std::string kernel = enum_name(shape.family) + products + " on CUDA";
  const std::string dtype = enum_name(shape.kv_dtype);
  if (widths_found.empty()) {
    return fail(ErrorKind::config, kernel, " reads no ", dtype,
                " cache; legal: ", joined(types_found));
  }
  return fail(ErrorKind::config, kernel, " has d_latent + d_rope of ", joined(widths_found),
              " for a ", dtype, " cache, not ", shape.d_latent, " + ", shape.d_rope);
}

std::vector<Choice> runnable_kernels(const RankProblem& shape, const GpuLimits& limits,
                                     Arithmetic arithmetic) {
  const int rows = shape.query_tokens * shape.local_heads;
  std::vector<Choice> found;
  for (const SplitKernel& kernel : split_kernels_of(shape, arithmetic)) {
    const int stages = stages_of(kernel, limits);
    if (stages == 0) continue;
    found.push_back(
        {kernel, stages,
         str(kernel.name, ", CTAs of up to ", kernel.rows, " rows for ", rows, " packed rows; ",
             stages, " stages of ", kernel.tokens, " tokens fit ",
             split::room_bytes(limits, kernel.ctas_per_sm) / 1024, " KB of shared memory")});
  }
  return found;
}

Result<Choice> choose_kernel(const RankProblem& shape, const GpuLimits& limits,
                             Arithmetic arithmetic) {
  const int rows = shape.query_tokens * shape.local_heads;
  std::vector<Choice> choices = runnable_kernels(shape, limits, arithmetic);
  const auto best = std::min_element(
      choices.begin(), choices.end(),
      [&](const Choice& a, const Choice& b) { return better(a.kernel, b.kernel, rows); });
  if (best == choices.end()) {
    const auto kernels = split_kernels_of(shape, arithmetic);
    const bool unknown =
        std::none_of(kernels.begin(), kernels.end(),
                     [&](const SplitKernel& kernel) { return executes(limits, kernel); });
    if (!kernels.empty() && unknown) {
      return fail(ErrorKind::config, enum_name(shape.family), " on a ", enum_name(shape.kv_dtype),
                  " cache needs compute capability ", kernels.front().compute_major_min, ".0",
                  kernels.front().hopper ? "" : " or later", ", this GPU has ",
                  limits.compute_major, ".", limits.compute_minor);
    }
    return fail(ErrorKind::config, "no tiles for d_latent ", shape.d_latent, " and d_rope ",
                shape.d_rope, " fit the ", limits.shared_bytes_per_cta,
                " bytes of shared memory of a CTA");
  }
  return std::move(*best);
}

}  // namespace headsplit::kernels::dense
