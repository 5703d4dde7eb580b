#pragma once

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "coordinator/routes.h"
#include "coordinator/service.h"
#include "tests/coordinator/store_fixture.h"

namespace headsplit::coordinator {

/// Remembers what an agent would have been sent.
class FakeLink final : public AgentLink {
 public:
  void send(const CoordinatorMessage& message) override { sent.push_back(message); }
  void close(const std::string& reason) override { closed = reason; }

  /// All messages of one kind.
  template <class Message>
  std::vector<Message> all() const {
    std::vector<Message> found;
    for (const auto& message : sent) {
      if (const auto* wanted = std::get_if<Message>(&message)) found.push_back(*wanted);
    }
    return found;
  }

  std::vector<CoordinatorMessage> sent;
  std::string closed;
};

/// A service with a real store behind it and no sockets before it.
class ServiceFixture : public StoreFixture {
 protected:
  ServiceFixture() : store_(Store::open(path()).value()) {}
  ~ServiceFixture() override {
    pool_.join();
    store_.reset();
  }

  /// Runs a coroutine to its end.
  template <class T>
  T await(net::awaitable<T> work) {
    std::optional<T> outcome;
    net::co_spawn(context_, std::move(work),
                  [&](std::exception_ptr, T value) { outcome = std::move(value); });
    until([&] { return outcome.has_value(); });
    return std::move(outcome).value();
  }

  /// Lets things happen until `done`; fails the test when that takes ten seconds.
  void until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      context_.restart();
      context_.run_for(std::chrono::milliseconds(2));
    }
    ASSERT_TRUE(done()) << "it does not happen";
  }

  Response answer_to(const std::string& method, const std::string& target,
                     const std::string& body = "", const std::string& authorization = "") {
    Request request = request_from(method, target).value();
    request.body = body;
    request.authorization = authorization;
    return await(handle(std::move(request), site_));
  }

  static Hello hello_of(const std::string& name, int process_id = 1) {
    Hello hello;
    hello.agent.name = name;
    hello.agent.node = "n1";
    hello.agent.backend = "cpu";
    hello.agent.memory_bytes = std::int64_t{1} << 40;
    hello.agent.process_id = process_id;
    return hello;
  }

  /// The row that an agent would send for a lease.
  static Row row_for(const Lease& lease, Status status = Status::ok) {
    Row row = row_of(lease.point);
    row.point_id = lease.point_id;
    row.epoch = lease.epoch;
    row.sweep = lease.sweep;
    row.seed = lease.seed;
    row.local_heads = lease.problem.local_heads;
    row.rank_batch = lease.problem.batch;
    row.rank_context = lease.problem.context;
    row.status = status;
    row.time_us = 5;
    return row;
  }

  std::string submit(const std::string& yaml = kTwoPoints) {
    const Response response = answer_to("POST", "/api/sweeps?filename=s.yaml", yaml);
    EXPECT_EQ(response.status, 201) << response.body;
    return std::string(parse_json(response.body)->at("id").get_string());
  }

  static constexpr const char* kTwoPoints =
      "name: two\nlayouts: [{tp: 1}, {tp: 2}]\naxes: {batch: [1], context: [128]}\n";

  net::io_context context_{1};
  net::thread_pool pool_{1};
  std::unique_ptr<Store> store_;
  Service service_{context_.get_executor(), *store_, ServiceSettings{}};
  Site site_{service_, pool_, path(), ""};
};

}  // namespace headsplit::coordinator
