#include "core/message.h"

#include <array>

namespace headsplit {
namespace {

/// Wire name of each alternative, in the order of the variants.
constexpr std::array kAgentKinds = {"hello", "heartbeat", "report", "ready"};
constexpr std::array kCoordinatorKinds = {"welcome", "refused", "grant", "ack", "cancel", "go"};
static_assert(kAgentKinds.size() == std::variant_size_v<AgentMessage>);
static_assert(kCoordinatorKinds.size() == std::variant_size_v<CoordinatorMessage>);

template <class Message, class Kinds>
std::string text_of(const Message& message, const Kinds& kinds) {
  const std::string fields = std::visit([](const auto& body) { return json_text(body); }, message);
  // Every message has fields: {"kind":"ack", then what `fields` has behind its brace.
  std::string text = "{\"kind\":\"";
  text.append(kinds[message.index()]).append("\",").append(fields, 1);
  return text;
}

template <class Message, std::size_t kIndex, class Kinds>
Result<Message> parse_as(const json::value& source, const std::string& kind, const Kinds& kinds) {
  if constexpr (kIndex == std::variant_size_v<Message>) {
    return fail(ErrorKind::protocol, "unknown message kind '", kind, "'");
  } else {
    if (kind != kinds[kIndex]) return parse_as<Message, kIndex + 1>(source, kind, kinds);
    return Message(TRY((from_json<std::variant_alternative_t<kIndex, Message>>(source, kind))));
  }
}

template <class Message, class Kinds>
Result<Message> message_from(std::string_view text, const Kinds& kinds) {
  const json::value source = TRY(parse_json(text));
  const json::object* object = source.if_object();
  const json::value* kind = object == nullptr ? nullptr : object->if_contains("kind");
  if (kind == nullptr || !kind->is_string()) {
    return fail(ErrorKind::protocol, "a message is an object with a string 'kind'");
  }
  return parse_as<Message, 0>(source, std::string(kind->get_string()), kinds);
}

}  // namespace

std::string message_text(const AgentMessage& message) { return text_of(message, kAgentKinds); }

std::string message_text(const CoordinatorMessage& message) {
  return text_of(message, kCoordinatorKinds);
}

Result<AgentMessage> agent_message_from(std::string_view text) {
  return message_from<AgentMessage>(text, kAgentKinds);
}

Result<CoordinatorMessage> coordinator_message_from(std::string_view text) {
  return message_from<CoordinatorMessage>(text, kCoordinatorKinds);
}

}  // namespace headsplit
