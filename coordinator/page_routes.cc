#include "coordinator/page_routes.h"

#include <array>

#include "coordinator/store.h"
#include "coordinator/web/asset.h"
#include "coordinator/web/row_columns.h"
#include "coordinator/web/row_model.h"
#include "coordinator/web/script.h"

namespace headsplit::coordinator {
namespace {

/// The page runs its own scripts and talks to its own server, and nothing else.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// All modules of the page as one script: one request, where a browser would follow the imports
/// from file to file.
std::string_view page_script() {
  static const std::string script = linked_script("js/main.js").value();
  return script;
}

std::optional<std::string_view> content_of(const std::string& path) {
  if (path == "page.js") return page_script();
  const Asset* asset = find_asset(path);
  return asset == nullptr ? std::nullopt : std::optional(asset->content);
}

/// A file of the page; 304 when the browser has this very content.
Response file_response(const Request& request, const std::string& path) {
  const auto content = content_of(path);
  if (!content) return error_response(404, "no such path: " + request.path);
  const std::string tag = entity_tag(*content);
  Response response;
  response.content_type = content_type_of(path);
  response.headers = {{"ETag", tag},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", kPolicy},
                      {"Referrer-Policy", "no-referrer"}};
  if (request.if_none_match == tag) {
    response.status = 304;
  } else {
    response.body = std::string(*content);
  }
  return response;
}

Answer page(Call& call) { co_return file_response(call.request, "index.html"); }

Answer page_file(Call& call) {
  const std::string prefix = "/assets/";
  co_return file_response(call.request, call.request.path.substr(prefix.size()));
}

Result<std::string> columns_text(const std::string& database, const std::string& sweep) {
  const auto reader = TRY(StoreReader::open(database));
  const std::vector<Row> rows = TRY(reader->rows(RowFilter{.sweep = sweep}));
  RowModel model;
  return json::serialize(columns_of(rows, model.times_us(rows))) + "\n";
}

Answer columns(Call& call) {
  if (!call.site.service.sweep(call.id)) co_return no_such_sweep(call.id);
  auto read = [&] { return columns_text(call.site.database, call.id); };
  net::awaitable<Result<std::string>> reading = on_thread(call.site.pool, read);
  Result<std::string> text = co_await std::move(reading);
  if (!text) co_return error_response(503, text.error().message);
  Response response;
  response.body = std::move(text).value();
  co_return response;
}

Answer roofs(Call& call) {
  const std::string device = parameter(call.request, "device");
  if (device.empty()) co_return error_response(400, "device=NAME is needed, as rows name it");
  auto read = [&] { return RowModel().roofs_of(device); };
  net::awaitable<std::vector<Roof>> reading = on_thread(call.site.pool, read);
  const std::vector<Roof> found = co_await std::move(reading);
  co_return json_response(200, to_json(found));
}

constexpr std::array kRoutes = {
    Route{"GET", "/", page},
    Route{"GET", "/assets/{id}", page_file},
    Route{"GET", "/assets/vendor/{id}", page_file},
    Route{"GET", "/api/model", roofs},
    Route{"GET", "/api/sweeps/{id}/columns", columns},
};

}  // namespace

std::span<const Route> page_routes() { return kRoutes; }

void prepare_page() { page_script(); }

bool is_page_file(const std::string& path) { return path == "/" || path.starts_with("/assets/"); }

}  // namespace headsplit::coordinator
