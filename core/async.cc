#include "core/async.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <list>

namespace headsplit {

Duration seconds(double count) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(count));
}

Error error_of(std::exception_ptr exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const boost::system::system_error& error) {
    const bool cancelled = error.code() == net::error::operation_aborted;
    return fail(cancelled ? ErrorKind::cancelled : ErrorKind::io, error.code().message());
  } catch (const std::exception& error) {
    return fail(ErrorKind::io, error.what());
  } catch (...) {
    return fail(ErrorKind::io, "unknown exception");
  }
}

net::awaitable<void> sleep_for(Duration delay) {
  net::steady_timer timer(co_await net::this_coro::executor, delay);
  co_await timer.async_wait(net::use_awaitable);
}

net::awaitable<bool> finishes_within(Duration limit, net::awaitable<void> work) {
  using namespace net::experimental::awaitable_operators;
  const auto first = co_await (std::move(work) || sleep_for(limit));
  co_return first.index() == 0;
}

struct Nursery::State {
  explicit State(net::any_io_executor its) : executor(its), emptied(its, 1) {}

  net::any_io_executor executor;
  std::list<net::cancellation_signal> children;  ///< one for each child that runs
  net::experimental::channel<void(boost::system::error_code)> emptied;
  std::optional<Error> first_error;
  bool cancelling = false;

  void cancel() {
    cancelling = true;
    for (auto& child : children) child.emit(net::cancellation_type::terminal);
  }

  void ended(std::list<net::cancellation_signal>::iterator child, const std::string& what,
             OnEnd on_end, const Result<>& outcome) {
    const bool asked = cancelling && !outcome && outcome.error().kind == ErrorKind::cancelled;
    if (!outcome && !asked && !first_error) {
      first_error = what.empty() ? outcome.error() : within_context(what, outcome.error());
    }
    children.erase(child);
    if (on_end == OnEnd::others_end) cancel();
    if (children.empty()) emptied.try_send(boost::system::error_code());
  }
};

namespace {

/// The child as a coroutine that never throws: its end, good or bad, is in `outcome`.
net::awaitable<void> kept_child(Task<> child, std::shared_ptr<std::optional<Result<>>> outcome) {
  co_await detail::keep_outcome<void>(std::move(child), *outcome);
}

}  // namespace

Nursery::Nursery(net::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

Nursery::~Nursery() { cancel(); }

std::size_t Nursery::running() const { return state_->children.size(); }

void Nursery::start(std::string what, Task<> child, OnEnd on_end) {
  const auto signal = state_->children.emplace(state_->children.end());
  auto outcome = std::make_shared<std::optional<Result<>>>();
  auto ended = [state = state_, signal, outcome, on_end,
                what = std::move(what)](std::exception_ptr thrown) {
    if (thrown) outcome->emplace(error_of(thrown));  // cancelled before its first step
    state->ended(signal, what, on_end, outcome->value());
  };
  net::co_spawn(state_->executor, kept_child(std::move(child), std::move(outcome)),
                net::bind_cancellation_slot(signal->slot(), std::move(ended)));
  if (state_->cancelling) signal->emit(net::cancellation_type::terminal);
}

void Nursery::cancel() { state_->cancel(); }

Task<> Nursery::join() {
  const std::shared_ptr<State> state = state_;
  co_await net::this_coro::throw_if_cancelled(false);
  while (!state->children.empty()) {
    // Before the wait, too: who was cancelled a moment ago is not told a second time.
    const net::cancellation_state asked = co_await net::this_coro::cancellation_state;
    if (asked.cancelled() != net::cancellation_type::none) state->cancel();
    co_await state->emptied.async_receive(net::as_tuple(net::use_awaitable));
  }
  co_await net::this_coro::throw_if_cancelled(true);
  if (state->first_error) co_return *state->first_error;
  co_return Result<>();
}

}  // namespace headsplit
