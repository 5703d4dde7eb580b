#include "cli/sweep_client.h"

#include <signal.h>

#include <chrono>
#include <thread>

namespace headsplit::cli {
namespace {

constexpr auto kLookInterval = std::chrono::milliseconds(100);

volatile sig_atomic_t interrupt_seen = 0;

bool ended(const coordinator::SweepView& view) {
  return view.done() == view.points && view.storing == 0;
}

}  // namespace

Result<coordinator::SweepView> submit_sweep(const Server& server, const std::string& sweep_text,
                                            const std::string& filename, std::int64_t memory_bytes,
                                            const std::string& backend) {
  std::string target = "/api/sweeps?filename=" + url_encoded(filename);
  if (memory_bytes > 0) target += str("&memory_bytes=", memory_bytes);
  if (!backend.empty()) target += "&backend=" + backend;
  const json::value reply = TRY(http_json(server, "POST", target, sweep_text));
  return from_json<coordinator::SweepView>(reply, "sweep");
}

Result<std::vector<coordinator::SweepView>> sweeps_of(const Server& server) {
  const json::value reply = TRY(http_json(server, "GET", "/api/sweeps"));
  return from_json<std::vector<coordinator::SweepView>>(reply, "sweeps");
}

Result<coordinator::SweepView> sweep_of(const Server& server, const std::string& id) {
  const json::value reply = TRY(http_json(server, "GET", "/api/sweeps/" + url_encoded(id)));
  return from_json<coordinator::SweepView>(reply, "sweep");
}

Result<std::vector<coordinator::AgentView>> agents_of(const Server& server) {
  const json::value reply = TRY(http_json(server, "GET", "/api/agents"));
  return from_json<std::vector<coordinator::AgentView>>(reply, "agents");
}

Result<std::vector<Row>> rows_of(const Server& server, const std::string& id) {
  const std::string target = "/api/sweeps/" + url_encoded(id) + "/rows";
  const json::value reply = TRY(http_json(server, "GET", target));
  return from_json<std::vector<Row>>(reply, "rows");
}

Progress progress_of(const coordinator::SweepView& view, double elapsed_s) {
  return {.sweep = view.name,
          .done = view.done(),
          .total = view.points,
          .failed = view.failed,
          .skipped = view.skipped,
          .resumed = view.resumed,
          .elapsed_s = elapsed_s};
}

Result<Watched> watch_sweep(const Server& server, const std::string& id,
                            const std::function<Result<void>()>& between) {
  const auto start = std::chrono::steady_clock::now();
  ProgressPrinter printer;
  while (true) {
    const coordinator::SweepView view = TRY(sweep_of(server, id));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const Progress progress = progress_of(view, elapsed.count());
    if (ended(view) || interrupted()) {
      printer.finish(progress);
      return ended(view) ? Watched::finished : Watched::interrupted;
    }
    printer.show(progress);
    TRY(between());
    std::this_thread::sleep_for(kLookInterval);
  }
}

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
}

bool interrupted() { return interrupt_seen != 0; }

}  // namespace headsplit::cli
