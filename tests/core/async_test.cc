#include "core/async.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <thread>

namespace headsplit {
namespace {

constexpr Duration kLong = std::chrono::hours(1);
constexpr Duration kShort = std::chrono::milliseconds(5);

/// Runs a coroutine to its end in an event loop of its own.  A test that would hang is stopped
/// after ten seconds and fails.
template <class T>
std::optional<T> run(net::awaitable<T> work) {
  net::io_context context(1);
  std::optional<T> outcome;
  std::exception_ptr thrown;
  net::co_spawn(context, std::move(work), [&](std::exception_ptr exception, T value) {
    thrown = exception;
    outcome = std::move(value);
  });
  context.run_for(std::chrono::seconds(10));
  if (thrown) std::rethrow_exception(thrown);
  return outcome;
}

Task<std::string> answer_after(Duration delay, std::string answer) {
  co_await sleep_for(delay);
  co_return answer;
}

net::awaitable<int> throwing() {
  co_await sleep_for(kShort);
  throw std::runtime_error("the disk is full");
}

/// Says in `ended` that it was left, by whatever way.
Task<> wait_and_tell(Duration delay, bool& ended) {
  struct Tell {
    bool& ended;
    ~Tell() { ended = true; }
  };
  const Tell tell(ended);
  co_await sleep_for(delay);
  co_return Result<>();
}

Task<> failing_after(Duration delay, std::string message) {
  co_await sleep_for(delay);
  co_return fail(ErrorKind::io, message);
}

TEST(Within, YieldsWhatTheWorkYields) {
  const auto outcome = run(within(kLong, answer_after(kShort, "yes")));
  EXPECT_EQ(outcome.value().value(), "yes");
}

TEST(Within, NamesTheLimitWhenTheWorkIsTooSlow) {
  const auto outcome = run(within(seconds(0.005), answer_after(kLong, "late")));
  EXPECT_EQ(outcome.value().error(), fail(ErrorKind::timeout, "no answer within 0.005 s"));
}

TEST(Within, EndsTheWorkBeforeItReportsTheTimeout) {
  bool ended = false;
  const auto outcome = run(within(kShort, wait_and_tell(kLong, ended)));
  EXPECT_TRUE(ended);
  EXPECT_EQ(outcome.value().error().kind, ErrorKind::timeout);
}

TEST(Within, TurnsAnExceptionIntoItsErrorAtOnce) {
  const auto outcome = run(within(kLong, throwing()));
  EXPECT_EQ(outcome.value().error(), fail(ErrorKind::io, "the disk is full"));
}

TEST(Within, AcceptsWorkThatYieldsNothing) {
  EXPECT_TRUE(run(within(kLong, sleep_for(kShort))).value());
}

Task<> two_children(bool& first, bool& second) {
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("first", wait_and_tell(kShort, first));
  nursery.start("second", wait_and_tell(2 * kShort, second));
  co_return co_await nursery.join();
}

TEST(Nursery, JoinsEveryChild) {
  bool first = false;
  bool second = false;
  EXPECT_TRUE(run(two_children(first, second)).value());
  EXPECT_TRUE(first && second);
}

Task<> children_that_fail(bool& sound) {
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("late", failing_after(3 * kShort, "second"));
  nursery.start("early", failing_after(kShort, "first"));
  nursery.start("sound", wait_and_tell(2 * kShort, sound));
  co_return co_await nursery.join();
}

TEST(Nursery, KeepsTheFirstErrorAndLetsTheOthersFinish) {
  bool sound = false;
  EXPECT_EQ(run(children_that_fail(sound)).value().error(), fail(ErrorKind::io, "early: first"));
  EXPECT_TRUE(sound);
}

Task<> child_that_ends_the_others(bool& other) {
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("other", wait_and_tell(kLong, other));
  nursery.start("first", failing_after(kShort, "gone"), Nursery::OnEnd::others_end);
  co_return co_await nursery.join();
}

TEST(Nursery, EndsTheOthersWithAChildThatTheyCannotDoWithout) {
  bool other = false;
  EXPECT_EQ(run(child_that_ends_the_others(other)).value().error(),
            fail(ErrorKind::io, "first: gone"));
  EXPECT_TRUE(other);
}

Task<> throwing_child() {
  (void)co_await throwing();
  co_return Result<>();
}

Task<> nursery_with_a_throwing_child() {
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("child", throwing_child());
  co_return co_await nursery.join();
}

TEST(Nursery, TurnsAnExceptionOfAChildIntoItsError) {
  EXPECT_EQ(run(nursery_with_a_throwing_child()).value().error(),
            fail(ErrorKind::io, "child: the disk is full"));
}

Task<> cancelled_nursery(bool& before, bool& after) {
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("before", wait_and_tell(kLong, before));
  co_await sleep_for(kShort);
  nursery.cancel();
  nursery.start("after", wait_and_tell(kLong, after));
  co_return co_await nursery.join();
}

TEST(Nursery, CancelsChildrenStartedBeforeAndAfter) {
  bool before = false;
  bool after = true;  // it never starts, so it cannot tell
  EXPECT_TRUE(run(cancelled_nursery(before, after)).value());
  EXPECT_TRUE(before && after);
}

Task<> owner(bool& child) {
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("child", wait_and_tell(kLong, child));
  co_return co_await nursery.join();
}

TEST(Nursery, OfACancelledOwnerEndsItsChildrenFirst) {
  bool child = false;
  const auto outcome = run(within(kShort, owner(child)));
  EXPECT_EQ(outcome.value().error().kind, ErrorKind::timeout);
  EXPECT_TRUE(child);
}

/// Is cancelled before it has a child, and goes on regardless.
Task<> deaf_owner(bool& child) {
  co_await net::this_coro::throw_if_cancelled(false);
  Nursery nursery(co_await net::this_coro::executor);
  net::awaitable<void> sleeping = sleep_for(kLong);
  co_await within(kLong, std::move(sleeping));
  nursery.start("child", wait_and_tell(kLong, child));
  co_return co_await nursery.join();
}

TEST(Nursery, StartedByAnOwnerThatIsCancelledAlreadyEndsAtOnce) {
  bool child = true;  // it never starts, so it cannot tell
  const auto outcome = run(within(kShort, deaf_owner(child)));
  EXPECT_EQ(outcome.value().error().kind, ErrorKind::timeout);
}

TEST(Nursery, LeavesNothingBehindWhenTheEventLoopIsTornDown) {
  bool child = false;
  {
    net::io_context context(1);
    net::co_spawn(context, owner(child), [](std::exception_ptr, Result<>) {});
    context.run_for(kShort);
  }
  EXPECT_TRUE(child);
}

net::awaitable<bool> blocking_work_elsewhere(net::thread_pool& pool) {
  const auto here = std::this_thread::get_id();
  const auto there = co_await on_thread(pool, std::this_thread::get_id);
  co_return there != here&& std::this_thread::get_id() == here;
}

TEST(OnThread, RunsTheWorkElsewhereAndComesBack) {
  net::thread_pool pool(1);
  EXPECT_TRUE(run(blocking_work_elsewhere(pool)).value());
}

int broken_work() { throw std::runtime_error("bad page"); }

TEST(OnThread, CarriesAnExceptionBack) {
  net::thread_pool pool(1);
  EXPECT_EQ(run(within(kLong, on_thread(pool, broken_work))).value().error().message, "bad page");
}

}  // namespace
}  // namespace headsplit
