#include "coordinator/routes.h"

#include "tests/coordinator/service_fixture.h"

namespace headsplit::coordinator {
namespace {

using Routes = ServiceFixture;

std::string error_of(const Response& response) {
  return std::string(parse_json(response.body)->at("error").get_string());
}

TEST_F(Routes, AnswerThatTheCoordinatorIsWell) {
  EXPECT_EQ(answer_to("GET", "/healthz").body, "ok\n");
}

TEST_F(Routes, NameTheVersionAndTheProtocol) {
  const auto body = parse_json(answer_to("GET", "/api/version").body).value();
  EXPECT_EQ(body.at("protocol_major").as_int64(), kProtocolMajor);
  EXPECT_TRUE(body.at("version").is_string());
}

TEST_F(Routes, TakeASweepAndShowIt) {
  const std::string id = submit();
  const auto shown = parse_json(answer_to("GET", "/api/sweeps/" + id).body).value();
  const auto view = from_json<SweepStatus>(shown).value();
  EXPECT_EQ(view.name, "two");
  EXPECT_EQ(view.points, 2);
  EXPECT_EQ(view.pending, 2);
  EXPECT_EQ(view.state, "running");
  const auto all = parse_json(answer_to("GET", "/api/sweeps").body).value();
  EXPECT_EQ(all.get_array().size(), 1u);
}

TEST_F(Routes, RefuseAMalformedSweepWithOneLineThatNamesFileLineAndField) {
  const Response response =
      answer_to("POST", "/api/sweeps?filename=my%20sweep.yaml", "name: x\naxes: {batch: [0]}\n");
  EXPECT_EQ(response.status, 400);
  const std::string message = error_of(response);
  EXPECT_TRUE(message.starts_with("my sweep.yaml:2:")) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(parse_json(answer_to("GET", "/api/sweeps").body)->get_array().size(), 0u);
}

TEST_F(Routes, RefuseParametersThatMeanNothing) {
  EXPECT_EQ(error_of(answer_to("POST", "/api/sweeps?memory_bytes=lots", kTwoPoints)),
            "memory_bytes='lots': expected a number of 0 or more");
  EXPECT_EQ(error_of(answer_to("POST", "/api/sweeps?backend=tpu", kTwoPoints)),
            "backend='tpu' is not one of: cpu, cuda");
  EXPECT_EQ(error_of(answer_to("POST", "/api/sweeps?fresh=yes", kTwoPoints)),
            "fresh='yes' is not one of: 0, 1");
}

TEST_F(Routes, ResumeASweepThatWasSubmittedBeforeUnlessAFreshOneIsWanted) {
  const std::string id = submit();
  EXPECT_EQ(submit(), id);
  const Response fresh = answer_to("POST", "/api/sweeps?fresh=1", kTwoPoints);
  EXPECT_NE(parse_json(fresh.body)->at("id").as_string(), id);
}

TEST_F(Routes, SkipPointsThatDoNotFitTheMemoryGiven) {
  const Response response = answer_to("POST", "/api/sweeps?memory_bytes=1000", kTwoPoints);
  const auto view = from_json<SweepStatus>(parse_json(response.body).value()).value();
  EXPECT_EQ(view.skipped, 2);
  EXPECT_EQ(view.state, "finished");
}

TEST_F(Routes, GiveTheRowsOfASweepInPlanOrder) {
  const std::string id = submit();
  FakeLink link;
  const auto session = service_.join(hello_of("a"), link);
  until([&] { return !link.all<Grant>().empty(); });
  service_.hear(session.value(), Report{row_for(link.all<Grant>()[0].lease)});
  until([&] { return !link.all<Ack>().empty(); });
  const auto rows =
      value_from_text<std::vector<Row>>(answer_to("GET", "/api/sweeps/" + id + "/rows").body);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows.value()[0].layout, "tp1");
}

TEST_F(Routes, CancelASweep) {
  const std::string id = submit();
  EXPECT_EQ(answer_to("DELETE", "/api/sweeps/" + id).status, 202);
  until([&] { return service_.sweep(id)->state == "finished"; });
  EXPECT_EQ(service_.sweep(id)->cancelled, 2);
}

TEST_F(Routes, SayWhatThereIsNot) {
  EXPECT_EQ(error_of(answer_to("GET", "/api/sweeps/xyz")), "no sweep with the id 'xyz'");
  EXPECT_EQ(answer_to("GET", "/api/sweeps/xyz/rows").status, 404);
  EXPECT_EQ(answer_to("DELETE", "/api/sweeps/xyz").status, 404);
  EXPECT_EQ(answer_to("GET", "/nothing").status, 404);
  EXPECT_EQ(answer_to("GET", "/api/sweeps/a/b").status, 404);
  EXPECT_EQ(answer_to("GET", "/api/sweeps/").status, 404);
  const Response wrong_method = answer_to("PUT", "/api/sweeps");
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.allow, "GET, POST");
}

TEST_F(Routes, ListAgents) {
  FakeLink link;
  ASSERT_TRUE(service_.join(hello_of("a"), link));
  const auto agents =
      value_from_text<std::vector<AgentView>>(answer_to("GET", "/api/agents").body).value();
  ASSERT_EQ(agents.size(), 1u);
  EXPECT_EQ(agents[0].agent.name, "a");
}

TEST_F(Routes, ShowMetricsWithoutTheSeriesOfAgentsThatAreGone) {
  FakeLink link;
  const auto session = service_.join(hello_of("agent-x"), link);
  EXPECT_NE(answer_to("GET", "/metrics").body.find("agent-x"), std::string::npos);
  service_.leave(session.value(), "connection closed");
  EXPECT_EQ(answer_to("GET", "/metrics").body.find("agent-x"), std::string::npos);
}

TEST_F(Routes, WithATokenWantItEverywhereButForTheHealthCheck) {
  site_.token = "secret";
  EXPECT_EQ(answer_to("GET", "/healthz").status, 200);
  EXPECT_EQ(answer_to("GET", "/api/sweeps").status, 401);
  EXPECT_EQ(answer_to("GET", "/metrics").status, 401);
  EXPECT_EQ(answer_to("GET", "/api/sweeps", "", "Bearer wrong").status, 401);
  EXPECT_EQ(answer_to("GET", "/api/sweeps", "", "Bearer secret").status, 200);
}

}  // namespace
}  // namespace headsplit::coordinator
