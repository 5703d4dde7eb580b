#include "coordinator/page_routes.h"

#include "coordinator/web/asset.h"
#include "coordinator/web/script.h"
#include "tests/coordinator/service_fixture.h"

namespace headsplit::coordinator {
namespace {

class PageRoutes : public ServiceFixture {
 protected:
  Response get(const std::string& target) { return answer_to("GET", target); }

  Response answer_with(const std::string& method, const std::string& path, const std::string& host,
                       const std::string& origin) {
    Request request = request_from(method, path).value();
    request.host = host;
    request.origin = origin;
    request.body = kTwoPoints;
    return await(handle(std::move(request), site_));
  }

  /// The sweep with its first point done, at a median of 5 us.
  std::string sweep_with_a_row() {
    const std::string id = submit();
    const auto session = service_.join(hello_of("a"), link_);
    until([&] { return !link_.all<Grant>().empty(); });
    service_.hear(session.value(), Report{row_for(link_.all<Grant>()[0].lease)});
    until([&] { return !link_.all<Ack>().empty(); });
    return id;
  }

  FakeLink link_;
};

std::string header_of(const Response& response, const std::string& wanted) {
  for (const auto& [name, value] : response.headers) {
    if (name == wanted) return value;
  }
  return "";
}

TEST_F(PageRoutes, GiveThePageAndItsFiles) {
  EXPECT_EQ(get("/").body, find_asset("index.html")->content);
  EXPECT_EQ(get("/").content_type, "text/html; charset=utf-8");
  EXPECT_EQ(get("/assets/style.css").content_type, "text/css; charset=utf-8");
  EXPECT_EQ(get("/assets/page.js").body, linked_script("js/main.js").value());
  EXPECT_EQ(get("/assets/vendor/uPlot.iife.min.js").status, 200);
  EXPECT_EQ(get("/assets/nothing.js").status, 404);
  EXPECT_EQ(get("/assets/vendor/..%2Findex.html").status, 404);
}

TEST_F(PageRoutes, NameNoFileThatThePageLacks) {
  const std::string page = get("/").body;
  std::size_t found = 0;
  for (std::size_t at = page.find("/assets/"); at != std::string::npos;
       at = page.find("/assets/", at + 1)) {
    const std::string path = page.substr(at, page.find('"', at) - at);
    EXPECT_EQ(get(path).status, 200) << path;
    ++found;
  }
  EXPECT_GT(found, 3u);
}

TEST_F(PageRoutes, LetThePageRunItsOwnScriptsOnly) {
  const std::string policy = header_of(get("/"), "Content-Security-Policy");
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self';")) << policy;
  EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

TEST_F(PageRoutes, SendAFileOnceUntilItChanges) {
  Request request = request_from("GET", "/assets/style.css").value();
  request.if_none_match = header_of(get("/assets/style.css"), "ETag");
  const Response again = await(handle(request, site_));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  request.if_none_match = "\"of another build\"";
  EXPECT_EQ(await(handle(request, site_)).status, 200);
}

TEST_F(PageRoutes, GiveRowsColumnByColumnWithTheModelsTime) {
  const std::string id = sweep_with_a_row();
  const auto body = parse_json(get("/api/sweeps/" + id + "/columns").body).value();
  EXPECT_EQ(body.at("count"), json::value(1));
  EXPECT_EQ(body.at("columns").at("layout").at("all"), "tp1");
  EXPECT_EQ(body.at("columns").at("time_us").at("all").to_number<double>(), 5);
  EXPECT_TRUE(body.at("columns").as_object().contains("time_us_model"));
  EXPECT_FALSE(body.at("columns").as_object().contains("samples_us"));
  EXPECT_EQ(get("/api/sweeps/xyz/columns").status, 404);
}

TEST_F(PageRoutes, GiveOneRowInFullToAPermalink) {
  const std::string id = sweep_with_a_row();
  const std::string point = link_.all<Grant>()[0].lease.point_id;
  const auto rows = parse_json(get("/api/sweeps/" + id + "/rows?point=" + point).body).value();
  ASSERT_EQ(rows.as_array().size(), 1u);
  EXPECT_EQ(rows.at(0).at("point_id"), json::value(point));
  EXPECT_TRUE(rows.at(0).as_object().contains("samples_us"));
  EXPECT_EQ(get("/api/sweeps/" + id + "/rows?point=none").body, "[]\n");
}

TEST_F(PageRoutes, GiveRowsAsFilesToTakeAway) {
  const std::string id = sweep_with_a_row();
  const Response csv = get("/api/sweeps/" + id + "/rows?format=csv");
  EXPECT_EQ(csv.content_type, "text/csv; charset=utf-8");
  EXPECT_EQ(std::count(csv.body.begin(), csv.body.end(), '\n'), 2);
  EXPECT_EQ(get("/api/sweeps/" + id + "/rows?format=jsonl").content_type, "application/jsonl");
  EXPECT_EQ(get("/api/sweeps/" + id + "/rows?format=xml").status, 400);
}

TEST_F(PageRoutes, GiveTheRoofOfADeviceAndSayWhereItIsFrom) {
  const auto roofs = parse_json(get("/api/model?device=NVIDIA%20H200").body).value();
  ASSERT_EQ(roofs.as_array().size(), 1u);
  EXPECT_EQ(roofs.at(0).at("source"), "data sheet");
  EXPECT_GT(roofs.at(0).at("tflops").to_number<double>(), 900);
  EXPECT_GT(roofs.at(0).at("gbps").to_number<double>(), 4000);
  EXPECT_EQ(get("/api/model?device=abacus").body, "[]\n");
  EXPECT_EQ(get("/api/model").status, 400);
}

TEST_F(PageRoutes, ShowThePageWithoutATokenButNoData) {
  site_.token = "secret";
  EXPECT_EQ(get("/").status, 200);
  EXPECT_EQ(get("/assets/page.js").status, 200);
  EXPECT_EQ(get("/api/model?device=x").status, 401);
  EXPECT_EQ(get("/api/sweeps/x/columns").status, 401);
}

TEST_F(PageRoutes, TakeNoSweepFromThePageOfAStranger) {
  const std::string host = "127.0.0.1:7077";
  EXPECT_EQ(answer_with("POST", "/api/sweeps", host, "http://evil.example").status, 403);
  EXPECT_EQ(answer_with("POST", "/api/sweeps", host, "null").status, 403);
  EXPECT_TRUE(service_.sweeps().empty());
  EXPECT_EQ(answer_with("POST", "/api/sweeps", host, "http://" + host).status, 201);
  const std::string id = service_.sweeps().at(0).id;
  EXPECT_EQ(answer_with("DELETE", "/api/sweeps/" + id, host, "http://evil.example").status, 403);
  EXPECT_EQ(service_.sweeps().at(0).state, "running");
}

TEST_F(PageRoutes, AnswerNobodyWhoCallsThisMachineByAnotherName) {
  const Response refused = answer_with("GET", "/api/sweeps", "evil.example:7077", "");
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(refused.body.find("'evil.example:7077' is not this machine"), std::string::npos);
  EXPECT_EQ(answer_with("GET", "/", "evil.example:7077", "").status, 403);
  site_.own_name = "node-1";
  EXPECT_EQ(answer_with("GET", "/api/sweeps", "node-1:7077", "").status, 200);
}

TEST_F(PageRoutes, WithATokenAnswerByAnyNameSinceStrangersDoNotKnowIt) {
  site_.token = "secret";
  Request request = request_from("GET", "/api/sweeps").value();
  request.host = "node-7:7077";
  request.authorization = "Bearer secret";
  EXPECT_EQ(await(handle(request, site_)).status, 200);
}

}  // namespace
}  // namespace headsplit::coordinator
