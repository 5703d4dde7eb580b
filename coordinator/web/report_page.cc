#include "coordinator/web/report_page.h"

#include <regex>
#include <set>

#include "coordinator/web/asset.h"
#include "coordinator/web/row_columns.h"
#include "coordinator/web/row_model.h"
#include "coordinator/web/script.h"
#include "core/check.h"

namespace headsplit::coordinator {
namespace {

std::string content_of(const std::string& path) {
  const Asset* asset = find_asset(path);
  CHECK(asset != nullptr);
  return std::string(asset->content);
}

/// JSON that cannot end the script element it stands in, nor begin a comment in it.
std::string json_for_html(const json::value& value) {
  std::string safe;
  for (const char byte : json::serialize(value)) {
    switch (byte) {
      case '<': safe += "\\u003c"; break;
      case '>': safe += "\\u003e"; break;
      case '&': safe += "\\u0026"; break;
      default: safe += byte;
    }
  }
  return safe;
}

json::value data_of(const std::vector<ReportSweep>& sweeps) {
  RowModel model;
  json::array views;
  json::object columns;
  json::array roofs;
  std::set<std::string> devices;
  for (const auto& [sweep, rows] : sweeps) {
    views.push_back(to_json(sweep));
    columns[sweep.id] = columns_of(rows, model.times_us(rows));
    for (const Row& row : rows) devices.insert(row.device);
  }
  for (const std::string& device : devices) {
    for (const Roof& roof : model.roofs_of(device)) roofs.push_back(to_json(roof));
  }
  return json::object{{"sweeps", std::move(views)},
                      {"columns", std::move(columns)},
                      {"ceilings", std::move(roofs)}};
}

/// Replaces the one place where `old_text` stands.
void put(std::string& page, const std::string& old_text, const std::string& new_text) {
  const std::size_t at = page.find(old_text);
  CHECK(at != std::string::npos);
  page.replace(at, old_text.size(), new_text);
}

}  // namespace

std::string report_page(const std::vector<ReportSweep>& sweeps, const std::string& summary) {
  const std::string style =
      content_of("vendor/uPlot.min.css") + content_of("style.css") + content_of("views.css");
  const std::string library = content_of("vendor/uPlot.iife.min.js");
  const auto script = linked_script("js/main.js");
  CHECK(script.has_value());
  const std::string policy = "default-src 'none'; style-src 'sha256-" + sha256_base64(style) +
                             "'; script-src 'sha256-" + sha256_base64(library) + "' 'sha256-" +
                             sha256_base64(*script) + "'; img-src data:; base-uri 'none'";
  const std::string head = "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy +
                           "\">\n<link rel=\"icon\" href=\"data:,\">\n<style>" + style +
                           "</style>\n</head>";
  const std::string tail = "<script type=\"application/json\" id=\"headsplit-data\">" +
                           json_for_html(data_of(sweeps)) + "</script>\n<!-- uPlot:\n" +
                           content_of("vendor/uPlot.LICENSE") + "-->\n<script>" + library +
                           "</script>\n<script>" + *script + "</script>\n</body>";
  static const std::regex loaded(R"(<(link|script)[^\n]*/assets/[^\n]*\n)");
  std::string page = std::regex_replace(content_of("index.html"), loaded, "");
  put(page, "<main>\n", "<main>\n" + summary);
  put(page, "</body>", tail);
  put(page, "</head>", head);
  return page;
}

}  // namespace headsplit::coordinator
