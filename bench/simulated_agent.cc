#include "bench/simulated_agent.h"

#include "core/row_point.h"

namespace headsplit::bench {
namespace {

/// A row as a GPU agent would send it.
Row plausible_row(const Lease& lease, const std::string& agent) {
  Row row;
  static_cast<RowPoint&>(row) = row_point_of(lease.point);
  row.point_id = lease.point_id;
  row.epoch = lease.epoch;
  row.sweep = lease.sweep;
  row.seed = lease.seed;
  row.agent = agent;
  row.local_heads = lease.problem.local_heads;
  row.rank_batch = lease.problem.batch;
  row.rank_context = lease.problem.context;
  row.status = Status::ok;
  row.samples_us.assign(30, 123.456);
  row.time_us = 123.456;
  row.flops = 1e9;
  row.hbm_bytes_model = 1e6;
  return row;
}

}  // namespace

Task<> SimulatedAgent::run() {
  auto connected = co_await agent::Link::connect(address_, "");
  if (!connected) co_return connected.error();
  link_ = std::move(connected).value();
  Hello hello;
  hello.agent.name = name_;
  hello.agent.backend = "cpu";
  hello.agent.memory_bytes = std::int64_t{1} << 44;
  Result<> done = co_await link_->send(message_text(AgentMessage(std::move(hello))));
  while (done) {
    const Result<std::string> text = co_await link_->receive();
    if (!text) co_return text.error();
    const Result<CoordinatorMessage> message = coordinator_message_from(text.value());
    if (!message) co_return message.error();
    if (const auto* grant = std::get_if<Grant>(&message.value())) {
      Task<> answering = answer(grant->lease);
      done = co_await std::move(answering);
    } else if (const auto* ack = std::get_if<Ack>(&message.value())) {
      done = note(*ack, sent_.seconds() * 1e3);
    }
  }
  co_return done;
}

Task<> SimulatedAgent::answer(Lease lease) {
  Task<> pausing = pause();
  const Result<> paused = co_await std::move(pausing);
  if (!paused) co_return paused;
  Report report;
  report.row = plausible_row(lease, name_);
  std::string text = message_text(AgentMessage(std::move(report)));
  sent_ = Stopwatch();
  co_return co_await link_->send(std::move(text));
}

}  // namespace headsplit::bench
