#include "cli/verdict.h"

#include <filesystem>
#include <memory>

#include "cli/write_out.h"
#include "coordinator/answers/row_file.h"
#include "coordinator/answers/verdict.h"
#include "tp/config_files.h"

namespace headsplit::cli {
namespace {

using coordinator::Claim;
using coordinator::Ruling;
using coordinator::Verdict;

struct Options {
  std::vector<std::string> files;
  std::string sweep;
  std::string claims;
  std::vector<std::string> only;
  bool json = false;
  bool markdown = false;
};

Result<std::vector<Claim>> read_claims(const Options& options) {
  std::filesystem::path path = options.claims;
  if (path.empty()) path = TRY(tp::configs_folder()) / "claims.yaml";
  const std::string text = TRY(tp::file_text(path));
  auto claims = TRY(coordinator::claims_from_yaml(text, path.string(), path.parent_path()));
  if (options.only.empty()) return claims;
  std::vector<Claim> chosen;
  for (const std::string& id : options.only) {
    const auto found = std::find_if(claims.begin(), claims.end(),
                                    [&](const Claim& claim) { return claim.id == id; });
    if (found == claims.end()) {
      return fail(ErrorKind::config, "--only: no claim '", id, "' in ", path.string());
    }
    chosen.push_back(*found);
  }
  return chosen;
}

ExitCode code_of(const std::vector<Verdict>& verdicts) {
  const auto any = [&](Ruling ruling) {
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& verdict) { return verdict.verdict == ruling; });
  };
  if (any(Ruling::refuted)) return ExitCode::failed;
  return any(Ruling::confirmed) ? ExitCode::ok : ExitCode::usage;
}

Result<ExitCode> judge_rows(const Options& options) {
  const std::vector<Claim> claims = TRY(read_claims(options));
  const std::vector<Row> rows = TRY(coordinator::read_row_files(options.files, options.sweep));
  const std::vector<Verdict> verdicts = coordinator::judge(claims, rows);
  TRY(write_out("", options.json       ? json_text(verdicts) + "\n"
                    : options.markdown ? coordinator::verdict_markdown(verdicts)
                                       : coordinator::verdict_text(verdicts)));
  return code_of(verdicts);
}

}  // namespace

void add_verdict(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("verdict", "Which claims of the literature the rows confirm or refute");
  verb->footer(
      "Exit code: 0 nothing refuted, 1 a claim refuted, 2 nothing could be judged or bad input.\n"
      "Example: headsplit verdict --db headsplit.db");
  verb->add_option("--db", options->files, "Database, or rows as .jsonl; may be given again")
      ->required();
  verb->add_option("--sweep", options->sweep, "Only this sweep (name or plan id)");
  verb->add_option("--claims", options->claims,
                   "Claims to judge (default: claims.yaml of the configs folder)");
  verb->add_option("--only", options->only, "Ids of the claims to judge (default: all)")
      ->delimiter(',');
  verb->add_flag("--json", options->json, "A JSON list, one object a claim, with row ids");
  verb->add_flag("--markdown", options->markdown, "A markdown table");
  verb->callback([options, &outcome] {
    auto done = judge_rows(*options);
    if (!done) return report_error(done.error(), outcome);
    outcome.code = done.value();
  });
}

}  // namespace headsplit::cli
