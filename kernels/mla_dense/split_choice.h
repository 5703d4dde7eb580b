#pragma once

#include <string>
#include <vector>

#include "kernels/mla_dense/split_kernel.h"
#include "kernels/problem.h"

namespace headsplit::kernels::dense {

/// What a choice of tiles depends on.
struct GpuLimits {
  int sm_count = 0;
  int shared_bytes_per_cta = 0;  ///< largest that a CTA may ask for
  int shared_bytes_per_sm = 0;
  int compute_major = 0;
  int compute_minor = 0;
};

/// Shared memory that the driver keeps of each CTA's share.
constexpr int kReservedSharedBytes = 1024;

struct Choice {
  SplitKernel kernel;
  int stages = 0;
  std::string reason;
};

/// The kernels for these widths; empty when there are none.
std::vector<SplitKernel> split_kernels_of(int d_latent, int d_rope);

/// Widths that there are instantiations for: "512 + 64, 512 + 0, 256 + 32".
std::string supported_widths();

/// The costs of plans are measured on it, and wgmma is its own.
bool is_hopper(const GpuLimits& limits);

/// The kernels for these widths that this GPU runs and has the shared memory for.
std::vector<Choice> runnable_kernels(const RankProblem& shape, const GpuLimits& limits);

/// The smallest tile that takes all packed rows of a request, else the largest one, among those
/// that this GPU runs and has the shared memory for; wgmma before mma.sync, then the longest step.
/// Fails: config (no instantiation fits such a GPU).
Result<Choice> choose_kernel(const RankProblem& shape, const GpuLimits& limits);

}  // namespace headsplit::kernels::dense
