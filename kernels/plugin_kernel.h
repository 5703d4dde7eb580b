#pragma once

#include <functional>
#include <memory>
#include <string>

#include "include/headsplit_kernel.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Call into a plug-in: call(why, why_bytes) -> 0 or not.  What it throws counts as a failure.
/// Fails: kind, with `what` and the plug-in's own text.
Result<void> call_plugin(ErrorKind kind, const std::string& what,
                         const std::function<int(char* why, std::size_t why_bytes)>& call);

/// A problem's sizes as plug-ins see them.
headsplit_shape plugin_shape(const RankProblem& shape, int page_tokens);

/// A plug-in's kernel bound to a problem, its inputs made by us.  Fails: config (not enough
/// memory), mismatch (it counts other FLOPs than we do), io or cuda (it cannot prepare).
Result<std::unique_ptr<BoundKernel>> bind_plugin(const headsplit_kernel& kernel,
                                                 const Problem& problem,
                                                 const BindOptions& options);

}  // namespace headsplit::kernels
