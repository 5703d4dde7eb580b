#include "coordinator/run_coordinator.h"

#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "coordinator/metrics/discovery_file.h"
#include "coordinator/page_routes.h"
#include "coordinator/server.h"
#include "core/log.h"
#include "core/token.h"

namespace headsplit::coordinator {
namespace {

constexpr Duration kSettleLimit = std::chrono::seconds(5);
constexpr Duration kSettlePoll = std::chrono::milliseconds(20);
/// For the goodbyes to agents.
constexpr Duration kGoodbye = std::chrono::milliseconds(200);
constexpr int kReaderThreads = 2;
constexpr std::size_t kRecalledPointsMax = 10'000;

/// A descriptor for each agent, client and file: as many as the system lets us have.
void raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// On a signal: no more grants, then wait a little until what agents sent is durable.
Task<> shut_down_on_signal(net::any_io_executor executor, Service& service) {
  net::signal_set signals(executor, SIGINT, SIGTERM);
  const int number = co_await signals.async_wait(net::use_awaitable);
  log_line(LogLevel::info, "coordinator", "stopping", log_field("signal", str(number)));
  service.begin_shutdown();
  const auto deadline = std::chrono::steady_clock::now() + kSettleLimit;
  do {
    co_await sleep_for(kSettlePoll);
  } while (!service.settled() && std::chrono::steady_clock::now() < deadline);
  service.close_all("the coordinator is shutting down");
  co_await sleep_for(kGoodbye);
  co_return Result<>();
}

net::awaitable<Result<>> serve(net::any_io_executor executor, Server& server, Site& site) {
  Nursery nursery(executor);
  nursery.start("", site.service.run(), Nursery::OnEnd::others_end);
  nursery.start("", server.serve(site), Nursery::OnEnd::others_end);
  nursery.start("", shut_down_on_signal(executor, site.service), Nursery::OnEnd::others_end);
  co_return co_await nursery.join();
}

/// Shows what earlier processes stored of the latest sweeps in the metrics too; large ones are left
/// out, since serving must begin soon.
Result<void> recall_rows(const std::string& database, const RestoredSweeps& sweeps,
                         Service& service) {
  std::vector<std::pair<std::string, std::size_t>> found;  // id, points
  for (const auto& sweep : sweeps.finished) {
    found.emplace_back(sweep->view().id, sweep->points().size());
  }
  for (const StoredSweep& sweep : sweeps.open) {
    found.emplace_back(sweep.plan->id, sweep.plan->points.size());
  }
  if (found.empty()) return {};
  const auto reader = TRY(StoreReader::open(database));
  const std::size_t passed_over = found.size() - std::min(found.size(), Telemetry::kSweepsKept);
  for (std::size_t at = passed_over; at < found.size(); ++at) {
    const auto& [id, points] = found[at];
    if (points > kRecalledPointsMax) continue;
    service.recall(id, TRY(reader->rows(RowFilter{.sweep = id})));
  }
  return {};
}

/// None when no file is asked for.
Result<std::optional<DiscoveryFile>> discovery_file(const std::string& path,
                                                    const std::string& url) {
  std::optional<DiscoveryFile> none;
  if (path.empty()) return none;
  return DiscoveryFile::write(path, url, net::ip::host_name());
}

/// How a coordinator that had started came to its end.
struct Ending {
  std::string failure;  ///< empty = it was asked to
};

/// Everything a running coordinator is made of; declared so that what is used outlives its users.
/// Fails when it cannot start.
Result<Ending> run(const CoordinatorOptions& options) {
  const ListenAddress address = TRY(listen_address_from(options.listen));
  const std::string token = TRY(token_from(options.token_file));
  net::io_context context(1);
  std::optional<Tls> tls;
  if (options.tls.any()) tls = TRY(Tls::server(options.tls));
  const bool mutual_tls = !options.tls.peer_ca.empty();
  const bool strangers_are_told_apart = !token.empty() || mutual_tls;
  Server server = TRY(
      Server::listen(context.get_executor(), address, strangers_are_told_apart, std::move(tls)));
  const std::unique_ptr<Store> store = TRY(Store::open(options.database));
  Service service(context.get_executor(), *store,
                  ServiceSettings{.heartbeat_s = options.heartbeat_s,
                                  .silence_limit_s = options.silence_limit_s,
                                  .gang_patience_s = options.gang_patience_s,
                                  .metrics_series_max = options.metrics_series_max,
                                  .quarantine = options.quarantine});
  RestoredSweeps sweeps = TRY(store->restore());
  TRY(recall_rows(options.database, sweeps, service));
  service.restore(std::move(sweeps));
  net::thread_pool pool(kReaderThreads);
  net::post(pool, prepare_page);
  Site site{service, pool, options.database, token, address.host, mutual_tls};
  const auto discovery = TRY(discovery_file(options.discovery_file, server.url()));
  std::printf("listening %s\n", server.url().c_str());
  std::fflush(stdout);
  Ending ending;
  net::co_spawn(context, serve(context.get_executor(), server, site),
                [&](std::exception_ptr thrown, Result<> ended) {
                  if (thrown) ending.failure = error_of(thrown).message;
                  if (!thrown && !ended) ending.failure = ended.error().message;
                });
  context.run();
  pool.join();
  return ending;
}

ExitCode report(const std::string& reason, ExitCode code) {
  std::fprintf(stderr, "headsplit-coordinator: %s\n", reason.c_str());
  return code;
}

}  // namespace

ExitCode run_coordinator(const CoordinatorOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write
  raise_descriptor_limit();
  const Result<Ending> ending = run(options);
  if (!ending) return report(ending.error().message, ExitCode::usage);
  return ending->failure.empty() ? ExitCode::ok : report(ending->failure, ExitCode::failed);
}

}  // namespace headsplit::coordinator
