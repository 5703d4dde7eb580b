#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "core/result.h"

/// The few things that every coroutine of the project is built from.  One `io_context`, one thread:
/// nothing here takes a lock.  Mind g++ 12: in an expression with `co_await` create no aggregate,
/// array, initialiser list or capturing lambda; name it first, then await it.
namespace headsplit {

namespace net = boost::asio;

/// A coroutine that ends with a value or an error.
template <class T = void>
using Task = net::awaitable<Result<T>>;

using Duration = std::chrono::nanoseconds;

/// Seconds, as settings have them, as a duration.
Duration seconds(double count);

/// The exception in flight as an error: `cancelled` when an operation was aborted, else `io`.
Error error_of(std::exception_ptr exception);

/// Returns after `delay`, or throws when cancelled.
net::awaitable<void> sleep_for(Duration delay);

/// Runs `work`; false when `limit` passed first, and `work` was cancelled and has ended.
/// `work` must not throw: a timeout would hide its exception.
net::awaitable<bool> finishes_within(Duration limit, net::awaitable<void> work);

namespace detail {

template <class T>
net::awaitable<void> keep_outcome(net::awaitable<T> work, std::optional<Result<T>>& outcome) {
  try {
    outcome.emplace(co_await std::move(work));
  } catch (...) {
    outcome.emplace(error_of(std::current_exception()));
  }
}

inline net::awaitable<void> keep_outcome(net::awaitable<void> work,
                                         std::optional<Result<void>>& outcome) {
  try {
    co_await std::move(work);
    outcome.emplace();
  } catch (...) {
    outcome.emplace(error_of(std::current_exception()));
  }
}

template <class T>
net::awaitable<void> keep_outcome(Task<T> work, std::optional<Result<T>>& outcome) {
  try {
    outcome.emplace(co_await std::move(work));
  } catch (...) {
    outcome.emplace(error_of(std::current_exception()));
  }
}

template <class T>
Task<T> outcome_within(Duration limit, net::awaitable<void> work,
                       std::optional<Result<T>>& outcome) {
  const bool finished = co_await finishes_within(limit, std::move(work));
  if (finished && outcome) co_return std::move(*outcome);
  co_return fail(ErrorKind::timeout, "no answer within ",
                 std::chrono::duration<double>(limit).count(), " s");
}

}  // namespace detail

/// What `work` yields, at the latest after `limit`; then `work` is cancelled and awaited, and the
/// error is `timeout`.  Exceptions of `work` become errors.
template <class T>
Task<T> within(Duration limit, net::awaitable<T> work) {
  std::optional<Result<T>> outcome;
  net::awaitable<void> kept = detail::keep_outcome(std::move(work), outcome);
  co_return co_await detail::outcome_within(limit, std::move(kept), outcome);
}

template <class T>
Task<T> within(Duration limit, Task<T> work) {
  std::optional<Result<T>> outcome;
  net::awaitable<void> kept = detail::keep_outcome<T>(std::move(work), outcome);
  co_return co_await detail::outcome_within(limit, std::move(kept), outcome);
}

/// Concurrent children that all end before their owner does: `join()` is awaited before a nursery
/// is destroyed.  Used from one thread, that of its executor.
class Nursery {
 public:
  explicit Nursery(net::any_io_executor executor);
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  /// Children that still run (only when the whole `io_context` is torn down) are cancelled.
  ~Nursery();

  /// What the end of a child, good or bad, means for the others.
  enum class OnEnd { others_go_on, others_end };

  /// Runs `child` beside the others, from the next turn of the event loop on.  The first error of
  /// any child is kept, with `what` (when not empty) before it.
  void start(std::string what, Task<> child, OnEnd on_end = OnEnd::others_go_on);

  /// Asks every child to end; their `cancelled` errors do not count.
  void cancel();

  /// Waits for all children.  The first error, if there was one.  A caller that is cancelled
  /// meanwhile cancels the children, and still waits for them.
  Task<> join();

  std::size_t running() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Runs blocking `work` on a thread of `pool`; the coroutine goes on in its own thread.
/// `work` itself cannot be cancelled.
template <class Work>
net::awaitable<std::invoke_result_t<Work>> on_thread(net::thread_pool& pool, Work work) {
  using Value = std::invoke_result_t<Work>;
  auto body = [](Work job) -> net::awaitable<Value> { co_return job(); };
  net::awaitable<Value> running = body(std::move(work));
  co_return co_await net::co_spawn(pool, std::move(running), net::use_awaitable);
}

}  // namespace headsplit
