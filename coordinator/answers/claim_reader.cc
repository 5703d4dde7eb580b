#include <algorithm>
#include <set>

#include "coordinator/answers/claim.h"
#include "coordinator/answers/row_key.h"
#include "core/nearest.h"

namespace headsplit::coordinator {
namespace {

Result<YamlValue> needed(const YamlValue& map, const std::string& key) {
  if (auto value = map.find(key)) return *value;
  return map.error("needs '" + key + "'");
}

Result<std::string> needed_word(const YamlValue& map, const std::string& key) {
  const YamlValue value = TRY(needed(map, key));
  return value.word();
}

Result<const Figure*> read_figure(const YamlValue& value) {
  const std::string name = TRY(value.word());
  if (const Figure* figure = find_figure(name)) return figure;
  std::vector<std::string> legal;
  for (const Figure& figure : figures()) legal.emplace_back(figure.name);
  return value.error("no figure '" + name + "'; legal: " + joined(legal));
}

Result<std::string> read_axis(const YamlValue& value) {
  const std::string name = TRY(value.word());
  const auto& legal = axis_names();
  if (std::find(legal.begin(), legal.end(), name) != legal.end()) return name;
  return value.error("no axis '" + name + "'; legal: " + joined(legal));
}

/// {near, tolerance} or {min, max}.
Result<Range> read_accept(const YamlValue& value) {
  TRY(value.check_keys({"near", "tolerance", "min", "max"}));
  Range range;
  if (const auto near = value.find("near")) {
    const double middle = TRY(read_number(*near));
    const YamlValue allowed = TRY(needed(value, "tolerance"));
    const double tolerance = TRY(allowed.real(0, 1));
    return Range{middle * (1 - tolerance), middle * (1 + tolerance)};
  }
  if (const auto low = value.find("min")) range.low = TRY(read_number(*low));
  if (const auto high = value.find("max")) range.high = TRY(read_number(*high));
  if (!(range.low <= range.high)) return value.error("min is above max");
  if (range == Range{}) return value.error("needs near and tolerance, or min, or max");
  return range;
}

/// Keys of each kind beside kind, of, where, accept, share and least_cases.
std::vector<std::string> keys_of(JudgeKind kind) {
  switch (kind) {
    case JudgeKind::ratio: return {"vary", "from", "to", "expected"};
    case JudgeKind::spread: return {"across", "least_entries"};
    case JudgeKind::crossing: return {"vary", "from", "to", "along"};
    case JudgeKind::table: return {"file"};
    case JudgeKind::value:
    case JudgeKind::knee: return {};
  }
  return {};
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos && text[0] != '0';
}

Result<void> read_from_to(const YamlValue& value, Judge& judge) {
  const YamlValue vary = TRY(needed(value, "vary"));
  judge.vary = TRY(read_axis(vary));
  judge.from = TRY(needed_word(value, "from"));
  const YamlValue to = TRY(needed(value, "to"));
  judge.to = TRY(to.list_of<std::string>(
      [](const YamlValue& entry) -> Result<std::string> { return entry.word(); }));
  if (const auto expected = value.find("expected")) {
    judge.expected = TRY(expected->choice<Expected>());
    const bool numbers =
        is_number(judge.from) && std::all_of(judge.to.begin(), judge.to.end(), is_number);
    if (judge.expected != Expected::equal && !numbers) {
      return expected->error("needs whole numbers as from and to");
    }
  }
  if (const auto along = value.find("along")) {
    judge.along = TRY(read_axis(*along));
    const std::set<std::string> numeric = {"query_tokens", "context", "batch"};
    if (!numeric.contains(judge.along)) {
      return along->error("'" + judge.along + "'; legal: batch, context, query_tokens");
    }
  } else if (judge.kind == JudgeKind::crossing) {
    return value.error("needs 'along'");
  }
  return {};
}

Result<void> read_kind(const YamlValue& value, const std::filesystem::path& folder, Judge& judge) {
  if (judge.kind == JudgeKind::ratio || judge.kind == JudgeKind::crossing) {
    return read_from_to(value, judge);
  }
  if (judge.kind == JudgeKind::spread) {
    const YamlValue across = TRY(needed(value, "across"));
    judge.across = TRY(across.list_of<std::string>(read_axis));
    if (const auto least = value.find("least_entries")) {
      judge.least_entries = static_cast<int>(TRY(least->integer(2, 1000)));
    }
  }
  if (judge.kind == JudgeKind::table) {
    const YamlValue file = TRY(needed(value, "file"));
    const std::string name = TRY(file.word());
    auto table = read_reference_table(folder / name);
    if (!table) return file.error(table.error().message);
    judge.table = std::move(table).value();
  }
  return {};
}

Result<Judge> read_judge(const YamlValue& value, const std::filesystem::path& folder) {
  Judge judge;
  const YamlValue kind = TRY(needed(value, "kind"));
  judge.kind = TRY(kind.choice<JudgeKind>());
  std::vector<std::string> legal = {"kind", "of", "where", "accept", "share", "least_cases"};
  for (const std::string& key : keys_of(judge.kind)) legal.push_back(key);
  TRY(value.check_keys(legal));
  judge.of = find_figure("time_us");
  if (const auto of = value.find("of")) judge.of = TRY(read_figure(*of));
  if (const auto where = value.find("where")) judge.where = TRY(read_selection(*where));
  const YamlValue accept = TRY(needed(value, "accept"));
  judge.accept = TRY(read_accept(accept));
  if (const auto share = value.find("share")) judge.share = TRY(share->real(0.01, 1));
  if (const auto least = value.find("least_cases")) {
    judge.least_cases = static_cast<int>(TRY(least->integer(1, 1'000'000)));
  }
  TRY(read_kind(value, folder, judge));
  return judge;
}

Result<Claim> read_claim(const YamlValue& value, const std::filesystem::path& folder) {
  TRY(value.check_keys({"id", "source", "statement", "rows_from", "judge"}));
  Claim claim;
  claim.id = TRY(needed_word(value, "id"));
  claim.source = TRY(needed_word(value, "source"));
  claim.statement = TRY(needed_word(value, "statement"));
  claim.rows_from = TRY(needed_word(value, "rows_from"));
  const YamlValue how = TRY(needed(value, "judge"));
  claim.judge = TRY(read_judge(how, folder));
  return claim;
}

}  // namespace

Result<std::vector<Claim>> claims_from_yaml(const std::string& text, const std::string& filename,
                                            const std::filesystem::path& folder) {
  const YamlValue document = TRY(YamlValue::document(text, filename));
  TRY(document.check_keys({"claims"}));
  std::vector<Claim> claims;
  std::set<std::string> ids;
  const YamlValue list = TRY(needed(document, "claims"));
  for (const YamlValue& entry : list.entries()) {
    claims.push_back(TRY(read_claim(entry, folder)));
    if (!ids.insert(claims.back().id).second) {
      return entry.error("the id '" + claims.back().id + "' is given twice");
    }
  }
  return claims;
}

}  // namespace headsplit::coordinator
