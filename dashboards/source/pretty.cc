#include "dashboards/source/dashboard.h"

namespace headsplit::dashboards {
namespace {

constexpr std::size_t kLineMax = 100;

std::string text_at(const json::value& value, std::size_t indent);

template <class Container, class ItemText>
std::string lines_of(const Container& items, char open, char close, std::size_t indent,
                     const ItemText& item_text) {
  std::string text(1, open);
  bool first = true;
  for (const auto& item : items) {
    text += first ? "\n" : ",\n";
    text += std::string(indent + 2, ' ') + item_text(item);
    first = false;
  }
  return text + "\n" + std::string(indent, ' ') + close;
}

std::string text_at(const json::value& value, std::size_t indent) {
  const std::string on_one_line = json::serialize(value);
  if (!value.is_structured() || indent + on_one_line.size() <= kLineMax) return on_one_line;
  if (const json::array* array = value.if_array()) {
    return lines_of(*array, '[', ']', indent,
                    [&](const json::value& item) { return text_at(item, indent + 2); });
  }
  return lines_of(value.get_object(), '{', '}', indent, [&](const json::key_value_pair& member) {
    return json::serialize(json::value(member.key())) + ": " + text_at(member.value(), indent + 2);
  });
}

}  // namespace

std::string pretty_text(const json::value& value) { return text_at(value, 0); }

}  // namespace headsplit::dashboards
