#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "coordinator/store.h"

namespace headsplit::coordinator {

/// A folder of its own for each test, and a store in it whose calls wait for their completion.
class StoreFixture : public testing::Test {
 protected:
  StoreFixture() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              str("headsplit_", test->test_suite_name(), "_", test->name(), "_", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  ~StoreFixture() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "a.db") const { return (folder_ / name).string(); }

  static Plan plan_of(const std::string& text, std::optional<std::int64_t> memory_bytes = {}) {
    return make_plan(sweep_from_yaml(text, "s.yaml").value(), memory_bytes).value();
  }
  static Result<void> write(Store& store, StoreWrite record) {
    std::promise<Result<void>> stored;
    store.write(std::move(record), [&](Result<void> result) { stored.set_value(result); });
    return stored.get_future().get();
  }
  static Result<StoredSweep> begin(Store& store, const Plan& plan,
                                   const std::string& backend = "") {
    std::promise<Result<StoredSweep>> begun;
    store.begin_sweep(plan, backend,
                      [&](Result<StoredSweep> result) { begun.set_value(std::move(result)); });
    return begun.get_future().get();
  }
  static LeaseWrite lease_of(const Plan& plan, std::size_t at, std::int64_t epoch) {
    return {plan.id, plan.points[at].id, epoch, "agent-0"};
  }
  static RowWrite row_of_point(const Plan& plan, std::size_t at, std::int64_t epoch,
                               Status status = Status::ok) {
    Row row = row_of(plan.points[at].point);
    row.epoch = epoch;
    row.sweep = plan.name;
    row.status = status;
    row.time_us = 100.5;
    row.samples_us = {100, 101};
    return {plan.id, row};
  }
  /// Lease and row of a point, both durable.
  static void finish(Store& store, const Plan& plan, std::size_t at, Status status = Status::ok) {
    ASSERT_TRUE(write(store, lease_of(plan, at, 1)));
    ASSERT_TRUE(write(store, row_of_point(plan, at, 1, status)));
  }

  std::filesystem::path folder_;
};

}  // namespace headsplit::coordinator
