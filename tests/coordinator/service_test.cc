#include "tests/coordinator/service_fixture.h"

namespace headsplit::coordinator {
namespace {

using ServiceTest = ServiceFixture;

TEST_F(ServiceTest, WelcomesAnAgentAndGrantsItAPointWhoseLeaseIsDurable) {
  const std::string sweep = submit();
  FakeLink link;
  const auto session = service_.join(hello_of("a"), link);
  EXPECT_EQ(link.all<Welcome>().at(0).session, session.value());
  until([&] { return !link.all<Grant>().empty(); });
  const Lease lease = link.all<Grant>()[0].lease;
  EXPECT_EQ(lease.sweep, sweep);
  const auto points = StoreReader::open(path()).value()->points(sweep).value();
  EXPECT_EQ(points[0].id, lease.point_id);
  EXPECT_EQ(points[0].epoch, lease.epoch);
  EXPECT_EQ(points[0].state, PointState::running);
}

TEST_F(ServiceTest, AcknowledgesARowOnlyWhenItIsInTheDatabase) {
  const std::string sweep = submit();
  FakeLink link;
  const auto session = service_.join(hello_of("a"), link);
  until([&] { return !link.all<Grant>().empty(); });
  const Lease lease = link.all<Grant>()[0].lease;
  service_.hear(session.value(), Report{row_for(lease)});
  EXPECT_TRUE(link.all<Ack>().empty());
  until([&] { return !link.all<Ack>().empty(); });
  EXPECT_EQ(link.all<Ack>()[0].acceptance, Acceptance::accepted);
  const auto rows = StoreReader::open(path()).value()->rows(RowFilter{.sweep = sweep}).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].point_id, lease.point_id);
}

TEST_F(ServiceTest, FinishesASweepWithOneAgent) {
  const std::string sweep = submit();
  FakeLink link;
  const auto session = service_.join(hello_of("a"), link);
  for (std::size_t done = 0; done < 2; ++done) {
    until([&] { return link.all<Grant>().size() > done; });
    service_.hear(session.value(), Report{row_for(link.all<Grant>()[done].lease)});
  }
  until([&] { return link.all<Ack>().size() == 2; });
  const auto status = service_.sweep(sweep).value();
  EXPECT_EQ(status.state, "finished");
  EXPECT_EQ(status.ok, 2);
  EXPECT_EQ(status.eta_s, 0);
}

TEST_F(ServiceTest, RefusesAnAgentOfAnotherProtocol) {
  FakeLink link;
  Hello hello = hello_of("a");
  hello.protocol_major = kProtocolMajor + 1;
  EXPECT_EQ(service_.join(hello, link).error().message,
            "agent a speaks protocol 2.2, this coordinator 1.2: use the same headsplit on both");
  EXPECT_TRUE(service_.agents().empty());
}

TEST_F(ServiceTest, RefusesASecondAgentOfTheSameName) {
  FakeLink first;
  FakeLink second;
  ASSERT_TRUE(service_.join(hello_of("a", 1), first));
  EXPECT_EQ(service_.join(hello_of("a", 2), second).error().message,
            "agent name 'a' is connected already (node n1, process 1): give one of them a --name");
  EXPECT_EQ(service_.agents().size(), 1u);
  EXPECT_EQ(first.closed, "");
}

TEST_F(ServiceTest, LetsAnAgentInAgainWhoseOldConnectionItHasNotSeenBreak) {
  FakeLink broken;
  FakeLink fresh;
  const auto old_session = service_.join(hello_of("a", 1), broken);
  const auto session = service_.join(hello_of("a", 1), fresh);
  ASSERT_TRUE(session);
  EXPECT_NE(session.value(), old_session.value());
  EXPECT_EQ(broken.closed, "connected again");
  EXPECT_EQ(service_.agents().size(), 1u);
  service_.leave(old_session.value(), "connection closed");
  EXPECT_EQ(service_.agents().size(), 1u);
}

TEST_F(ServiceTest, TakesARowThatAnEarlierConnectionLeftUnacknowledgedInsteadOfGrantingItAgain) {
  const std::string sweep = submit("name: one\naxes: {batch: [1], context: [128]}\n");
  FakeLink first;
  const auto session = service_.join(hello_of("a"), first);
  until([&] { return !first.all<Grant>().empty(); });
  const Lease lease = first.all<Grant>()[0].lease;
  service_.leave(session.value(), "connection closed");

  FakeLink second;
  Hello hello = hello_of("a");
  hello.unacknowledged = {row_for(lease)};
  ASSERT_TRUE(service_.join(hello, second));
  until([&] { return !second.all<Ack>().empty(); });
  EXPECT_EQ(second.all<Ack>()[0].acceptance, Acceptance::accepted);
  EXPECT_TRUE(second.all<Grant>().empty());
  EXPECT_EQ(service_.sweep(sweep)->ok, 1);
}

TEST_F(ServiceTest, AnswersARepeatedRowWithDuplicate) {
  submit();
  FakeLink link;
  const auto session = service_.join(hello_of("a"), link);
  until([&] { return !link.all<Grant>().empty(); });
  const Row row = row_for(link.all<Grant>()[0].lease);
  service_.hear(session.value(), Report{row});
  service_.hear(session.value(), Report{row});
  until([&] { return link.all<Ack>().size() == 2; });
  EXPECT_EQ(link.all<Ack>()[1].acceptance, Acceptance::duplicate);
}

TEST_F(ServiceTest, DoesNotSendALeaseThatWasCancelledBeforeItWasDurable) {
  const std::string sweep = submit();
  FakeLink link;
  ASSERT_TRUE(service_.join(hello_of("a"), link));  // the lease is on its way to the disk
  service_.cancel_sweep(sweep, "not wanted");
  until([&] { return service_.sweep(sweep)->state == "finished"; });
  EXPECT_EQ(service_.sweep(sweep)->cancelled, 2);
  EXPECT_TRUE(link.all<Grant>().empty());
  EXPECT_TRUE(link.all<Cancel>().empty());
}

TEST_F(ServiceTest, TellsAnAgentToStopALeaseItHas) {
  const std::string sweep = submit();
  FakeLink link;
  ASSERT_TRUE(service_.join(hello_of("a"), link));
  until([&] { return !link.all<Grant>().empty(); });
  service_.cancel_sweep(sweep, "not wanted");
  EXPECT_EQ(link.all<Cancel>().at(0).point_id, link.all<Grant>()[0].lease.point_id);
}

TEST_F(ServiceTest, RefusesAnAgentWhoseNameIsNotFitToPrint) {
  FakeLink link;
  EXPECT_FALSE(service_.join(hello_of("a\nb"), link));
  EXPECT_FALSE(service_.join(hello_of(""), link));
  EXPECT_FALSE(service_.join(hello_of(std::string(200, 'x')), link));
}

TEST_F(ServiceTest, GrantsNothingOnceItShutsDown) {
  FakeLink link;
  ASSERT_TRUE(service_.join(hello_of("a"), link));
  service_.begin_shutdown();
  submit();
  until([&] { return service_.settled(); });
  EXPECT_TRUE(link.all<Grant>().empty());
}

}  // namespace
}  // namespace headsplit::coordinator
