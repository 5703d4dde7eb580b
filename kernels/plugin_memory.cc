#include "kernels/plugin_memory.h"

#include <cstring>
#include <new>

#include "kernels/bf16.h"

namespace headsplit::kernels {
namespace {

constexpr int kPoisonByte = 0xFF;

class HostMemory final : public PluginMemory {
 public:
  HostMemory(const Problem& problem, OutputType type, ThreadPool& pool)
      : page_table_(problem.page_table),
        lengths_(problem.lengths),
        inputs_(make_host_inputs(problem, pool)),
        output_bytes_(static_cast<std::size_t>(problem.rows() * problem.shape.d_latent *
                                               output_value_bytes(type))),
        lse_count_(static_cast<std::size_t>(problem.rows())),
        output_(make_aligned<std::byte>(output_bytes_)),
        lse_(make_aligned<float>(lse_count_)) {}

  PluginPointers pointers() const override {
    return {inputs_.query.get(), inputs_.cache.get(), page_table_.data(),
            lengths_.data(),     output_.get(),       lse_.get()};
  }
  Result<void> poison() override {
    std::memset(output_.get(), kPoisonByte, output_bytes_);
    std::memset(lse_.get(), kPoisonByte, lse_count_ * sizeof(float));
    return {};
  }
  Result<void> read_output(std::int64_t offset_bytes, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), output_.get() + offset_bytes, bytes.size());
    return {};
  }
  Result<void> read_lse(std::int64_t first, std::span<float> values) override {
    std::memcpy(values.data(), lse_.get() + first, values.size_bytes());
    return {};
  }

 private:
  std::vector<std::int32_t> page_table_;
  std::vector<std::int32_t> lengths_;
  HostInputs inputs_;
  std::size_t output_bytes_ = 0;
  std::size_t lse_count_ = 0;
  AlignedArray<std::byte> output_;
  AlignedArray<float> lse_;
};

std::vector<float> as_floats(const std::vector<std::byte>& bytes, OutputType type) {
  const auto value_bytes = static_cast<std::size_t>(output_value_bytes(type));
  std::vector<float> values(bytes.size() / value_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == OutputType::f32) {
      std::memcpy(&values[i], &bytes[i * value_bytes], sizeof(float));
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, &bytes[i * value_bytes], sizeof bits);
      values[i] = bf16_value(bits);
    }
  }
  return values;
}

}  // namespace

std::int64_t output_value_bytes(OutputType type) { return type == OutputType::f32 ? 4 : 2; }

Result<std::unique_ptr<PluginMemory>> make_host_memory(const Problem& problem, OutputType type,
                                                       int threads) {
  try {
    ThreadPool pool(threads);
    return std::make_unique<HostMemory>(problem, type, pool);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::config, "not enough memory: ", memory_bytes(problem.shape) / 1e9,
                " GB are needed");
  }
}

Result<std::vector<OutputRow>> read_rows(PluginMemory& memory, const Problem& problem,
                                         OutputType type, std::span<const std::int64_t> rows) {
  const std::int64_t row_bytes = problem.shape.d_latent * output_value_bytes(type);
  std::vector<OutputRow> found;
  for (const std::int64_t row : rows) {
    if (row < 0 || row >= problem.rows()) {
      return fail(ErrorKind::config, "output row ", row, " is not in 0..", problem.rows() - 1);
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(row_bytes));
    TRY(memory.read_output(row * row_bytes, bytes));
    OutputRow out{.values = as_floats(bytes, type)};
    TRY(memory.read_lse(row, std::span(&out.lse, 1)));
    found.push_back(std::move(out));
  }
  return found;
}

}  // namespace headsplit::kernels
