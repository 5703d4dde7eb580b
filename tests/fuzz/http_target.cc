#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>

#include "coordinator/http_session.h"
#include "tests/fuzz/targets.h"

namespace headsplit::fuzz {
namespace {

using namespace coordinator;

/// A coordinator that lives as long as the process; its database is in a folder of its own.
struct Coordinator {
  Coordinator() {
    std::filesystem::create_directories(folder);
    store = Store::open((folder / "a.db").string()).value();
    service = std::make_unique<Service>(context.get_executor(), *store, ServiceSettings{});
    site = std::make_unique<Site>(Site{*service, pool, (folder / "a.db").string(), ""});
  }
  ~Coordinator() {
    pool.join();
    store.reset();
    std::filesystem::remove_all(folder);
  }

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / str("headsplit_fuzz_", ::getpid());
  net::io_context context{1};
  net::thread_pool pool{1};
  std::unique_ptr<Store> store;
  std::unique_ptr<Service> service;
  std::unique_ptr<Site> site;
};

}  // namespace

void run_http(std::string_view bytes) {
  static Coordinator coordinator;
  net::local::stream_protocol::socket client(coordinator.context);
  net::local::stream_protocol::socket server(coordinator.context);
  net::local::connect_pair(client, server);
  boost::system::error_code ignored;
  client.non_blocking(true, ignored);
  // More than the pipe holds is not needed: no head or message is that large.
  client.write_some(net::buffer(bytes.data(), bytes.size()), ignored);
  client.shutdown(net::socket_base::shutdown_send, ignored);
  bool ended = false;
  net::co_spawn(coordinator.context, serve_connection(Socket(std::move(server)), *coordinator.site),
                [&](std::exception_ptr, const Result<>&) { ended = true; });
  std::array<char, 1 << 16> answer;
  coordinator.context.restart();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (!ended && std::chrono::steady_clock::now() < deadline) {
    coordinator.context.run_one_for(std::chrono::milliseconds(5));
    client.read_some(net::buffer(answer), ignored);
  }
  client.close(ignored);  // who is not satisfied is left alone
  while (!ended) coordinator.context.run_one();
}

}  // namespace headsplit::fuzz
