#include "coordinator/yaml_value.h"

#include <yaml-cpp/eventhandler.h>

#include <charconv>
#include <set>
#include <sstream>

#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

constexpr std::size_t kTextBytesMax = 1 << 20;
constexpr std::size_t kShownMax = 40;

std::string place(const std::string& filename, const YAML::Mark& mark) {
  if (mark.is_null()) return filename;
  return str(filename, ":", mark.line + 1, ":", mark.column + 1);
}

/// Hears where the first value of a document is, and nothing else.
class FirstValue : public YAML::EventHandler {
 public:
  std::optional<YAML::Mark> mark;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                const std::string&) override {
    note(at);
  }
  void OnSequenceStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    note(at);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    note(at);
  }
  void OnMapEnd() override {}

 private:
  void note(const YAML::Mark& at) {
    if (!mark) mark = at;
  }
};

/// Where it begins, if there is one.  Not YAML::LoadAll: of a text that begins with a comma that
/// makes documents until there is no memory left.
std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  FirstValue first;
  FirstValue second;
  if (!parser.HandleNextDocument(first) || !parser.HandleNextDocument(second)) return std::nullopt;
  return second.mark;
}

/// Whatever keys and values hold, an error is one line.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

/// The whole of a text as a number; none when any character is left over.
template <class T>
std::optional<T> number_from(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// 1 for no suffix; the suffix is cut off the text.
std::int64_t cut_binary_suffix(std::string_view& text) {
  if (text.empty()) return 1;
  const std::int64_t factor = text.back() == 'K' ? 1 << 10 : text.back() == 'M' ? 1 << 20 : 1;
  if (factor != 1) text.remove_suffix(1);
  return factor;
}

}  // namespace

Result<YamlValue> YamlValue::document(const std::string& text, const std::string& filename) {
  if (text.size() > kTextBytesMax) {
    return fail(ErrorKind::config, filename, ": is ", text.size(), " bytes long; at most ",
                kTextBytesMax, " are read");
  }
  try {
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull()) return fail(ErrorKind::config, filename, ":1:1: is empty");
    if (const auto second = second_document(text)) {
      return fail(ErrorKind::config, place(filename, *second),
                  ": a second document; a file holds one");
    }
    return YamlValue(document, "", std::make_shared<const std::string>(filename));
  } catch (const YAML::Exception& problem) {
    return fail(ErrorKind::config, place(filename, problem.mark),
                ": not YAML: ", one_line(problem.msg));
  }
}

Error YamlValue::error(const std::string& what) const {
  const std::string where = place(*filename_, node_.Mark());
  return fail(ErrorKind::config, where, ": ",
              one_line(field_.empty() ? what : field_ + ": " + what));
}

std::string YamlValue::shown() const {
  if (node_.IsNull()) return "nothing";
  if (node_.IsMap()) return "a map";
  if (node_.IsSequence()) return "a list";
  const std::string text = one_line(node_.Scalar().substr(0, kShownMax));
  return "'" + text + (node_.Scalar().size() > kShownMax ? "...'" : "'");
}

Result<void> YamlValue::check_keys(const std::vector<std::string>& legal) const {
  if (!node_.IsMap()) {
    return error(str("expected a map of keys, got ", shown(), "; legal keys: ", joined(legal)));
  }
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const YamlValue key(entry.first, field_, filename_);
    if (!key.is_scalar()) return key.error("a key must be a word, got " + key.shown());
    const std::string& name = entry.first.Scalar();
    if (std::find(legal.begin(), legal.end(), name) == legal.end()) {
      return key.error(str("unknown key ", key.shown(), did_you_mean(name, legal)));
    }
    if (!seen.insert(name).second) return key.error(str("key '", name, "' is given twice"));
  }
  return {};
}

std::optional<YamlValue> YamlValue::find(const std::string& key) const {
  for (const auto& entry : node_) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key) {
      return YamlValue(entry.second, field_.empty() ? key : field_ + "." + key, filename_);
    }
  }
  return std::nullopt;
}

std::vector<YamlValue> YamlValue::entries() const {
  if (!node_.IsSequence()) return {*this};
  std::vector<YamlValue> list;
  for (const auto& item : node_) {
    list.push_back(YamlValue(item, str(field_, "[", list.size(), "]"), filename_));
  }
  return list;
}

Result<std::int64_t> YamlValue::integer(std::int64_t low, std::int64_t high) const {
  const std::string wanted = str("; legal: a whole number from ", low, " to ", high);
  if (!node_.IsScalar()) return error(shown() + " is not a number" + wanted);
  std::string_view text = node_.Scalar();
  const std::int64_t factor = cut_binary_suffix(text);
  const auto value = number_from<std::int64_t>(text);
  if (!value) return error(shown() + " is not a whole number" + wanted);
  if (*value < low / factor || *value > high / factor || *value * factor < low) {
    return error(shown() + " is out of range" + wanted);
  }
  return *value * factor;
}

Result<std::uint64_t> YamlValue::unsigned_integer() const {
  const auto value = node_.IsScalar() ? number_from<std::uint64_t>(node_.Scalar()) : std::nullopt;
  if (!value) return error(shown() + "; legal: a whole number from 0 to 2^64 - 1");
  return *value;
}

Result<double> YamlValue::real(double low, double high) const {
  const auto value = node_.IsScalar() ? number_from<double>(node_.Scalar()) : std::nullopt;
  if (!value || !(*value >= low && *value <= high)) {
    return error(str(shown(), "; legal: a number from ", low, " to ", high));
  }
  return *value;
}

Result<bool> YamlValue::boolean() const {
  bool value = false;
  if (!node_.IsScalar() || !YAML::convert<bool>::decode(node_, value)) {
    return error(shown() + "; legal: true, false");
  }
  return value;
}

Result<std::string> YamlValue::word() const {
  if (!node_.IsScalar() || node_.Scalar().empty()) return error("expected a word, got " + shown());
  return node_.Scalar();
}

Result<json::value> YamlValue::as_json(int depth_max) const {
  if (node_.IsNull()) return json::value(nullptr);
  if (node_.IsScalar()) {
    const std::string& text = node_.Scalar();
    const bool quoted = node_.Tag() == "!";  // yaml-cpp's tag of quoted scalars
    if (!quoted) {
      if (text == "true" || text == "false") return json::value(text == "true");
      if (const auto whole = number_from<std::int64_t>(text)) return json::value(*whole);
      if (const auto real_value = number_from<double>(text)) return json::value(*real_value);
    }
    return json::value(text);
  }
  if (depth_max == 0) return error("is nested too deeply");
  if (node_.IsSequence()) {
    json::array array;
    for (const YamlValue& entry : entries()) array.push_back(TRY(entry.as_json(depth_max - 1)));
    return json::value(std::move(array));
  }
  json::object object;
  for (const auto& entry : node_) {
    const YamlValue value(entry.second, field_, filename_);
    object[entry.first.Scalar()] = TRY(value.as_json(depth_max - 1));
  }
  return json::value(std::move(object));
}

}  // namespace headsplit::coordinator
