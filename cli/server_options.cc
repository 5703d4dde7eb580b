#include "cli/server_options.h"

#include "core/credential_options.h"
#include "core/token.h"

namespace headsplit::cli {

void add_server_options(CLI::App& verb, ServerOptions& options) {
  verb.add_option("--coordinator", options.url, "URL of the coordinator")
      ->envname("HEADSPLIT_COORDINATOR")
      ->capture_default_str();
  add_credential_options(verb, options.token_file, options.tls);
}

Result<Server> server_from(const ServerOptions& options) {
  const auto token = TRY(token_from(options.token_file));
  Server server{.url = options.url, .token = token, .tls = options.tls};
  while (server.url.ends_with('/')) server.url.pop_back();
  return server;
}

}  // namespace headsplit::cli
