#include "coordinator/sweep_fields.h"

/// `axes`, `exclude`, `measure` and `limits` of a sweep file.
namespace headsplit::coordinator {
namespace {

constexpr std::int64_t kBatchMax = 1 << 20;
constexpr std::int64_t kQueryTokensMax = 1 << 16;
constexpr std::int64_t kContextMax = 16 << 20;
constexpr std::int64_t kRanksMax = 1 << 16;
constexpr std::int64_t kMessageBytesMax = std::int64_t{1} << 34;
constexpr std::int64_t kFixedSplitsMax = 256;
constexpr std::int64_t kTopKMax = 1 << 16;
constexpr std::int64_t kRepeatsMax = 1000;
constexpr std::int64_t kAttemptsMax = 100;
constexpr double kHourMs = 3.6e6;
/// Under its power cap a GPU changes clocks in steps, some 25 to 50 ms apart: sustained samples
/// cover several of them (docs/measuring.md).
constexpr double kSustainedMinTimeMs = 500;
constexpr double kDayS = 86400;

template <class T>
Result<std::vector<T>> sizes(const YamlValue& value, std::int64_t high) {
  return value.list_of<T>([high](const YamlValue& entry) -> Result<T> {
    return static_cast<T>(TRY(entry.integer(1, high)));
  });
}

template <DescribedEnum E>
Result<std::vector<E>> choices(const YamlValue& value) {
  return value.list_of<E>([](const YamlValue& entry) { return entry.choice<E>(); });
}

Result<std::vector<Layout>> excluded_layouts(const YamlValue& value) {
  std::vector<Layout> layouts;
  for (const YamlValue& entry : value.entries()) {
    const auto more = TRY(read_layout_entry(entry));
    layouts.insert(layouts.end(), more.begin(), more.end());
  }
  return layouts;
}

/// Reader of a list of sizes from 1 to `high`.
template <class T>
auto sizes_to(std::int64_t high) {
  return [high](const YamlValue& value) { return sizes<T>(value, high); };
}

/// Reads the list under a key, when it is there.  An empty list restricts nothing.
template <class List, class Read>
Result<void> fill(List& list, const YamlValue& map, const std::string& key, const Read& read) {
  const auto value = map.find(key);
  if (value && !value->entries().empty()) list = TRY(read(*value));
  return {};
}

/// Fills the lists that axes and exclusions share.
template <class Lists>
Result<void> fill_axes(Lists& lists, const YamlValue& map) {
  TRY(fill(lists.batch, map, "batch", sizes_to<int>(kBatchMax)));
  TRY(fill(lists.query_tokens, map, "query_tokens", sizes_to<int>(kQueryTokensMax)));
  TRY(fill(lists.context, map, "context", sizes_to<std::int64_t>(kContextMax)));
  TRY(fill(lists.kv_dtype, map, "kv_dtype", choices<KvDtype>));
  TRY(fill(lists.lengths, map, "lengths", choices<Lengths>));
  TRY(fill(lists.l2, map, "l2", choices<L2>));
  return {};
}

Result<Exclusion> read_exclusion(const YamlValue& map) {
  TRY(map.check_keys({"kernel", "layout", "tp", "dp", "cp", "batch", "query_tokens", "context",
                      "kv_dtype", "lengths", "l2"}));
  Exclusion exclusion;
  TRY(fill(exclusion.kernel, map, "kernel", read_kernels));
  TRY(fill(exclusion.layout, map, "layout", excluded_layouts));
  TRY(fill(exclusion.tp, map, "tp", sizes_to<int>(kRanksMax)));
  TRY(fill(exclusion.dp, map, "dp", sizes_to<int>(kRanksMax)));
  TRY(fill(exclusion.cp, map, "cp", sizes_to<int>(kRanksMax)));
  TRY(fill_axes(exclusion, map));
  if (exclusion == Exclusion{}) return map.error("is empty and would exclude every point");
  return exclusion;
}

}  // namespace

Result<Axes> read_axes(const YamlValue& value) {
  const std::vector<std::string> keys = {"batch",         "query_tokens", "context",
                                         "kv_dtype",      "lengths",      "l2",
                                         "message_bytes", "fixed_splits", "top_k"};
  TRY(value.check_keys(keys));
  for (const std::string& key : keys) {
    const auto axis = value.find(key);
    if (axis && axis->entries().empty()) {
      return axis->error("the list is empty; give at least one value");
    }
  }
  Axes axes;
  TRY(fill_axes(axes, value));
  const auto messages = [](const YamlValue& list) {
    return list.list_of<std::int64_t>(
        [](const YamlValue& entry) { return entry.integer(0, kMessageBytesMax); });
  };
  TRY(fill(axes.message_bytes, value, "message_bytes", messages));
  TRY(fill(axes.fixed_splits, value, "fixed_splits", read_fixed_splits));
  const auto top_k = [](const YamlValue& list) {
    return list.list_of<int>([](const YamlValue& entry) -> Result<int> {
      return static_cast<int>(TRY(entry.integer(0, kTopKMax)));
    });
  };
  TRY(fill(axes.top_k, value, "top_k", top_k));
  return axes;
}

Result<std::vector<L2>> read_l2(const YamlValue& value) { return choices<L2>(value); }

Result<std::vector<int>> read_fixed_splits(const YamlValue& value) {
  return value.list_of<int>([](const YamlValue& entry) -> Result<int> {
    return static_cast<int>(TRY(entry.integer(0, kFixedSplitsMax)));
  });
}

Result<std::vector<Exclusion>> read_exclusions(const YamlValue& value) {
  std::vector<Exclusion> exclusions;
  for (const YamlValue& entry : value.entries()) exclusions.push_back(TRY(read_exclusion(entry)));
  return exclusions;
}

namespace {

/// counters: true, false, or detail: true with the counters that need more than one launch
/// (`counters_detail` in the canonical form).
Result<void> fill_counters(MeasureSettings& measure, const YamlValue& value) {
  const auto wanted = value.boolean();
  measure.counters_detail = !wanted && value.is_scalar() && TRY(value.word()) == "detail";
  if (!wanted && !measure.counters_detail) {
    Error error = wanted.error();
    error.message += ", detail";
    return error;
  }
  measure.counters = measure.counters_detail || *wanted;
  return {};
}

}  // namespace

Result<MeasureSettings> read_measure(const YamlValue& value) {
  const auto keys =
      value.check_keys({"l2", "fixed_splits", "min_time_ms", "max_noise", "max_time_ms", "counters",
                        "counters_detail", "mode", "repeats"});
  if (!keys) return keys.error();
  MeasureSettings measure;
  if (const auto v = value.find("mode")) measure.mode = TRY(v->choice<MeasureMode>());
  if (measure.mode == MeasureMode::sustained) measure.min_time_ms = kSustainedMinTimeMs;
  if (const auto v = value.find("min_time_ms")) measure.min_time_ms = TRY(v->real(0, kHourMs));
  measure.max_time_ms = std::max(measure.max_time_ms, measure.min_time_ms);
  if (const auto v = value.find("max_time_ms")) {
    measure.max_time_ms = TRY(v->real(0, kHourMs));
    if (measure.max_time_ms < measure.min_time_ms) {
      return v->error(str(measure.max_time_ms, " is less than min_time_ms ", measure.min_time_ms));
    }
  }
  if (const auto v = value.find("max_noise")) measure.max_noise = TRY(v->real(1e-6, 1));
  if (const auto v = value.find("counters")) TRY(fill_counters(measure, *v));
  if (const auto v = value.find("counters_detail")) {
    measure.counters_detail = TRY(v->boolean()) && measure.counters;
  }
  if (const auto v = value.find("repeats")) {
    measure.repeats = static_cast<int>(TRY(v->integer(1, kRepeatsMax)));
  }
  return measure;
}

Result<Limits> read_limits(const YamlValue& value) {
  TRY(value.check_keys({"attempts", "point_timeout_s"}));
  Limits limits;
  if (const auto v = value.find("attempts")) {
    limits.attempts = static_cast<int>(TRY(v->integer(1, kAttemptsMax)));
  }
  if (const auto v = value.find("point_timeout_s")) {
    limits.point_timeout_s = TRY(v->real(0.1, kDayS));
  }
  return limits;
}

}  // namespace headsplit::coordinator
