// What the Hopper kernel of mla_dense is built on, measured again on this GPU
// (docs/hopper-facts.md).
//   bench_hopper_facts
// Prints a line a fact: what, value, unit.  Without a GPU of compute capability 9.0 it says so and
// does nothing.

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "agent/cuda_kernels.h"
#include "bench/hopper_fact_kernels.h"
#include "core/stats.h"
#include "kernels/device/buffer.h"
#include "kernels/device/cuda_graph.h"
#include "kernels/device/event.h"
#include "kernels/device/stream.h"

namespace headsplit::bench {
namespace {

using kernels::cuda_result;
using kernels::CudaGraph;
using kernels::DeviceBuffer;
using kernels::Event;
using kernels::Stream;

constexpr int kRepeats = 5;
constexpr int kPagesACta = 400;  ///< 3.9 GB on 132 CTAs
constexpr int kProducts = 40'000;
constexpr int kHandOvers = 10'000;
constexpr int kSwappedTiles = 2'000;
constexpr int kTiles = 20'000;          ///< of a launch: some 15 ms
constexpr double kSustainedUs = 1.5e6;  ///< until the power cap has been reached
constexpr std::int64_t kEvicted = 128ll << 20;

void print(const char* fact, double value, const char* unit) {
  std::printf("%-66s %9.2f %s\n", fact, value, unit);
  std::fflush(stdout);
}

class Facts {
 public:
  static Result<Facts> make() {
    int device = 0;
    int ctas = 0;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&ctas, cudaDevAttrMultiProcessorCount, device));
    Stream stream = TRY(Stream::make());
    Event start = TRY(Event::make());
    Event end = TRY(Event::make());
    auto cycles = TRY(DeviceBuffer<std::uint64_t>::make(2 * ctas));
    auto sink = TRY(DeviceBuffer<std::uint32_t>::make(ctas));
    auto evicted = TRY(DeviceBuffer<unsigned char>::make(kEvicted));
    Facts facts{.stream = std::move(stream),
                .start = std::move(start),
                .end = std::move(end),
                .cycles = std::move(cycles),
                .sink = std::move(sink),
                .evicted = std::move(evicted),
                .ctas = ctas};
    CUDA_TRY(cudaMemsetAsync(facts.evicted.data(), 1, facts.evicted.bytes(), facts.stream.get()));
    return facts;
  }

  Stream stream;
  Event start;
  Event end;
  DeviceBuffer<std::uint64_t> cycles;
  DeviceBuffer<std::uint32_t> sink;
  DeviceBuffer<unsigned char> evicted;
  int ctas;

  Result<void> reading() {
    const int count = ctas * kPagesACta;
    const auto pages = TRY(DeviceBuffer<unsigned char>::make(std::int64_t{count} * kPageBytes));
    CUDA_TRY(cudaMemsetAsync(pages.data(), 0x5A, pages.bytes(), stream.get()));
    std::vector<std::int32_t> shuffled(static_cast<std::size_t>(count));
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
    const auto order = TRY(DeviceBuffer<std::int32_t>::copy_of(shuffled, stream.get()));
    const PagedRead read{pages.data(), order.data(), kPagesACta, ctas, sink.data()};
    const auto tbps = [&](double us) { return double(pages.bytes()) / us * 1e-6; };
    print("shuffled pages of 73,728 bytes by cp.async, 128 threads an SM",
          tbps(TRY(median_us([&] { return read_by_cp_async(read, stream.get()); }))), "TB/s");
    print("the same by the copy engine, a page a copy",
          tbps(TRY(median_us([&] { return read_by_bulk_copies(read, stream.get()); }))), "TB/s");
    return {};
  }

  Result<void> products() {
    const auto each = [&](const char* fact, Product product) -> Result<void> {
      CUDA_TRY(time_products(product, kProducts, cycles.data(), stream.get()));
      print(fact, double(TRY(read_cycles(1)).front()) / kProducts, "cycles");
      return {};
    };
    TRY(each("wgmma m64n32k16, A in registers", Product::m64n32k16_from_registers));
    TRY(each("wgmma m64n32k16, A in shared memory", Product::m64n32k16_from_shared));
    TRY(each("wgmma m64n256k16, A in shared memory", Product::m64n256k16));
    double us = 0;
    for (double spent_us = 0; spent_us < kSustainedUs; spent_us += kRepeats * us) {
      us = TRY(median_us([&] {
        return multiply_tiles(kTiles, ctas, reinterpret_cast<float*>(sink.data()), stream.get());
      }));
      if (spent_us == 0) print("tiles of 64 rows, products only: at once", tflops(us), "TFLOP/s");
    }
    print("tiles of 64 rows, products only: after 1.5 s", tflops(us), "TFLOP/s");
    return {};
  }

  /// Products of few packed rows, in cycles a tile of 64 tokens: HBM brings one in about 4,000.
  Result<void> swapped_tiles() {
    const auto each = [&](const char* fact, FewRows rows, int groups) -> Result<void> {
      CUDA_TRY(time_swapped_tiles(rows, groups, kSwappedTiles, cycles.data(), stream.get()));
      print(fact, double(TRY(read_cycles(1)).front()) / (kSwappedTiles * groups), "cycles");
      return {};
    };
    TRY(each("a tile of 64 tokens, operands swapped, 16 rows, one warpgroup", FewRows::rows_16, 1));
    TRY(each("the same by two warpgroups, each its own tiles", FewRows::rows_16, 2));
    TRY(each("a tile of 64 tokens, operands swapped, 32 rows, one warpgroup", FewRows::rows_32, 1));
    return each("the same by two warpgroups, each its own tiles", FewRows::rows_32, 2);
  }

  Result<void> hand_overs() {
    const auto each = [&](const char* fact, HandOver by) -> Result<void> {
      CUDA_TRY(time_hand_overs(by, kHandOvers, cycles.data(), stream.get()));
      print(fact, double(TRY(read_cycles(1)).front()) / kHandOvers, "cycles");
      return {};
    };
    TRY(each("a warp hands over to another by an mbarrier", HandOver::mbarrier));
    TRY(each("the same by a named barrier", HandOver::named_barrier));
    return {};
  }

  /// The first pass of a launch that finds L2 without the code, against the second.
  Result<void> cold_code() {
    std::vector<double> cold;
    std::vector<double> warm;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      CUDA_TRY(evict());
      CUDA_TRY(time_code(ctas, cycles.data(), sink.data(), stream.get()));
      const auto read = TRY(read_cycles(2 * ctas));
      for (int cta = 0; cta < ctas; ++cta) {
        cold.push_back(double(read[std::size_t(2 * cta)]));
        warm.push_back(double(read[std::size_t(2 * cta + 1)]));
      }
    }
    print("32 KB of straight code, the first time, L2 without it", quantile(cold, 0.5), "cycles");
    print("the same, the second time", quantile(warm, 0.5), "cycles");
    return {};
  }

  /// Between two events of a graph, as the harness times short launches.
  Result<void> launches() {
    TRY(launched("two events of a graph, nothing between them", {}));
    TRY(launched("an empty split kernel between them", Launches::one));
    TRY(launched("and an empty combine kernel behind it", Launches::two));
    return launched("the same with programmatic dependent launch", Launches::two_overlapped);
  }

 private:
  double tflops(double us) const { return kTiles * kTileFlops * ctas / us * 1e-6; }

  cudaError_t evict() const {
    return agent::enqueue_read(evicted.data(), evicted.bytes(), ctas, stream.get());
  }

  /// One sample of a graph.
  Result<void> enqueue(std::optional<Launches> which) const {
    CUDA_TRY(evict());
    CUDA_TRY(cudaEventRecordWithFlags(start.get(), stream.get(), cudaEventRecordExternal));
    if (which) CUDA_TRY(launch_nothing(*which, ctas, stream.get()));
    CUDA_TRY(cudaEventRecordWithFlags(end.get(), stream.get(), cudaEventRecordExternal));
    return {};
  }

  Result<void> launched(const char* fact, std::optional<Launches> which) {
    const auto sample = [&] { return enqueue(which); };
    const CudaGraph graph = TRY(CudaGraph::capture(stream.get(), sample));
    std::vector<double> samples_us;
    for (int i = 0; i < 4 * kRepeats; ++i) {
      TRY(graph.launch(stream.get()));
      TRY(stream.synchronize());
      samples_us.push_back(TRY(end.since_us(start)));
    }
    print(fact, quantile(samples_us, 0.5), "us");
    return {};
  }

  template <class Launch>
  Result<double> median_us(const Launch& launch) {
    std::vector<double> samples_us;
    CUDA_TRY(launch());
    for (int i = 0; i < kRepeats; ++i) {
      TRY(start.record(stream.get()));
      CUDA_TRY(launch());
      TRY(end.record(stream.get()));
      TRY(stream.synchronize());
      samples_us.push_back(TRY(end.since_us(start)));
    }
    return quantile(samples_us, 0.5);
  }

  Result<std::vector<std::uint64_t>> read_cycles(int count) {
    std::vector<std::uint64_t> read(static_cast<std::size_t>(count));
    CUDA_TRY(cudaMemcpyAsync(read.data(), cycles.data(), read.size() * sizeof read[0],
                             cudaMemcpyDeviceToHost, stream.get()));
    TRY(stream.synchronize());
    return read;
  }
};

Result<void> measure() {
  Facts facts = TRY(Facts::make());
  TRY(facts.launches());
  TRY(facts.cold_code());
  TRY(facts.hand_overs());
  TRY(facts.swapped_tiles());
  TRY(facts.reading());
  return facts.products();
}

bool has_hopper() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return false;
  std::printf("# bench_hopper_facts, %s\n", properties.name);
  return properties.major == 9 && properties.minor == 0;
}

}  // namespace
}  // namespace headsplit::bench

int main() {
  using namespace headsplit;
  if (!bench::has_hopper()) {
    std::printf("no GPU of compute capability 9.0: nothing measured\n");
    return 0;
  }
  const auto measured = bench::measure();
  if (!measured) std::fprintf(stderr, "%s\n", measured.error().message.c_str());
  return measured ? 0 : 1;
}
