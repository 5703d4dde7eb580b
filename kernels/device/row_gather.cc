#include "kernels/device/row_gather.h"

#include "kernels/device/buffer.h"

namespace headsplit::kernels {

Result<std::vector<OutputRow>> read_rows(const DeviceOutputs& outputs,
                                         std::span<const std::int64_t> rows, cudaStream_t stream,
                                         DevicePool* pool) {
  for (const std::int64_t row : rows) {
    if (row >= 0 && row < outputs.rows) continue;
    return fail(ErrorKind::config, "output row ", row, " is not in 0..", outputs.rows - 1);
  }
  std::vector<OutputRow> found;
  if (rows.empty()) return found;
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::int64_t stride = outputs.width + 1;
  const auto wanted = TRY(DeviceBuffer<std::int64_t>::copy_of(rows, stream, pool));
  const auto gathered = TRY(DeviceBuffer<float>::make(count * stride, pool));
  std::vector<float> values(static_cast<std::size_t>(count * stride));
  CUDA_TRY(enqueue_gather(outputs, wanted.data(), count, gathered.data(), stream));
  CUDA_TRY(cudaMemcpyAsync(values.data(), gathered.data(), gathered.bytes(), cudaMemcpyDeviceToHost,
                           stream));
  CUDA_TRY(cudaStreamSynchronize(stream));
  for (auto row = values.begin(); row != values.end(); row += stride) {
    found.push_back(OutputRow{{row, row + outputs.width}, row[outputs.width]});
  }
  return found;
}

}  // namespace headsplit::kernels
