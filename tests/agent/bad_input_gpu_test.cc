// What goes wrong on a GPU becomes a row, and the next point is measured: leases for a real worker,
// one after the other.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdlib>

#include "agent/device_memory.h"
#include "agent/measurer.h"

namespace headsplit::agent {
namespace {

class BadInputGpu : public testing::Test {
 protected:
  BadInputGpu() {
    std::signal(SIGPIPE, SIG_IGN);
    MeasurerOptions options;
    options.worker.argv = {sibling_program("headsplit-agent"), "--worker", "--backend", "cuda"};
    measurer_.emplace(context_.get_executor(), options,
                      [this](Row row) { rows_.push_back(std::move(row)); });
  }

  /// Rows of the leases, each taken when the one before is done; `before` is called before each.
  std::vector<Row> measure(
      std::vector<Lease> leases, std::function<void(const Lease&)> before = [](const Lease&) {}) {
    before_ = std::move(before);
    net::co_spawn(context_, session(std::move(leases)), [](std::exception_ptr thrown) {
      if (thrown) std::rethrow_exception(thrown);
    });
    context_.run_for(std::chrono::seconds(100));
    EXPECT_TRUE(context_.stopped()) << "the measurer hangs";
    return rows_;
  }

  net::awaitable<void> session(std::vector<Lease> leases) {
    const Result<DeviceInfo> device = co_await measurer_->open();
    if (!device) throw std::runtime_error(device.error().message);
    device_ = device.value();
    Nursery nursery(context_.get_executor());
    nursery.start("measurer", measurer_->run());
    for (const Lease& lease : leases) {
      before_(lease);
      measurer_->take(lease);
      const std::size_t wanted = rows_.size() + 1;
      while (rows_.size() < wanted) co_await sleep_for(std::chrono::milliseconds(2));
    }
    nursery.cancel();
    co_await nursery.join();
    co_await measurer_->close();
  }

  net::io_context context_{1};
  std::optional<Measurer> measurer_;
  std::function<void(const Lease&)> before_;
  DeviceInfo device_;
  std::vector<Row> rows_;
};

Lease lease_of(const std::string& kernel, int batch = 2, std::int64_t context = 300) {
  Lease lease{.epoch = 1, .sweep = "plan", .deadline_s = 50};
  lease.point.kernel = kernel;
  lease.point.batch = batch;
  lease.point.context = context;
  lease.problem = {.local_heads = 16, .batch = batch, .context = context};
  lease.measure = {.min_time_ms = 2, .max_noise = 0.5};
  lease.point_id = point_id(lease.point);
  return lease;
}

/// Folder of the plug-ins: that of the build, unless they were moved.
std::string plugin(const std::string& fault) {
  const char* moved = std::getenv("HEADSPLIT_TEST_PLUGINS");
  return str("plugin:", moved != nullptr ? moved : PLUGIN_FOLDER, "/libcuda_", fault, ".so");
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

TEST_F(BadInputGpu, OneFaultAfterTheOther) {
  const auto rows =
      measure({lease_of(plugin("writes_nan")), lease_of(plugin("writes_wrong")),
               lease_of(plugin("cheats")), lease_of(plugin("strays")), lease_of("mla_dense")});
  ASSERT_EQ(rows.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) {
    std::printf("%s\n", rows[i].reason.c_str());
    EXPECT_EQ(rows[i].status, Status::failed);
    EXPECT_FALSE(rows[i].time_us) << "no time of a wrong result";
  }
  EXPECT_EQ(rows[0].reason.find("row 0, value 0: got nan"), 0u);
  EXPECT_EQ(rows[1].reason.find("row 0, value 0: got 7"), 0u);
  EXPECT_EQ(rows[2].reason.find("right when checked, wrong when timed: row 0"), 0u);
  EXPECT_FALSE(rows[2].retryable) << "it would cheat again";
  EXPECT_NE(rows[3].reason.find("cudaErrorIllegalAddress"), std::string::npos);
  EXPECT_NE(rows[3].reason.find("context is lost"), std::string::npos);
  EXPECT_TRUE(rows[3].retryable);
  EXPECT_EQ(rows[4].status, Status::ok) << rows[4].reason;
  EXPECT_GT(rows[4].time_us.value(), 0);
}

TEST_F(BadInputGpu, MemoryThatWasThereWhenTheWorkerStartedAndIsTakenNow) {
  DeviceMemory hog;
  const Lease large = lease_of("mla_dense", 64, 65536);
  const auto rows = measure({large, lease_of("mla_dense"), large}, [&](const Lease& lease) {
    hog = DeviceMemory();
    if (rows_.empty()) hog = device_memory(free_bytes() - (std::size_t{2} << 30)).value();
    static_cast<void>(lease);
  });
  ASSERT_EQ(rows.size(), 3u);
  std::printf("%s\n", rows[0].reason.c_str());
  EXPECT_EQ(rows[0].status, Status::failed);
  EXPECT_NE(rows[0].reason.find("cudaErrorMemoryAllocation"), std::string::npos);
  EXPECT_EQ(rows[1].status, Status::ok) << rows[1].reason;
  EXPECT_EQ(rows[2].status, Status::ok) << rows[2].reason;
}

TEST_F(BadInputGpu, MoreThanTheDeviceHasIsSkippedWithTheBytesItNeeds) {
  const auto rows = measure({lease_of("mla_dense", 4096, 65536), lease_of("mla_dense")});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, Status::skipped);
  EXPECT_EQ(rows[0].reason.find("needs 31"), 0u) << rows[0].reason;
  EXPECT_EQ(rows[1].status, Status::ok) << rows[1].reason;
}

}  // namespace
}  // namespace headsplit::agent
