#include "cli/server_options.h"

#include <cstdlib>
#include <fstream>

namespace headsplit::cli {

void add_server_options(CLI::App& verb, ServerOptions& options) {
  verb.add_option("--coordinator", options.url, "URL of the coordinator")
      ->envname("HEADSPLIT_COORDINATOR")
      ->capture_default_str();
  verb.add_option("--token-file", options.token_file,
                  "File with the coordinator's token (default: $HEADSPLIT_TOKEN)")
      ->envname("HEADSPLIT_TOKEN_FILE");
  verb.add_option("--tls-ca", options.tls.peer_ca,
                  "Authority of the coordinator's certificate (PEM; default: the system's)");
  verb.add_option("--tls-cert", options.tls.certificate, "Our certificate (PEM), for mutual TLS");
  verb.add_option("--tls-key", options.tls.key, "Key of that certificate (PEM)");
}

Result<Server> server_from(const ServerOptions& options) {
  Server server{.url = options.url, .token = "", .tls = options.tls};
  while (server.url.ends_with('/')) server.url.pop_back();
  if (options.token_file.empty()) {
    if (const char* token = std::getenv("HEADSPLIT_TOKEN")) server.token = token;
    return server;
  }
  std::ifstream in(options.token_file);
  if (!std::getline(in, server.token)) {
    return fail(ErrorKind::config, options.token_file, ": cannot read a token from it");
  }
  return server;
}

}  // namespace headsplit::cli
