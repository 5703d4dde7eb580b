#include "agent/worker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace headsplit::agent {
namespace {

/// What a worker answers to the given input.
struct Served {
  ExitCode code = ExitCode::failed;
  std::string output;
};

Served serve(const std::string& input, const RunLease& run) {
  std::array<int, 2> in = {};
  std::array<int, 2> out = {};
  EXPECT_EQ(::pipe(in.data()) + ::pipe(out.data()), 0);
  EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  ::close(in[1]);
  Served served{.code = serve_leases(in[0], out[1], run)};
  ::close(out[1]);
  std::array<char, 65536> buffer = {};
  const ssize_t length = ::read(out[0], buffer.data(), buffer.size());
  served.output.assign(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  ::close(in[0]);
  ::close(out[0]);
  return served;
}

Row ok_row(const Lease& lease) {
  Row row = failed_row(lease, "", false);
  row.status = Status::ok;
  return row;
}

TEST(Worker, AnswersEachLeaseWithOneRow) {
  const std::string two = json_text(Lease{.point_id = "a", .epoch = 1}) + "\n\n" +
                          json_text(Lease{.point_id = "b", .epoch = 2}) + "\n";
  const Served served = serve(two, ok_row);
  EXPECT_EQ(served.code, ExitCode::ok);
  const auto cut = served.output.find('\n');
  EXPECT_EQ(value_from_text<Row>(served.output.substr(0, cut)).value().point_id, "a");
  EXPECT_EQ(value_from_text<Row>(served.output.substr(cut + 1)).value().epoch, 2);
}

TEST(Worker, AFailureOfARankSaysWhich) {
  EXPECT_EQ(failed_row(Lease{.gang = {.size = 4, .rank = 3}}, "killed", true).rank, 3)
      << "else it would be taken for rank 0's, and refused";
}

TEST(Worker, EndsAfterTheRowOfALostDevice) {
  const std::string two =
      json_text(Lease{.point_id = "a"}) + "\n" + json_text(Lease{.point_id = "b"}) + "\n";
  const Served served = serve(two, [](const Lease& lease) {
    return WorkerAnswer(failed_row(lease, "the GPU is lost", true), true);
  });
  EXPECT_EQ(served.code, ExitCode::failed);
  EXPECT_EQ(std::count(served.output.begin(), served.output.end(), '\n'), 1);
  EXPECT_EQ(value_from_text<Row>(served.output).value().reason, "the GPU is lost");
}

TEST(Worker, EndsWithTheUsageCodeOnALineThatIsNoLease) {
  EXPECT_EQ(serve("{\"epoch\": \"x\"}\n", ok_row).code, ExitCode::usage);
  EXPECT_EQ(serve("lease\n", ok_row).code, ExitCode::usage);
}

TEST(Worker, EndsWellWhenItsInputEnds) { EXPECT_EQ(serve("", ok_row).code, ExitCode::ok); }

}  // namespace
}  // namespace headsplit::agent
