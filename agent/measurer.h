#pragma once

#include <boost/asio/experimental/channel.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/worker_process.h"
#include "core/async.h"
#include "core/lease.h"
#include "core/message.h"
#include "core/row.h"

namespace headsplit::agent {

struct MeasurerOptions {
  WorkerCommand worker;
  std::string agent;  ///< name and node go into every row
  std::string node;
  double worker_start_s = 60;  ///< until the worker has opened its device
};

/// Turns leases into rows, one at a time, by a worker process that is replaced when it crashes or
/// does not answer in time.  Every lease gives one row, but for those given up: on request, or
/// because another lease came.  One thread.
class Measurer {
 public:
  /// deliver: called with each row.
  Measurer(net::any_io_executor executor, MeasurerOptions options,
           std::function<void(Row)> deliver);

  /// Starts the first worker.  Fails: config, io (no such device, in the worker's own words).
  Task<DeviceInfo> open();

  /// Measure this now.  What is being measured is given up, unless it is the same lease with an
  /// older epoch: then the attempt that runs counts as the new one.
  void take(Lease lease);

  /// may: asked before a lease is begun, again and again while the answer is no.
  void start_when(std::function<bool()> may) { may_start_ = std::move(may); }
  /// ready: called when a rank of a gang is prepared.
  void on_ready(std::function<void(Ready)> ready) { ready_ = std::move(ready); }
  /// Where the other ranks of a gang reach this agent.
  void set_address(std::string address) { address_ = std::move(address); }
  /// Every rank is prepared: begin, if it is the attempt in work.
  void go(Go go);

  /// Give the attempt up, if it is the one in work; no row comes of it.
  void cancel(const Cancel& attempt);

  /// Point id, or empty when idle.
  std::string working_on() const;

  /// Of the device, measured when its worker started.
  const std::optional<Ceilings>& ceilings() const { return ceilings_; }

  /// Serves leases until cancelled.  Fails: io, when a new worker cannot be had several times.
  Task<> run();

  /// Kills the worker and waits for its end.
  net::awaitable<void> close();

 private:
  using Clock = std::chrono::steady_clock;

  Task<> start_worker();
  Task<> ensure_worker();
  net::awaitable<void> end_worker();
  net::awaitable<void> measure();
  Task<Row> measure_rank();
  net::awaitable<void> await_go();
  Duration time_left() const;
  std::string reason_of(const Error& error) const;
  void give_up();
  void finish(Row row);

  net::any_io_executor executor_;
  MeasurerOptions options_;
  std::function<void(Row)> deliver_;
  net::experimental::channel<void(boost::system::error_code)> taken_;
  std::unique_ptr<WorkerProcess> worker_;
  DeviceInfo device_;
  std::optional<Ceilings> ceilings_;
  std::optional<Lease> next_;
  std::optional<Lease> current_;
  Clock::time_point taken_at_;  ///< of `next_`, or of `current_`
  std::function<void(Ready)> ready_;
  std::function<bool()> may_start_ = [] { return true; };
  std::string address_ = "127.0.0.1";
  net::experimental::channel<void(boost::system::error_code)> told_;  ///< `go_` or given up
  std::optional<Go> go_;
  bool given_up_ = false;
  int start_failures_ = 0;  ///< in a row
};

}  // namespace headsplit::agent
