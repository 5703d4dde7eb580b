#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/point.h"

namespace headsplit::cli {

/// Options that predict, crossover and advise share, as typed.
struct ModelOptions {
  std::string model;
  std::string device;
  std::string batch = "1";
  std::string query_tokens = "1";
  std::string context = "4096";
  std::string kv_dtype = "bf16";
  bool json = false;
  bool csv = false;
};

/// Adds --model, --device, --json and --csv to a verb, with help that says what is legal.
void add_model_options(CLI::App& verb, ModelOptions& options);
/// Adds --batch, --query-tokens, --context and --kv-dtype.
void add_shape_options(CLI::App& verb, ModelOptions& options);

/// The point those options mean, on one rank.  Fails: config, naming the option.
Result<Point> point_from(const ModelOptions& options, const std::string& kernel);

/// JSON objects with the same keys as CSV: keys as heading, one line an object (RFC 4180).
std::string csv_text(const json::array& objects);

/// A figure for people, `digits` significant: "1234", "0.0123", "1.2e+15".
std::string figure(double value, int digits = 4);

}  // namespace headsplit::cli
