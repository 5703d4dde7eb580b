#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/tls.h"

namespace headsplit {

/// What agents and clients show a coordinator, and what they want to see of it.  For the main files
/// of programs only: CLI11 takes the compiler seconds.
inline void add_credential_options(CLI::App& app, std::string& token_file, TlsFiles& tls) {
  app.add_option("--token-file", token_file,
                 "File with the coordinator's token (default: $HEADSPLIT_TOKEN)")
      ->envname("HEADSPLIT_TOKEN_FILE");
  app.add_option("--tls-ca", tls.peer_ca,
                 "Authority of the coordinator's certificate (PEM; default: the system's)");
  app.add_option("--tls-cert", tls.certificate, "Our certificate (PEM), for mutual TLS");
  app.add_option("--tls-key", tls.key, "Key of that certificate (PEM)");
}

}  // namespace headsplit
