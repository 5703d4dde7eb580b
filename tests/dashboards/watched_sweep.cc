#include "tests/dashboards/watched_sweep.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "tests/dashboards/files.h"

namespace headsplit::dashboards {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCpuSweep = R"(
name: on-the-cpu
model: deepseek-v3
kernels: [mla_dense]
layouts: [{tp: 1}, {tp: 8}]
axes: {batch: [1], context: [256]}
measure: {min_time_ms: 1, max_time_ms: 20}
)";

/// Some 450 points: half a minute for two simulated GPUs.  One of them has no counters: with an odd
/// number of layouts, each layout falls to the other one now and then, though they take turns.
constexpr const char* kGpuSweep = R"(
name: on-simulated-gpus
model: deepseek-v3
kernels: [mla_dense]
layouts: [{tp: 1}, {tp: 2}, {tp: 4}, {tp: 8}, {dp: 8}, {cp: 8}, {tp: 4, dp: 2}]
axes: {batch: [8, 64], context: [4K, 8K, 16K, 32K]}
measure: {repeats: 8}
)";

/// A port that is free now.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

void replace(std::string& text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  ASSERT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), with);
}

/// Our prometheus.yml with a faster clock, the address of this coordinator, and it once more by
/// its own discovery.
std::string config_for(const std::string& address) {
  std::string config = source_text("dashboards/prometheus.yml");
  replace(config, "scrape_interval: 5s", "scrape_interval: 1s");
  replace(config, "scrape_timeout: 4s", "scrape_timeout: 1s");
  replace(config, "evaluation_interval: 5s", "evaluation_interval: 1s");
  replace(config, "rules/*.yml", source_path("dashboards/rules/*.yml"));
  replace(config, "127.0.0.1:7077", address);
  return config + "\n  - job_name: discovered\n    http_sd_configs:\n      - url: http://" +
         address + "/sd\n        refresh_interval: 1s\n";
}

bool is_number(const json::value& sample) {
  const std::string text(sample.at("value").at(1).as_string());
  return std::isfinite(std::stod(text));
}

}  // namespace

bool eventually(std::chrono::seconds limit, const std::function<bool()>& question) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!question()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(100ms);
  }
  return true;
}

WatchedSweep::WatchedSweep() {
  start_coordinator();
  start_prometheus();
  measure_on_cpu();
  start_gpu_sweep();
}

WatchedSweep::~WatchedSweep() {
  leaving_.reset();
  gpus_.clear();
  for (auto& program : programs_) program->child().signal(SIGTERM);
  for (auto& program : programs_) program->finish(10s);
}

void WatchedSweep::start_coordinator() {
  programs_.push_back(std::make_unique<e2e::Command>(
      scratch_, std::vector<std::string>{e2e::program("headsplit-coordinator"), "--listen",
                                         "127.0.0.1:0", "--db", scratch_.path("rows.db")}));
  const e2e::Command& program = *programs_.back();
  EXPECT_TRUE(eventually(15s, [&] { return program.out().find('\n') != std::string::npos; }))
      << program.err();
  const std::string line = program.out();
  const std::size_t at = line.find("http://");
  ASSERT_NE(at, std::string::npos) << line;
  coordinator_.url = line.substr(at, line.find('\n') - at);
}

void WatchedSweep::start_prometheus() {
  const std::string listen = "127.0.0.1:" + std::to_string(free_port());
  const std::string address = coordinator_.url.substr(std::string("http://").size());
  const std::string config = scratch_.file("prometheus.yml", config_for(address));
  programs_.push_back(std::make_unique<e2e::Command>(
      scratch_, std::vector<std::string>{"prometheus", "--config.file=" + config,
                                         "--storage.tsdb.path=" + scratch_.path("tsdb"),
                                         "--web.listen-address=" + listen,
                                         "--enable-feature=exemplar-storage"}));
  prometheus_.url = "http://" + listen;
  EXPECT_TRUE(eventually(15s, [&] {
    const auto ready = cli::http(prometheus_, "GET", "/-/ready");
    return ready && ready->status == 200;
  })) << programs_.back()->err();
}

void WatchedSweep::measure_on_cpu() {
  programs_.push_back(std::make_unique<e2e::Command>(
      scratch_, std::vector<std::string>{e2e::program("headsplit-agent"), "--coordinator",
                                         coordinator_.url, "--backend", "cpu"}));
  const std::string sweep = submit(kCpuSweep, "cpu");
  EXPECT_TRUE(eventually(30s, [&] {
    const auto status = cli::http_json(coordinator_, "GET", "/api/sweeps/" + sweep);
    return status && status->at("state") == "finished";
  })) << programs_.back()->err();
}

void WatchedSweep::start_gpu_sweep() {
  const std::string url = coordinator_.url;
  gpus_.push_back(std::make_unique<SimulatedGpu>(
      SimulatedGpuOptions{.coordinator = url, .name = "gpu-sound", .point_s = 0.15}));
  gpus_.push_back(std::make_unique<SimulatedGpu>(SimulatedGpuOptions{.coordinator = url,
                                                                     .name = "gpu-odd",
                                                                     .point_s = 0.15,
                                                                     .counters = false,
                                                                     .throttled_every = 2,
                                                                     .repeats_stale_rows = true}));
  leaving_ = std::make_unique<SimulatedGpu>(
      SimulatedGpuOptions{.coordinator = url, .name = "gpu-leaving", .point_s = 60});
  gpu_sweep_ = submit(kGpuSweep, "cuda");
}

std::string WatchedSweep::submit(const std::string& yaml, const std::string& backend) {
  const auto status = cli::http_json(coordinator_, "POST", "/api/sweeps?backend=" + backend, yaml);
  if (!status) {
    ADD_FAILURE() << status.error().message;
    return "";
  }
  return std::string(status->at("id").as_string());
}

std::string WatchedSweep::failures() const {
  std::string all;
  for (const auto& gpu : gpus_) all += gpu->failure();
  return all;
}

json::array WatchedSweep::query(const std::string& expr) const {
  const auto reply =
      cli::http_json(prometheus_, "GET", "/api/v1/query?query=" + cli::url_encoded(expr));
  json::array samples;
  if (!reply) {
    ADD_FAILURE() << expr << ": " << reply.error().message;
    return samples;
  }
  for (const json::value& sample : reply->at("data").at("result").as_array()) {
    if (is_number(sample)) samples.push_back(sample);
  }
  return samples;
}

}  // namespace headsplit::dashboards
