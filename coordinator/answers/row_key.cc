#include "coordinator/answers/row_key.h"

#include <algorithm>
#include <map>

#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

/// A part of the key, and the axes without which it is left out.
struct Part {
  const char* axis;
  bool of_layout;
  std::string (*text)(const Row&);
};

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return enum_name(value);
  } else {
    return std::to_string(value);
  }
}

template <auto Member>
std::string member(const Row& row) {
  return text_of(row.*Member);
}

constexpr Part kParts[] = {
    {"model", false, member<&Row::model>},
    {"kernel", false, member<&Row::kernel>},
    {"tp", true, member<&Row::tp>},
    {"dp", true, member<&Row::dp>},
    {"cp", true, member<&Row::cp>},
    {"batch", false, member<&Row::batch>},
    {"query_tokens", false, member<&Row::query_tokens>},
    {"context", false, member<&Row::context>},
    {"kv_dtype", false, member<&Row::kv_dtype>},
};

std::string machine(const Row& row) {
  return str(row.device, '|', row.gpu_uuid, '|', row.node, '|', row.build);
}

std::string settings(const Row& row) {
  return str('|', enum_name(row.ranks), '|', enum_name(row.lengths), '|', enum_name(row.l2), '|',
             row.message_bytes, '|', row.fixed_splits, '|', row.top_k);
}

bool has(std::span<const std::string> axes, std::string_view axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// All axes of the point but some.
std::string axes_text(const Row& row, std::span<const std::string> dropped_axes) {
  std::string text;
  for (const Part& part : kParts) {
    const bool dropped =
        has(dropped_axes, part.axis) || (part.of_layout && has(dropped_axes, "layout"));
    text += '|';
    if (!dropped) text += part.text(row);
  }
  return text;
}

}  // namespace

const std::vector<std::string>& axis_names() {
  static const std::vector<std::string> names = {"tp",           "dp",      "cp",    "layout",
                                                 "query_tokens", "context", "batch", "kernel",
                                                 "kv_dtype",     "model"};
  return names;
}

std::string axis_text(const Row& row, const std::string& axis) {
  if (axis == "layout") return row.layout;
  const auto* part = std::find_if(std::begin(kParts), std::end(kParts),
                                  [&](const Part& one) { return axis == one.axis; });
  return part == std::end(kParts) ? "" : part->text(row);
}

std::string key_without(const Row& row, std::span<const std::string> axes) {
  return machine(row) + settings(row) + axes_text(row, axes);
}

std::string problem_key(const Row& row) { return settings(row) + axes_text(row, {}); }

std::optional<double> Repeats::figure(const Figure& figure) const {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (const auto value = figure.of(*row)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return quantile(values, 0.5);
}

std::vector<Repeats> gather_repeats(std::span<const Row* const> rows) {
  std::vector<Repeats> all;
  std::map<std::string, std::size_t> index_of;
  for (const Row* row : rows) {
    const auto [found, added] = index_of.emplace(key_without(*row, {}), all.size());
    if (added) all.emplace_back();
    all[found->second].rows.push_back(row);
  }
  return all;
}

}  // namespace headsplit::coordinator
