#include <algorithm>

#include "coordinator/sweep_fields.h"

/// `ranks` and `gang` of a sweep file, and what collectives need.
namespace headsplit::coordinator {
namespace {

constexpr std::size_t kAgentsMax = 1 << 16;

Result<std::vector<std::string>> read_agents(const YamlValue& value) {
  auto names = TRY(value.list_of<std::string>([](const YamlValue& entry) { return entry.word(); }));
  if (names.size() > kAgentsMax) return value.error(str("more than ", kAgentsMax, " agents"));
  return names;
}

}  // namespace

Result<std::vector<Ranks>> read_ranks(const YamlValue& value) {
  return value.list_of<Ranks>([](const YamlValue& entry) { return entry.choice<Ranks>(); });
}

Result<GangOptions> read_gang(const YamlValue& value) {
  TRY(value.check_keys({"placement", "agents", "pages", "merge"}));
  GangOptions gang;
  if (const auto v = value.find("placement")) gang.placement = TRY(v->choice<Placement>());
  if (const auto v = value.find("pages")) gang.pages = TRY(v->choice<PageOrder>());
  if (const auto v = value.find("merge")) gang.merge = TRY(v->choice<Merge>());
  const auto agents = value.find("agents");
  if (agents && !agents->entries().empty()) gang.agents = TRY(read_agents(*agents));
  const bool is_listed = gang.placement == Placement::listed;
  if (is_listed && gang.agents.empty()) {
    return value.error("placement listed needs 'agents': names, by rank");
  }
  if (!is_listed && !gang.agents.empty()) {
    return agents->error("is used with placement: listed only");
  }
  return gang;
}

Result<void> check_collectives(const YamlValue& document, const Sweep& sweep) {
  const auto axes = document.find("axes").value_or(document);
  const auto messages = axes.find("message_bytes");
  std::string collective;
  std::string other;
  for (const std::string& kernel : sweep.kernels) {
    (is_collective(kernel) ? collective : other) = kernel;
  }
  if (collective.empty()) {
    if (sweep.axes.message_bytes == Axes{}.message_bytes) return {};
    return messages.value_or(axes).error(
        "is of collectives only: all_reduce, all_gather, "
        "reduce_scatter, all_to_all");
  }
  const auto kernels = document.find("kernels").value_or(document);
  if (!other.empty()) {
    return kernels.error(str("a sweep of collectives has no other kernels; ", other,
                             " belongs into a sweep of its own"));
  }
  if (sweep.ranks != std::vector{Ranks::real}) {
    return document.find("ranks").value_or(kernels).error(
        str(collective, " needs ranks: real: it runs on a whole gang"));
  }
  const auto& sizes = sweep.axes.message_bytes;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return messages.value_or(axes).error(
        str(collective, " needs axes.message_bytes, such as [1K, 1M]"));
  }
  return {};
}

}  // namespace headsplit::coordinator
