#include <CLI/CLI.hpp>

#include "coordinator/run_coordinator.h"
#include "core/version.h"

namespace headsplit::coordinator {
namespace {

void add_options(CLI::App& app, CoordinatorOptions& options) {
  app.add_option("--listen", options.listen, "HOST:PORT to serve on; port 0 chooses one")
      ->capture_default_str();
  app.add_option("--db", options.database, "Database file; made when it is not there")->required();
  app.add_option("--token-file", options.token_file,
                 "File with the token that clients and agents must send (default: "
                 "$HEADSPLIT_TOKEN); needed to listen on more than loopback")
      ->envname("HEADSPLIT_TOKEN_FILE");
  app.add_option("--sd-file", options.discovery_file,
                 "Keep a .json file for Prometheus' file_sd that names this coordinator while it "
                 "runs");
  app.add_option("--tls-cert", options.tls.certificate,
                 "Certificate (PEM, with its chain): everybody must then speak TLS");
  app.add_option("--tls-key", options.tls.key, "Key of that certificate (PEM)");
  app.add_option("--tls-client-ca", options.tls.peer_ca,
                 "Agents and clients must show a certificate of this authority (PEM)");
  app.add_option("--heartbeat-s", options.heartbeat_s, "How often agents must speak")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--silence-limit-s", options.silence_limit_s,
                 "After this much silence an agent counts as lost")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--gang-patience-s", options.gang_patience_s,
                 "A gang waits so long for more agents to connect, then its point is skipped")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--drain-after", options.quarantine.node_failures_max,
                 "Points that fail on a node in a row before it is drained")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--drain-s", options.quarantine.drain_s,
                 "How long a drained node gets no work; doubles with each relapse, up to an hour")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--metrics-series-max", options.metrics_series_max,
                 "Most series that a scrape of /metrics gets; what is beyond is counted")
      ->check(CLI::Range(100, 1'000'000))
      ->capture_default_str();
}

int main_of(int argc, char** argv) {
  CoordinatorOptions options;
  CLI::App app("Plans sweeps, hands points to agents and stores their rows.",
               "headsplit-coordinator");
  app.set_version_flag("--version", [] { return version_text("headsplit-coordinator"); });
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "headsplit-coordinator: %s\n", error.what());
    return static_cast<int>(ExitCode::usage);
  }
  return static_cast<int>(run_coordinator(options));
}

}  // namespace
}  // namespace headsplit::coordinator

int main(int argc, char** argv) { return headsplit::coordinator::main_of(argc, argv); }
