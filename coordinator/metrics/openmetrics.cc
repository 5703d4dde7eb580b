#include "coordinator/metrics/openmetrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace headsplit::coordinator {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// The shortest decimal that reads back as the same number; whole ones end in ".0", as the
/// specification wants it for `le`.
std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::isnan(value)) return "NaN";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || c == '"') out += '\\';
      out += c;
    }
  }
}

void append_label(std::string& out, bool first, std::string_view name, std::string_view value) {
  out += first ? '{' : ',';
  out += name;
  out += "=\"";
  append_escaped(out, value);
  out += '"';
}

/// One family as text.
class FamilyWriter {
 public:
  FamilyWriter(const MetricFamily& family, const Exposition& exposition, std::string& out)
      : family_(family), exposition_(exposition), out_(out) {}

  void write() {
    write_head();
    for (std::size_t i = 0; i < family_.metric.size(); ++i) write_metric(i);
  }

 private:
  bool is_info() const {
    return family_.type == MetricType::Gauge && family_.name.ends_with("_info");
  }

  /// The family's name without what the kind of metric adds to its samples.
  std::string_view base_name() const {
    std::string_view name = family_.name;
    if (family_.type == MetricType::Counter) name.remove_suffix(std::string_view("_total").size());
    if (is_info()) name.remove_suffix(std::string_view("_info").size());
    return name;
  }

  void write_head() {
    const std::string name(base_name());
    const std::string type = is_info() ? "info" : std::string(type_name(family_.type));
    out_ += "# TYPE " + name + " " + type + "\n";
    for (const MetricSpec& spec : metric_table()) {
      if (spec.name != family_.name || spec.unit.empty()) continue;
      if (name.ends_with("_" + std::string(spec.unit))) {
        out_ += "# UNIT " + name + " " + std::string(spec.unit) + "\n";
      }
    }
    out_ += "# HELP " + name + " ";
    append_escaped(out_, family_.help);
    out_ += '\n';
  }

  void write_metric(std::size_t position) {
    const ClientMetric& metric = family_.metric[position];
    if (family_.type == MetricType::Histogram) {
      write_histogram(metric, position);
      return;
    }
    begin_sample("", metric);
    const bool counts = family_.type == MetricType::Counter;
    out_ += number_text(counts ? metric.counter.value : metric.gauge.value);
    if (counts) write_exemplar(position, 0);
    out_ += '\n';
  }

  void write_histogram(const ClientMetric& metric, std::size_t position) {
    for (std::size_t i = 0; i < metric.histogram.bucket.size(); ++i) {
      const auto& bucket = metric.histogram.bucket[i];
      begin_sample("_bucket", metric, number_text(bucket.upper_bound));
      out_ += std::to_string(bucket.cumulative_count);
      write_exemplar(position, i);
      out_ += '\n';
    }
    begin_sample("_count", metric);
    out_ += std::to_string(metric.histogram.sample_count) + "\n";
    begin_sample("_sum", metric);
    out_ += number_text(metric.histogram.sample_sum) + "\n";
  }

  void begin_sample(std::string_view suffix, const ClientMetric& metric, std::string_view le = "") {
    out_ += family_.name;
    out_ += suffix;
    bool first = true;
    for (const auto& label : metric.label) {
      append_label(out_, first, label.name, label.value);
      first = false;
    }
    if (!le.empty()) append_label(out_, first, "le", le);
    out_ += first && le.empty() ? " " : "} ";
  }

  void write_exemplar(std::size_t position, std::size_t bucket) {
    if (exposition_.exemplars.empty()) return;
    const auto found = exposition_.exemplars.find({family_.name, position, bucket});
    if (found == exposition_.exemplars.end()) return;
    const Exemplar& exemplar = found->second;
    out_ += " # ";
    append_label(out_, true, "row", exemplar.row);
    out_ += "} " + number_text(exemplar.value) + " " + number_text(exemplar.unix_s);
  }

  const MetricFamily& family_;
  const Exposition& exposition_;
  std::string& out_;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Takes off and gives the part before `separator`, or all of it.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

/// How much an Accept header wants a media type: its largest q, and 0 when it is not named.
double wanted(std::string_view accept, std::string_view type) {
  double most = 0;
  while (!accept.empty()) {
    std::string_view range = next_part(accept, ',');
    if (next_part(range, ';') != type) continue;
    double quality = 1;
    while (!range.empty()) {
      const std::string_view parameter = next_part(range, ';');
      if (!parameter.starts_with("q=")) continue;
      const std::string_view digits = parameter.substr(2);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), quality);
      if (read.ec != std::errc()) quality = 0;
    }
    most = std::max(most, quality);
  }
  return most;
}

}  // namespace

std::string openmetrics_text(const Exposition& exposition) {
  std::string text;
  text.reserve(exposition.series * 160);
  for (const MetricFamily& family : exposition.families) {
    FamilyWriter(family, exposition, text).write();
  }
  text += "# EOF\n";
  return text;
}

std::string prometheus_text(const Exposition& exposition) {
  return prometheus::TextSerializer().Serialize(exposition.families);
}

MetricsReply metrics_reply(const Exposition& exposition, const std::string& accept) {
  const double openmetrics = wanted(accept, "application/openmetrics-text");
  if (openmetrics > 0 && openmetrics >= wanted(accept, "text/plain")) {
    return {"application/openmetrics-text; version=1.0.0; charset=utf-8",
            openmetrics_text(exposition)};
  }
  return {"text/plain; version=0.0.4; charset=utf-8", prometheus_text(exposition)};
}

}  // namespace headsplit::coordinator
