#pragma once

#include <CLI/CLI.hpp>

#include "cli/http_client.h"

namespace headsplit::cli {

/// Where a coordinator is: the options that verbs share.
struct ServerOptions {
  std::string url = "http://127.0.0.1:7077";
  std::string token_file;
  TlsFiles tls;
};

void add_server_options(CLI::App& verb, ServerOptions& options);

/// Fails: config (no token in the file).  Without a file the token is $HEADSPLIT_TOKEN.
Result<Server> server_from(const ServerOptions& options);

}  // namespace headsplit::cli
