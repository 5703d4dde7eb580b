#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/http_client.h"
#include "cli/progress.h"
#include "coordinator/scheduler.h"
#include "core/row.h"

/// The coordinator's JSON API, typed.
namespace headsplit::cli {

/// Hands a sweep over; the coordinator stores its plan before it answers.
/// memory_bytes: free on the agents, 0 = not known.  backend: cpu | cuda, or empty for any.
Result<coordinator::SweepView> submit_sweep(const Server& server, const std::string& sweep_text,
                                            const std::string& filename, std::int64_t memory_bytes,
                                            const std::string& backend);

Result<std::vector<coordinator::SweepView>> sweeps_of(const Server& server);
Result<coordinator::SweepView> sweep_of(const Server& server, const std::string& id);
Result<std::vector<coordinator::AgentView>> agents_of(const Server& server);

/// Every row of the sweep, in plan order.
Result<std::vector<Row>> rows_of(const Server& server, const std::string& id);

Progress progress_of(const coordinator::SweepView& view, double elapsed_s);

/// How a watched sweep came to rest.
enum class Watched { finished, interrupted };

/// Shows progress until the sweep has ended or a signal asks to stop.  `between` runs between
/// looks; its error ends the watch.
Result<Watched> watch_sweep(const Server& server, const std::string& id,
                            const std::function<Result<void>()>& between);

/// SIGINT and SIGTERM from here on only set a flag, so that children are ended in order.
void catch_interrupts();
bool interrupted();

}  // namespace headsplit::cli
