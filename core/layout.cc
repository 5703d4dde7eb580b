#include "core/layout.h"

#include <charconv>

namespace headsplit {
namespace {

constexpr int kRanksMax = 1 << 16;

Error bad_layout(const std::string& name, const std::string& why) {
  return fail(ErrorKind::config, "layout '", name, "': ", why,
              "; write parts tpN, dpN, cpN joined by x, such as tp8, cp8 or tp4xdp2");
}

int* part_of(Layout& layout, const std::string& key) {
  if (key == "tp") return &layout.tp;
  if (key == "dp") return &layout.dp;
  if (key == "cp") return &layout.cp;
  return nullptr;
}

}  // namespace

std::string layout_name(const Layout& layout) {
  std::string name;
  const auto add = [&](const char* key, int size) {
    if (size > 1) name += (name.empty() ? "" : "x") + str(key, size);
  };
  add("tp", layout.tp);
  add("dp", layout.dp);
  add("cp", layout.cp);
  return name.empty() ? "tp1" : name;
}

Result<Layout> layout_from_name(const std::string& name) {
  Layout layout;
  std::string seen;
  std::size_t at = 0;
  while (at < name.size()) {
    const std::string key = name.substr(at, 2);
    int* part = part_of(layout, key);
    if (part == nullptr) return bad_layout(name, "'" + key + "' is not tp, dp or cp");
    if (seen.find(key) != std::string::npos) return bad_layout(name, key + " is given twice");
    seen += key + " ";
    const auto [end, code] =
        std::from_chars(name.data() + at + 2, name.data() + name.size(), *part);
    if (code != std::errc{} || *part < 1 || *part > kRanksMax) {
      return bad_layout(name, key + " needs a size from 1 to 65536");
    }
    at = static_cast<std::size_t>(end - name.data());
    if (at == name.size()) return layout;
    if (name[at] != 'x') return bad_layout(name, str("'", name[at], "' where x was expected"));
    ++at;
  }
  return bad_layout(name, "a part is missing");
}

}  // namespace headsplit
