#include "coordinator/routes.h"

#include <array>
#include <charconv>
#include <chrono>
#include <span>
#include <sstream>

#include "coordinator/export.h"
#include "coordinator/metrics/scrape_routes.h"
#include "coordinator/origin.h"
#include "coordinator/page_routes.h"
#include "coordinator/sweep.h"
#include "core/log.h"
#include "core/token.h"
#include "core/version.h"

namespace headsplit::coordinator {
namespace {

Result<std::optional<std::int64_t>> integer_parameter(const Request& request,
                                                      const std::string& name) {
  const std::string text = parameter(request, name);
  if (text.empty()) return std::optional<std::int64_t>();
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return fail(ErrorKind::config, name, "='", text, "': expected a number of 0 or more");
  }
  return std::optional(value);
}

Answer healthz(Call&) {
  co_return Response{.content_type = "text/plain; charset=utf-8", .body = "ok\n"};
}

Answer version_info(Call&) {
  const json::object body = {{"version", version()},
                             {"revision", build_revision()},
                             {"protocol_major", kProtocolMajor},
                             {"protocol_minor", kProtocolMinor}};
  co_return json_response(200, body);
}

Answer list_agents(Call& call) {
  co_return json_response(200, to_json(call.site.service.agents()));
}

Answer list_sweeps(Call& call) {
  co_return json_response(200, to_json(call.site.service.sweeps()));
}

/// How a sweep is submitted, from the query.
struct Submission {
  std::string text;
  std::string filename;
  std::optional<std::int64_t> memory_bytes;
  std::string backend;
  bool fresh = false;
};

Result<Submission> submission_of(const Request& request) {
  const auto memory_bytes = TRY(integer_parameter(request, "memory_bytes"));
  Submission submission{.text = request.body,
                        .filename = parameter(request, "filename"),
                        .memory_bytes = memory_bytes,
                        .backend = parameter(request, "backend")};
  if (submission.filename.empty()) submission.filename = "sweep";
  const std::string& backend = submission.backend;
  if (!backend.empty() && backend != "cpu" && backend != "cuda") {
    return fail(ErrorKind::config, "backend='", backend, "' is not one of: cpu, cuda");
  }
  const std::string fresh = parameter(request, "fresh");
  if (!fresh.empty() && fresh != "0" && fresh != "1") {
    return fail(ErrorKind::config, "fresh='", fresh, "' is not one of: 0, 1");
  }
  submission.fresh = fresh == "1";
  return submission;
}

Result<Plan> plan_of(const Submission& submission) {
  const Sweep sweep = TRY(sweep_from_yaml(submission.text, submission.filename));
  auto plan = make_plan(sweep, submission.memory_bytes);
  if (!plan) return within_context(submission.filename, plan.error());
  if (submission.fresh) {
    // A plan id of its own, so that no earlier run is resumed.
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    plan->id = content_id(str(plan->id, now));
  }
  return plan;
}

Answer submit_sweep(Call& call) {
  const Result<Submission> submission = submission_of(call.request);
  if (!submission) co_return error_response(400, submission.error().message);
  auto expand = [&] { return plan_of(submission.value()); };
  net::awaitable<Result<Plan>> expanding = on_thread(call.site.pool, expand);
  Result<Plan> plan = co_await std::move(expanding);
  if (!plan) co_return error_response(400, plan.error().message);
  Task<SweepStatus> submitting =
      call.site.service.submit(std::move(plan).value(), submission->backend);
  const Result<SweepStatus> status = co_await std::move(submitting);
  if (!status) co_return error_response(503, status.error().message);
  co_return json_response(201, to_json(status.value()));
}

Answer show_sweep(Call& call) {
  const auto status = call.site.service.sweep(call.id);
  if (!status) co_return no_such_sweep(call.id);
  co_return json_response(200, to_json(*status));
}

Answer cancel_sweep(Call& call) {
  if (!call.site.service.sweep(call.id)) co_return no_such_sweep(call.id);
  call.site.service.cancel_sweep(call.id, "cancelled by a client");
  co_return json_response(202, to_json(call.site.service.sweep(call.id)));
}

/// json: one list.  csv, jsonl: a file to take away.
enum class RowsFormat { json, csv, jsonl };
BOOST_DESCRIBE_ENUM(RowsFormat, json, csv, jsonl)

Result<std::string> rows_text(const std::string& database, const RowFilter& filter,
                              RowsFormat format) {
  const auto reader = TRY(StoreReader::open(database));
  const std::vector<Row> rows = TRY(reader->rows(filter));
  if (format == RowsFormat::json) return json_text(rows) + "\n";
  std::ostringstream out;
  export_rows(out, rows, format == RowsFormat::csv ? ExportFormat::csv : ExportFormat::jsonl);
  return std::move(out).str();
}

std::string rows_content_type(RowsFormat format) {
  if (format == RowsFormat::csv) return "text/csv; charset=utf-8";
  return format == RowsFormat::jsonl ? "application/jsonl" : "application/json";
}

Answer list_rows(Call& call) {
  if (!call.site.service.sweep(call.id)) co_return no_such_sweep(call.id);
  const std::string wanted = parameter(call.request, "format");
  const auto format = enum_from_name<RowsFormat>(wanted.empty() ? "json" : wanted);
  if (!format) co_return error_response(400, "format: " + format.error().message);
  const RowFilter filter{.sweep = call.id, .point_id = parameter(call.request, "point")};
  auto read = [&] { return rows_text(call.site.database, filter, *format); };
  net::awaitable<Result<std::string>> reading = on_thread(call.site.pool, read);
  Result<std::string> text = co_await std::move(reading);
  if (!text) co_return error_response(503, text.error().message);
  Response response;
  response.content_type = rows_content_type(*format);
  response.body = std::move(text).value();
  co_return response;
}

constexpr std::array kRoutes = {
    Route{"GET", "/healthz", healthz},
    Route{"GET", "/api/version", version_info},
    Route{"GET", "/api/agents", list_agents},
    Route{"GET", "/api/sweeps", list_sweeps},
    Route{"POST", "/api/sweeps", submit_sweep},
    Route{"GET", "/api/sweeps/{id}", show_sweep},
    Route{"DELETE", "/api/sweeps/{id}", cancel_sweep},
    Route{"GET", "/api/sweeps/{id}/rows", list_rows},
};

/// What stands for {id} when `path` has the form of `pattern`; empty for patterns without one.
std::optional<std::string> match(const std::string& pattern, const std::string& path) {
  const std::string variable = "{id}";
  const auto at = pattern.find(variable);
  if (at == std::string::npos)
    return path == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string tail = pattern.substr(at + variable.size());
  if (path.size() <= at + tail.size() || path.compare(0, at, pattern, 0, at) != 0) return {};
  if (!path.ends_with(tail)) return std::nullopt;
  const std::string id = path.substr(at, path.size() - at - tail.size());
  return id.find('/') == std::string::npos ? std::optional(id) : std::nullopt;
}

Response no_route(const std::string& path, const std::string& methods) {
  if (methods.empty()) return error_response(404, "no such path: " + path);
  Response response = error_response(405, path + " takes " + methods);
  response.allow = methods;
  return response;
}

}  // namespace

std::string parameter(const Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

Response no_such_sweep(const std::string& id) {
  return error_response(404, "no sweep with the id '" + id + "'");
}

std::optional<Response> refusal_of(const Request& request, const Site& site) {
  if (from_foreign_page(request)) {
    return error_response(403, "a page of " + request.origin + " may change nothing here");
  }
  if (site.token.empty()) {
    if (site.mutual_tls || names_this_machine(request, site.own_name)) return std::nullopt;
    return error_response(403, "'" + request.host + "' is not this machine: expected localhost, " +
                                   "127.0.0.1, [::1] or the name in --listen");
  }
  const bool passes = request.path == "/healthz" || is_page_file(request.path) ||
                      same_token(request.authorization, "Bearer " + site.token);
  if (passes) return std::nullopt;
  return error_response(401, "a token is needed: Authorization: Bearer TOKEN");
}

net::awaitable<Response> handle(Request request, Site& site) {
  if (auto refusal = refusal_of(request, site)) co_return std::move(*refusal);
  std::string methods;
  for (const auto table : {std::span<const Route>(kRoutes), page_routes(), scrape_routes()}) {
    for (const Route& route : table) {
      const auto id = match(route.path, request.path);
      if (!id) continue;
      if (request.method != route.method) {
        methods += (methods.empty() ? "" : ", ") + std::string(route.method);
        continue;
      }
      Call call{std::move(request), *id, site};
      Answer answering = route.answer(call);
      co_return co_await std::move(answering);
    }
  }
  co_return no_route(request.path, methods);
}

}  // namespace headsplit::coordinator
