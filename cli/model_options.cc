#include "cli/model_options.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "cli/count_text.h"

namespace headsplit::cli {
namespace {

std::string csv_cell(const json::value& value) {
  if (value.is_null()) return "";
  if (value.is_double()) {
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", value.get_double());
    return text;
  }
  if (!value.is_string()) return json::serialize(value);
  std::string cell = "\"";
  for (const char c : value.get_string()) cell += c == '"' ? "\"\"" : std::string(1, c);
  const bool plain = value.get_string().find_first_of("\",\n\r") == json::string::npos;
  return plain ? std::string(value.get_string()) : cell + "\"";
}

}  // namespace

void add_model_options(CLI::App& verb, ModelOptions& options) {
  verb.add_option(
          "--model", options.model,
          "Built-in name (deepseek-v3, kimi-k2, ...; a wrong one lists them all), or a path "
          "to a Hugging Face config.json")
      ->required();
  verb.add_option("--device", options.device,
                  "GPU of configs/devices.yaml: h100, h200, h800, h800-throttled, h20, b200, a100, "
                  "rtx5090; or as the driver names it")
      ->capture_default_str();
  auto* json = verb.add_flag("--json", options.json, "JSON on stdout; units are in the keys");
  verb.add_flag("--csv", options.csv, "CSV on stdout, the same columns")->excludes(json);
}

void add_shape_options(CLI::App& verb, ModelOptions& options) {
  verb.add_option("--batch", options.batch, "Requests over the whole layout")
      ->capture_default_str();
  verb.add_option("--query-tokens", options.query_tokens,
                  "Query tokens a request and step: 1, or 1 + drafts with MTP; as many as the "
                  "context means prefill of the whole prompt")
      ->capture_default_str();
  verb.add_option("--context", options.context,
                  "KV length of a request in tokens, its query tokens included; 8192 or 8K")
      ->capture_default_str();
  verb.add_option(
          "--kv-dtype", options.kv_dtype,
          "KV cache: bf16, fp8 (the 656-byte row of FlashMLA), or fp8_tensor (576 bytes, one "
          "scale for the whole cache)")
      ->capture_default_str();
}

Result<Point> point_from(const ModelOptions& options, const std::string& kernel) {
  constexpr std::int64_t kSizeMax = std::numeric_limits<int>::max();
  constexpr std::int64_t kContextMax = std::int64_t{1} << 40;
  Point point{.model = options.model, .kernel = kernel};
  point.batch = static_cast<int>(TRY(count_from_text("--batch", options.batch, kSizeMax)));
  point.query_tokens =
      static_cast<int>(TRY(count_from_text("--query-tokens", options.query_tokens, kSizeMax)));
  point.context = TRY(count_from_text("--context", options.context, kContextMax));
  const auto dtype = enum_from_name<KvDtype>(options.kv_dtype);
  if (!dtype) return within_context("--kv-dtype", dtype.error());
  point.kv_dtype = dtype.value();
  return point;
}

std::string csv_text(const json::array& objects) {
  if (objects.empty()) return "";
  std::string text;
  const auto add_line = [&](auto cell_of) {
    std::string line;
    for (const auto& field : objects.front().as_object()) {
      line += (line.empty() ? "" : ",") + cell_of(field.key());
    }
    text += line + "\n";
  };
  add_line([](json::string_view key) { return std::string(key); });
  for (const auto& object : objects) {
    add_line([&](json::string_view key) { return csv_cell(object.as_object().at(key)); });
  }
  return text;
}

std::string figure(double value, int digits) {
  char text[64];
  const bool plain = value == 0 || (std::abs(value) >= 1e-4 && std::abs(value) < 1e9);
  if (!plain) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
  }
  const int before = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  std::snprintf(text, sizeof text, "%.*f", std::max(0, digits - before), value);
  return text;
}

}  // namespace headsplit::cli
