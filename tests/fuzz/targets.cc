#include "tests/fuzz/targets.h"

#include <array>
#include <cstring>
#include <sstream>

#include "coordinator/plan.h"
#include "coordinator/sweep.h"
#include "core/check.h"
#include "core/message.h"
#include "tp/model_reader.h"
#include "tp/shard.h"

namespace headsplit::fuzz {
namespace {

/// More points than this are expanded by other tests; here they only take time.
constexpr std::int64_t kPointsMax = 64;

bool is_small(const coordinator::Sweep& sweep) {
  return coordinator::product_size(sweep) <= kPointsMax;
}

/// A sweep that is taken means the same when its own JSON is read again.
void run_sweep_yaml(std::string_view bytes) {
  const auto sweep = coordinator::sweep_from_yaml(std::string(bytes), "f.yaml");
  if (!sweep) {
    CHECK(sweep.error().message.find('\n') == std::string::npos);
    return;
  }
  if (!is_small(*sweep)) return;
  const auto plan = coordinator::make_plan(*sweep, std::nullopt);
  if (!plan) return;
  const auto again = coordinator::sweep_from_yaml(plan->content, "f.json");
  CHECK(again.has_value());
  CHECK(coordinator::make_plan(*again, std::nullopt)->id == plan->id);
}

void run_config_json(std::string_view bytes) {
  const auto model = tp::model_from_config(std::string(bytes), "config.json");
  if (!model) {
    CHECK(model.error().message.find('\n') == std::string::npos);
    return;
  }
  CHECK(model->heads >= 1 && model->heads % model->kv_heads == 0);
}

/// What was understood is understood again after it was written.  Not byte for byte:
/// Boost.JSON 1.81 reads some numbers one unit in the last place beside what was written.
template <class Message>
void round_trip(const Result<Message>& message, Result<Message> (*read)(std::string_view)) {
  if (!message) return;
  const auto again = read(message_text(*message));
  CHECK(again.has_value());
  CHECK(again->index() == message->index());
}

void run_wire(std::string_view bytes) {
  round_trip<AgentMessage>(agent_message_from(bytes), agent_message_from);
  round_trip<CoordinatorMessage>(coordinator_message_from(bytes), coordinator_message_from);
}

constexpr std::array kTargets = {Target{"sweep_yaml", run_sweep_yaml},
                                 Target{"config_json", run_config_json}, Target{"wire", run_wire},
                                 Target{"http", run_http}, Target{"database", run_database}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

}  // namespace headsplit::fuzz
