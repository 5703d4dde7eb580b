#include "agent/measurer.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <csignal>

namespace headsplit::agent {
namespace {

/// A measurer with a fake worker, in an event loop that runs until enough rows are in.
class MeasurerTest : public testing::Test {
 protected:
  explicit MeasurerTest(std::vector<std::string> worker_argument = {}) {
    std::signal(SIGPIPE, SIG_IGN);
    MeasurerOptions options{.agent = "n1-0", .node = "n1", .worker_start_s = 10};
    options.worker.argv = {sibling_program("fake_worker")};
    for (auto& argument : worker_argument) options.worker.argv.push_back(argument);
    measurer_.emplace(context_.get_executor(), options,
                      [this](Row row) { rows_.push_back(std::move(row)); });
  }

  /// Opens the device, takes the leases one after the other as rows come in, and ends.
  void measure(std::vector<Lease> leases) {
    net::co_spawn(context_, session(std::move(leases)), [this](std::exception_ptr thrown) {
      if (thrown) error_ = error_of(thrown);
    });
    context_.run_for(std::chrono::seconds(20));
    EXPECT_TRUE(context_.stopped()) << "the measurer hangs";
  }

  net::awaitable<void> session(std::vector<Lease> leases) {
    const Result<DeviceInfo> device = co_await measurer_->open();
    if (!device) {
      error_ = device.error();
      co_return;
    }
    device_ = device.value();
    Nursery nursery(context_.get_executor());
    nursery.start("measurer", measurer_->run());
    for (const Lease& lease : leases) {
      measurer_->take(lease);
      const std::size_t wanted = rows_.size() + 1;
      while (rows_.size() < wanted && during(lease)) {
        co_await sleep_for(std::chrono::milliseconds(2));
      }
    }
    nursery.cancel();
    co_await nursery.join();
    co_await measurer_->close();
  }

  /// Called while a lease is measured; false when no row is to be waited for.
  virtual bool during(const Lease&) { return true; }

  net::io_context context_{1};
  std::optional<Measurer> measurer_;
  DeviceInfo device_;
  std::vector<Row> rows_;
  std::optional<Error> error_;
};

Lease lease_of(const std::string& kernel, double deadline_s = 10) {
  Lease lease{.epoch = 3, .sweep = "plan", .deadline_s = deadline_s};
  lease.point.kernel = kernel;
  lease.point_id = point_id(lease.point);
  return lease;
}

TEST_F(MeasurerTest, GivesARowThatSaysWhoMeasuredIt) {
  measure({lease_of("fine")});
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_EQ(rows_[0].status, Status::ok);
  EXPECT_EQ(rows_[0].point_id, lease_of("fine").point_id);
  EXPECT_EQ(rows_[0].epoch, 3);
  EXPECT_EQ(rows_[0].sweep, "plan");
  EXPECT_EQ(rows_[0].agent, "n1-0");
  EXPECT_EQ(rows_[0].node, "n1");
  EXPECT_EQ(rows_[0].device, "fake");
}

TEST_F(MeasurerTest, SaysByWhichSignalAWorkerEndedAndGoesOnWithAnother) {
  measure({lease_of("kill"), lease_of("fine")});
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(rows_[0].status, Status::failed);
  EXPECT_EQ(rows_[0].reason, "worker killed by signal 9 (Killed)");
  EXPECT_TRUE(rows_[0].retryable);
  EXPECT_EQ(rows_[1].status, Status::ok);
}

TEST_F(MeasurerTest, SaysWithWhichCodeAWorkerEnded) {
  measure({lease_of("exit3"), lease_of("fine")});
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(rows_[0].reason, "worker ended with exit 3");
  EXPECT_EQ(rows_[1].status, Status::ok);
}

TEST_F(MeasurerTest, KillsAWorkerThatDoesNotAnswerInTime) {
  measure({lease_of("hang", 0.25), lease_of("fine")});
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(rows_[0].reason, "no answer within 0.25 s");
  EXPECT_TRUE(rows_[0].retryable);
  EXPECT_EQ(rows_[1].status, Status::ok);
}

TEST_F(MeasurerTest, TurnsAnExceptionInTheWorkerIntoAFailedRow) {
  measure({lease_of("throw")});
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_EQ(rows_[0].reason, "out of memory");
  EXPECT_FALSE(rows_[0].retryable);
}

TEST_F(MeasurerTest, KeepsTheRowOfAWorkerWhoseDeviceIsLostAndGoesOnWithAnother) {
  measure({lease_of("lost"), lease_of("fine"), lease_of("lost"), lease_of("fine")});
  ASSERT_EQ(rows_.size(), 4u);
  EXPECT_EQ(rows_[0].status, Status::failed);
  EXPECT_EQ(rows_[0].reason, "illegal address") << "the worker's own words";
  EXPECT_EQ(rows_[1].status, Status::ok) << "not given to the worker that ends";
  EXPECT_EQ(rows_[3].status, Status::ok);
}

TEST_F(MeasurerTest, IsNotDisturbedByLibrariesThatPrint) {
  measure({lease_of("chatty"), lease_of("fine")});
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(rows_[0].status, Status::ok);
}

class CancellingTest : public MeasurerTest {
  bool during(const Lease& lease) override {
    if (lease.point.kernel != "hang") return true;
    if (measurer_->working_on().empty()) return false;
    measurer_->cancel(Cancel{lease.point_id, lease.epoch, lease.sweep});
    return true;
  }
};

TEST_F(CancellingTest, GivesNoRowForACancelledLeaseAndIsFreeForTheNext) {
  measure({lease_of("hang"), lease_of("fine")});
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_EQ(rows_[0].point_id, lease_of("fine").point_id);
}

class RegrantingTest : public MeasurerTest {
  bool during(const Lease& lease) override {
    Lease again = lease;
    again.epoch = 4;
    if (!measurer_->working_on().empty()) measurer_->take(again);
    return true;
  }
};

TEST_F(RegrantingTest, CountsARunningAttemptAsTheNewOneWhenTheSameLeaseComesAgain) {
  measure({lease_of("slow")});
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_EQ(rows_[0].status, Status::ok);
  EXPECT_EQ(rows_[0].epoch, 4);
}

class SupersedingTest : public MeasurerTest {
  bool during(const Lease& lease) override {
    return lease.point.kernel != "hang" || measurer_->working_on().empty();
  }
};

TEST_F(SupersedingTest, GivesUpAnAttemptWhenAnotherLeaseComes) {
  measure({lease_of("hang"), lease_of("fine")});
  ASSERT_EQ(rows_.size(), 1u);
  EXPECT_EQ(rows_[0].point_id, lease_of("fine").point_id);
}

class BrokenDeviceTest : public MeasurerTest {
 protected:
  BrokenDeviceTest() : MeasurerTest({"broken"}) {}
};

TEST_F(BrokenDeviceTest, SaysWhyThereIsNoDevice) {
  measure({});
  EXPECT_EQ(error_.value().message, "no GPU: driver too old");
}

}  // namespace
}  // namespace headsplit::agent
