#include "tests/dashboards/simulated_gpu.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <optional>

#include "agent/link.h"
#include "core/async.h"

namespace headsplit::dashboards {
namespace {

constexpr double kPeakFlops = 800e12;
constexpr double kReadBytesPerSecond = 4e12;
constexpr const char* kDevice = "Simulated GPU (test)";
constexpr Duration kTurn = std::chrono::milliseconds(20);

double unix_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

AgentInfo info_of(const std::string& name) {
  return {.name = name,
          .node = "simulated-node",
          .backend = "cuda",
          .device = kDevice,
          .gpu_uuid = "GPU-simulated-" + name,
          .driver = "0.0",
          .cuda = "0.0",
          .build = "test",
          .memory_bytes = 100'000'000'000,
          .process_id = 1};
}

Ceilings ceilings_of(const std::string& name) {
  return {.backend = "cuda",
          .device = kDevice,
          .gpu_uuid = "GPU-simulated-" + name,
          .read_gbps = kReadBytesPerSecond * 1e-9,
          .copy_gbps = kReadBytesPerSecond * 0.9e-9,
          .bf16_tflops = kPeakFlops * 1e-12,
          .fp8_tflops = 2 * kPeakFlops * 1e-12,
          .measured_unix_s = unix_s()};
}

/// Work and time of a rank's problem on the made-up device: the roofline at 80 %, and 4 us more.
void fill_figures(const RankProblem& shape, Row& row) {
  const double rows = double(shape.batch) * shape.query_tokens * shape.local_heads;
  const double width = shape.d_qk() + shape.d_latent;
  row.flops = 2 * rows * double(shape.context) * width;
  const double cache_row_bytes = shape.kv_dtype == KvDtype::bf16 ? 2 * shape.d_qk() : 656;
  row.kv_bytes_model = double(shape.batch) * double(shape.context) * cache_row_bytes;
  row.qo_bytes_model = rows * width * 2;
  row.hbm_bytes_model = *row.kv_bytes_model + *row.qo_bytes_model;
  const double attainable_s =
      std::max(*row.flops / kPeakFlops, *row.hbm_bytes_model / kReadBytesPerSecond);
  const double time_s = attainable_s / 0.8 + 4e-6;
  row.time_us = time_s * 1e6;
  row.samples_us = {*row.time_us, *row.time_us, *row.time_us};
  row.kernel_s = 3 * time_s;
  row.tflops = *row.flops / time_s * 1e-12;
  row.gbps = *row.hbm_bytes_model / time_s * 1e-9;
  row.intensity_model = *row.flops / *row.hbm_bytes_model;
  row.roofline_fraction = attainable_s / time_s;
}

void fill_counters(bool available, Row& row) {
  if (!available) {
    row.counters_reason = "counters are closed to this user (simulated)";
    return;
  }
  row.dram_bytes_read = *row.hbm_bytes_model * 1.02;
  row.dram_bytes_written = *row.qo_bytes_model * 0.5;
  row.tensor_ops = *row.flops * 1.05;
  row.intensity_measured = *row.flops / (*row.dram_bytes_read + *row.dram_bytes_written);
  row.intensity_source = Provenance::measured;
}

Row row_for(const Lease& lease, const SimulatedGpuOptions& options, int number) {
  Row row = row_of(lease.point);
  row.epoch = lease.epoch;
  row.sweep = lease.sweep;
  row.agent = options.name;
  row.node = "simulated-node";
  row.backend = "cuda";
  row.device = kDevice;
  row.status = Status::ok;
  row.started_unix_s = unix_s();
  row.local_heads = lease.problem.local_heads;
  row.rank_batch = lease.problem.batch;
  row.rank_context = lease.problem.context;
  row.seed = lease.seed;
  fill_figures(lease.problem, row);
  fill_counters(options.counters, row);
  row.sm_clock_mhz = 1700;
  row.throttled = options.throttled_every > 0 && number % options.throttled_every == 0;
  if (*row.throttled) row.throttle_reason = "software power cap";
  return row;
}

Heartbeat heartbeat_of(const SimulatedGpuOptions& options, const std::string& working_on,
                       double age_s) {
  Heartbeat heartbeat{.working_on = working_on,
                      .sm_clock_mhz = 1700 + 10 * (int(age_s) % 3),
                      .memory_clock_mhz = 3200,
                      .power_w = working_on.empty() ? 120.0 : 640.0,
                      .temperature_c = 58,
                      .energy_j = 1e6 + 500 * age_s,
                      .throttled = options.throttled_every > 0};
  if (age_s < 1) heartbeat.ceilings = ceilings_of(options.name);
  return heartbeat;
}

/// The agent's side of one connection.  All on one thread.
class Talk {
 public:
  Talk(agent::Link& link, const SimulatedGpuOptions& options, std::atomic<int>& rows_sent,
       const std::atomic<bool>& leaving)
      : link_(link), options_(options), rows_sent_(rows_sent), leaving_(leaving) {}

  Task<> greet() {
    Hello hello;
    hello.agent = info_of(options_.name);
    const std::string text = message_text(AgentMessage(hello));
    const Result<> sent = co_await link_.send(text);
    if (!sent) co_return sent.error();
    const Result<std::string> answer = co_await link_.receive();
    if (!answer) co_return answer.error();
    const auto message = coordinator_message_from(answer.value());
    if (!message) co_return message.error();
    if (!std::holds_alternative<Welcome>(message.value())) {
      co_return fail(ErrorKind::protocol, "no welcome: ", answer.value());
    }
    co_return Result<>();
  }

  Task<> listen() {
    while (true) {
      const Result<std::string> text = co_await link_.receive();
      if (!text) co_return text.error();
      auto message = coordinator_message_from(text.value());
      if (!message) co_return message.error();
      if (auto* grant = std::get_if<Grant>(&message.value())) lease_ = std::move(grant->lease);
      if (std::holds_alternative<Cancel>(message.value())) lease_.reset();
    }
  }

  /// Works, beats and sends, until told to leave.
  Task<> work() {
    double age_s = 0;
    double next_beat_s = 0;
    double busy_s = 0;
    const double turn_s = std::chrono::duration<double>(kTurn).count();
    for (; !leaving_; age_s += turn_s) {
      if (age_s >= next_beat_s) {
        const Heartbeat beat = heartbeat_of(options_, lease_ ? lease_->point_id : "", age_s);
        const std::string text = message_text(AgentMessage(beat));
        const Result<> sent = co_await link_.send(text);
        if (!sent) co_return sent;
        next_beat_s += 0.5;
      }
      busy_s = lease_ ? busy_s + turn_s : 0;
      if (lease_ && busy_s >= options_.point_s) {
        const Row row = row_for(*lease_, options_, rows_sent_ + 1);
        lease_.reset();
        busy_s = 0;
        Task<> reporting = report(row);
        const Result<> sent = co_await std::move(reporting);
        if (!sent) co_return sent;
      }
      co_await sleep_for(kTurn);
    }
    co_return Result<>();
  }

 private:
  Task<> report(Row row) {
    const std::string text = message_text(AgentMessage(Report{row}));
    const Result<> sent = co_await link_.send(text);
    if (!sent) co_return sent;
    rows_sent_ += 1;
    if (!options_.repeats_stale_rows) co_return Result<>();
    row.epoch -= 1;
    const std::string stale = message_text(AgentMessage(Report{row}));
    co_return co_await link_.send(stale);
  }

  agent::Link& link_;
  const SimulatedGpuOptions& options_;
  std::atomic<int>& rows_sent_;
  const std::atomic<bool>& leaving_;
  std::optional<Lease> lease_;
};

Task<> live(const SimulatedGpuOptions& options, std::atomic<int>& rows_sent,
            const std::atomic<bool>& leaving) {
  const auto address = agent::address_from(options.coordinator);
  if (!address) co_return address.error();
  auto link = co_await agent::Link::connect(address.value(), "");
  if (!link) co_return link.error();
  Talk talk(*link.value(), options, rows_sent, leaving);
  Task<> greeting = talk.greet();
  const Result<> greeted = co_await std::move(greeting);
  if (!greeted) co_return greeted;
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("listening", talk.listen(), Nursery::OnEnd::others_end);
  nursery.start("working", talk.work(), Nursery::OnEnd::others_end);
  const Result<> ended = co_await nursery.join();
  if (!leaving) co_return ended;
  Task<> closing = link.value()->close();
  co_await within(std::chrono::seconds(1), std::move(closing));
  co_return Result<>();
}

}  // namespace

SimulatedGpu::SimulatedGpu(SimulatedGpuOptions options)
    : options_(std::move(options)), thread_([this] { run(); }) {}

SimulatedGpu::~SimulatedGpu() {
  leaving_ = true;
  thread_.join();
}

std::string SimulatedGpu::failure() const { return ended_ ? failure_ : ""; }

void SimulatedGpu::run() {
  net::io_context context(1);
  net::co_spawn(context, live(options_, rows_sent_, leaving_),
                [this](std::exception_ptr thrown, Result<> ended) {
                  if (thrown) failure_ = error_of(thrown).message;
                  if (!thrown && !ended) failure_ = ended.error().message;
                });
  context.run();
  ended_ = true;
}

}  // namespace headsplit::dashboards
