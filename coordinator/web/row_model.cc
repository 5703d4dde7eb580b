#include "coordinator/web/row_model.h"

#include "tp/kernel_cost.h"
#include "tp/roofline.h"

namespace headsplit::coordinator {
namespace {

Point point_of(const Row& row) {
  Point point;
  point.model = row.model;
  point.kernel = row.kernel;
  point.layout = {row.tp, row.dp, row.cp};
  point.ranks = row.ranks;
  point.batch = row.batch;
  point.query_tokens = row.query_tokens;
  point.context = row.context;
  point.kv_dtype = row.kv_dtype;
  point.lengths = row.lengths;
  point.l2 = row.l2;
  point.repeat = row.repeat;
  point.top_k = row.top_k;
  return point;
}

template <class T>
std::optional<T> value_of(Result<T> result) {
  if (!result) return std::nullopt;
  return std::move(result).value();
}

}  // namespace

const std::optional<tp::Device>& RowModel::device(const std::string& name) {
  const auto known = devices_.find(name);
  if (known != devices_.end()) return known->second;
  return devices_[name] = name.empty() ? std::nullopt : value_of(tp::read_device(name));
}

const std::optional<tp::Model>& RowModel::model(const std::string& name) {
  const auto known = models_.find(name);
  if (known != models_.end()) return known->second;
  return models_[name] = value_of(tp::read_model(name));
}

std::optional<double> RowModel::time_us(const Row& row) {
  const auto& gpu = device(row.device);
  const auto& shape = model(row.model);
  if (!gpu || !shape) return std::nullopt;
  const auto work = tp::kernel_work(*shape, point_of(row));
  if (!work) return std::nullopt;
  return tp::roofline(*work, tp::rates_of(*gpu)).time_us;
}

std::vector<std::optional<double>> RowModel::times_us(const std::vector<Row>& rows) {
  std::vector<std::optional<double>> times;
  for (const Row& row : rows) times.push_back(time_us(row));
  return times;
}

std::vector<Roof> RowModel::roofs_of(const std::string& name) {
  const auto& gpu = device(name);
  if (!gpu) return {};
  const std::string source = gpu->provenance == Provenance::measured ? "measured" : "data sheet";
  return {{name, "bf16", gpu->bf16_tflops, gpu->hbm_gbps, source}};
}

}  // namespace headsplit::coordinator
