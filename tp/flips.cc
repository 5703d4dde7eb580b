#include "tp/flips.h"

#include <algorithm>

#include "tp/regimes.h"

namespace headsplit::tp {
namespace {

constexpr std::int64_t kBatchMax = 1 << 14;
constexpr std::int64_t kContextMax = 1 << 22;
constexpr std::int64_t kQueryTokensMax = 64;

bool same_choice(const Candidate& left, const Candidate& right) {
  return left.layout == right.layout && left.kernel == right.kernel;
}

/// mla_mixed stays in the ranking only where it is worth its second cache.
bool worthwhile(const Candidate& c, const std::vector<Candidate>& list) {
  if (c.kernel != "mla_mixed") return true;
  return std::none_of(list.begin(), list.end(), [&](const Candidate& other) {
    return other.layout == c.layout && other.kernel == "mla_dense" &&
           c.attention_us >= kMixedWorthwhile * other.attention_us;
  });
}

std::optional<Candidate> best(const AdviceRequest& request, const TimeModel& times,
                              const CollectiveModel& collectives) {
  auto list = ranked(request, times, collectives);
  if (list.empty() || !list.front().fits) return std::nullopt;
  return list.front();
}

/// One quantity of the request that can be doubled and halved.
struct Knob {
  const char* what;
  std::int64_t value;
  std::int64_t high;
  void (*set)(Point&, std::int64_t);
};

std::vector<Knob> knobs(const Point& point) {
  return {{"batch", point.batch, kBatchMax,
           [](Point& p, std::int64_t value) { p.batch = static_cast<int>(value); }},
          {"context", point.context, kContextMax,
           [](Point& p, std::int64_t value) { p.context = value; }},
          {"query_tokens", point.query_tokens, kQueryTokensMax,
           [](Point& p, std::int64_t value) { p.query_tokens = static_cast<int>(value); }}};
}

}  // namespace

std::vector<Candidate> ranked(const AdviceRequest& request, const TimeModel& times,
                              const CollectiveModel& collectives) {
  std::vector<Candidate> list;
  for (const auto& layout : possible_layouts(request.model, request.point, request.gpus)) {
    for (const auto& kernel : advised_kernels(request.model, request.point.kv_dtype)) {
      auto one = candidate(request, layout, kernel, times, collectives);
      if (one && worthwhile(one.value(), list)) list.push_back(std::move(one).value());
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    return a.fits != b.fits ? a.fits : a.step_time_us < b.step_time_us;
  });
  return list;
}

std::vector<Flip> flips(const AdviceRequest& request, const TimeModel& times,
                        const CollectiveModel& collectives) {
  const auto now = best(request, times, collectives);
  std::vector<Flip> list;
  if (!now) return list;
  const auto add_if_other = [&](const AdviceRequest& changed, const std::string& what,
                                const std::string& from, const std::string& to) {
    const auto then = best(changed, times, collectives);
    if (!then || same_choice(*then, *now)) return false;
    list.push_back({what, from, to, then->layout, then->kernel});
    return true;
  };
  for (const auto& knob : knobs(request.point)) {
    const auto changes_at = [&](std::int64_t value) {
      AdviceRequest changed = request;
      knob.set(changed.point, value);
      if (changed.point.context <= changed.point.query_tokens) return false;
      return add_if_other(changed, knob.what, str(knob.value), str(value));
    };
    for (std::int64_t value = knob.value * 2; value <= knob.high; value *= 2) {
      if (changes_at(value)) break;
    }
    for (std::int64_t value = knob.value / 2; value >= 1; value /= 2) {
      if (changes_at(value)) break;
    }
  }
  if (request.model.is_mla()) {
    AdviceRequest changed = request;
    const bool is_bf16 = request.point.kv_dtype == KvDtype::bf16;
    changed.point.kv_dtype = is_bf16 ? KvDtype::fp8 : KvDtype::bf16;
    add_if_other(changed, "kv_dtype", enum_name(request.point.kv_dtype),
                 enum_name(changed.point.kv_dtype));
  }
  return list;
}

}  // namespace headsplit::tp
