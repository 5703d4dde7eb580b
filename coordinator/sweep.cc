#include "coordinator/sweep.h"

#include <algorithm>

namespace headsplit::coordinator {
namespace {

template <class T>
bool admits(const std::vector<T>& values, const T& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

/// An exclusion without the lists that restrict nothing, so that a list added in a later version
/// leaves the plan ids of today as they are.
json::value exclusion_json(const Exclusion& exclusion) {
  json::object object;
  const json::value whole = to_json(exclusion);
  for (const auto& [key, value] : whole.get_object()) {
    if (!value.get_array().empty()) object[key] = value;
  }
  return object;
}

}  // namespace

bool Exclusion::excludes(const Point& point) const {
  return admits(kernel, point.kernel) && admits(layout, point.layout) &&
         admits(tp, point.layout.tp) && admits(dp, point.layout.dp) &&
         admits(cp, point.layout.cp) && admits(batch, point.batch) &&
         admits(query_tokens, point.query_tokens) && admits(context, point.context) &&
         admits(kv_dtype, point.kv_dtype) && admits(lengths, point.lengths) && admits(l2, point.l2);
}

std::string sweep_content(const Sweep& sweep) {
  json::value content = to_json(sweep);
  json::object& object = content.get_object();
  json::array exclude;
  for (const Exclusion& exclusion : sweep.exclude) exclude.push_back(exclusion_json(exclusion));
  if (sweep.ranks.size() == 1) object["ranks"] = enum_name(sweep.ranks.front());
  if (sweep.gang == GangOptions{}) object.erase("gang");
  json::object& axes = object["axes"].get_object();
  if (sweep.axes.message_bytes == Axes{}.message_bytes) axes.erase("message_bytes");
  if (sweep.axes.fixed_splits == Axes{}.fixed_splits) axes.erase("fixed_splits");
  if (sweep.axes.top_k == Axes{}.top_k) axes.erase("top_k");
  if (exclude.empty()) {
    object.erase("exclude");
  } else {
    object["exclude"] = std::move(exclude);
  }
  return json::serialize(content);
}

std::int64_t product_size(const Sweep& sweep) {
  std::int64_t size = sweep.measure.repeats;
  for (const std::size_t factor :
       {sweep.kernels.size(), sweep.layouts.size(), sweep.ranks.size(), sweep.axes.batch.size(),
        sweep.axes.query_tokens.size(), sweep.axes.context.size(), sweep.axes.kv_dtype.size(),
        sweep.axes.lengths.size(), sweep.axes.l2.size(), sweep.axes.message_bytes.size(),
        sweep.axes.fixed_splits.size(), sweep.axes.top_k.size()}) {
    size *= static_cast<std::int64_t>(std::min<std::size_t>(factor, kPointsMax + 1));
    if (size > kPointsMax) return kPointsMax + 1;
  }
  return size;
}

}  // namespace headsplit::coordinator
